/** The tasks of a plan in the order they run, and which of them wait for which. */
import type { Plan } from "../api/events";
import type { RunState } from "../run/state";
import css from "./PlanTasks.module.css";
import { taskState } from "./taskState";

const WORDS = { waiting: "waiting", running: "running", done: "done", failed: "failed" };

export function PlanTasks({ run, plan }: { run: RunState; plan: Plan }) {
  const number = new Map(plan.tasks.map((task, index) => [task.id, index + 1]));
  return (
    <section role="group" className={css["plan"]} aria-label="Plan">
      <h3 className={css["heading"]}>Plan</h3>
      <ol>
        {plan.tasks.map((task, index) => {
          const state = taskState(run, task.id);
          return (
            <li key={task.id} className={css["task"]} data-state={state}>
              <span className={css["number"]}>{index + 1}</span>
              <span>
                {task.description}
                <span className={css["facts"]}>
                  {WORDS[state]}
                  {task.depends_on.length > 0 &&
                    `, needs ${task.depends_on.map((id) => number.get(id) ?? id).join(" and ")}`}
                </span>
              </span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
