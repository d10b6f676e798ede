/** What runs, what ran and failed lately, and what is scheduled, with what came of it. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { patch, post, remove } from "../api/client";
import { activityQuery, deliveriesQuery, schedulesQuery } from "../api/queries";
import type { Delivery, Schedule } from "../api/scheduleTypes";
import type { RunStatus, RunSummary } from "../api/types";
import { Button } from "../shell/Button";
import { followLink, paths } from "../shell/router";
import { useToast } from "../shell/useToast";
import { sentence, STATES } from "./inWords";
import css from "./Schedules.module.css";
import { shownAt } from "./times";

const ScheduleDialog = lazy(() => import("./ScheduleDialog"));

const OUTCOMES: Partial<Record<RunStatus, string>> = {
  doubtful: "Doubtful",
  abstained: "No answer",
  error: "Failed",
  refused: "Refused",
  timeout: "Took too long",
  interrupted: "Interrupted",
  cancelled: "Stopped",
  waiting: "Asks back",
};
const BAD = new Set(["error", "timeout", "interrupted", "failed", "in doubt"]);
const LATELY = 20;
const tone = (state: string) => (BAD.has(state) ? "wrong" : state === "sent" || state === "success" ? "sure" : "plain");

export default function ActivityPage() {
  const runs = useQuery(activityQuery);
  const schedules = useQuery(schedulesQuery);
  const [said, say] = useToast();
  const problem = runs.error ?? schedules.error;
  const running = runs.data?.runs.filter((run) => run.status === "running") ?? [];
  const ended = runs.data?.runs.filter((run) => run.status !== "running").slice(0, LATELY) ?? [];
  return (
    <div className={css["page"]}>
      <header className={css["header"]}>
        <h1 className={css["title"]}>Activity</h1>
        <span role="status" className={css["facts"]}>
          {said}
        </span>
      </header>
      {problem && (
        <p className={css["problem"]} role="alert">
          {problem.message}
        </p>
      )}
      <section aria-labelledby="now-title">
        <h2 id="now-title" className={css["heading"]}>
          Running now
        </h2>
        {running.length === 0 && <p className={css["note"]}>Nothing runs.</p>}
        <ul>
          {running.map((run) => (
            <RunLine key={run.run_id} run={run} say={say} />
          ))}
        </ul>
      </section>
      <section aria-labelledby="schedules-title">
        <h2 id="schedules-title" className={css["heading"]}>
          Schedules
        </h2>
        {schedules.data?.length === 0 && (
          <p className={css["note"]}>
            None yet. Open a <a href={paths.boards} onClick={followLink}>board or a kept answer</a> and press “Schedule…”.
          </p>
        )}
        <ul>
          {schedules.data?.map((schedule) => (
            <ScheduleLine key={schedule.schedule_id} schedule={schedule} say={say} />
          ))}
        </ul>
      </section>
      <section aria-labelledby="lately-title">
        <h2 id="lately-title" className={css["heading"]}>
          Ran lately
        </h2>
        {runs.data && ended.length === 0 && <p className={css["note"]}>Nothing yet.</p>}
        <ul>
          {ended.map((run) => (
            <RunLine key={run.run_id} run={run} say={say} />
          ))}
        </ul>
      </section>
    </div>
  );
}

type Say = (text: string) => void;

/** Something that is done on a click, after which what is shown is fetched again. */
function useAct(say: Say) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ work }: { work: () => Promise<unknown>; done: string }) => work(),
    onSuccess: (_, { done }) => say(done),
    onError: (error) => say(error.message),
    onSettled: () => client.invalidateQueries({ queryKey: ["schedules"] }),
  });
}

function RunLine({ run, say }: { run: RunSummary; say: Say }) {
  const client = useQueryClient();
  const stopping = useMutation({
    mutationFn: () => post(`/runs/${encodeURIComponent(run.run_id)}/cancel`),
    onError: (error) => say(error.message),
    onSettled: () => client.invalidateQueries({ queryKey: ["runs"] }),
  });
  const title = run.question || run.sql || "SQL";
  return (
    <li className={css["line"]}>
      <span className={css["what"]}>
        <a className={css["name"]} href={paths.run(run.run_id)} onClick={followLink}>
          {title}
        </a>
        <span className={css["facts"]}>
          {shownAt(run.started)}
          {run.seconds !== null && ` · ${run.seconds.toFixed(1)} s`}
        </span>
      </span>
      {run.status === "running" ? (
        <Button icon="stop" disabled={stopping.isPending} aria-label={`Stop “${title}”`} onClick={() => stopping.mutate()}>
          Stop
        </Button>
      ) : (
        <span className={css["state"]} data-tone={tone(run.status)}>
          {OUTCOMES[run.status] ?? "Answered"}
        </span>
      )}
    </li>
  );
}

function ScheduleLine({ schedule, say }: { schedule: Schedule; say: Say }) {
  const act = useAct(say);
  const [history, setHistory] = useState(false);
  const [editing, setEditing] = useState(false);
  const path = `/schedules/${encodeURIComponent(schedule.schedule_id)}`;
  const { title, paused, last_delivery: last } = schedule;
  const subject = {
    title,
    ...(schedule.kept_id ? { keptId: schedule.kept_id } : {}),
    ...(schedule.board_id ? { boardId: schedule.board_id } : {}),
  };
  return (
    <li className={css["schedule"]} aria-label={title}>
      <div className={css["what"]}>
        <h3 className={css["name"]}>{title}</h3>
        <p className={css["facts"]}>{sentence(schedule)}</p>
        <p className={css["facts"]}>{paused || `Next: ${shownAt(schedule.next_run, schedule.zone)} ${schedule.zone}`}</p>
        {last && (
          <p className={css["facts"]}>
            <State delivery={last} /> {shownAt(last.due, schedule.zone)}
            {last.reason && `: ${last.reason}`}
          </p>
        )}
      </div>
      <div className={css["tools"]} role="group" aria-label={`What to do with “${title}”`}>
        <Button disabled={act.isPending} onClick={() => act.mutate({ work: () => post(`${path}/run`), done: "It is being sent." })}>
          Send now
        </Button>
        <Button
          disabled={act.isPending}
          onClick={() => act.mutate({ work: () => patch(path, { paused: !paused }), done: paused ? "Resumed." : "Paused." })}
        >
          {paused ? "Resume" : "Pause"}
        </Button>
        <Button onClick={() => setEditing(true)}>Edit…</Button>
        <Button disabled={act.isPending} onClick={() => act.mutate({ work: () => remove(path), done: "Deleted." })}>
          Delete
        </Button>
        <Button aria-expanded={history} onClick={() => setHistory(!history)}>
          History
        </Button>
      </div>
      {history && <History schedule={schedule} say={say} />}
      {editing && (
        <Suspense fallback={null}>
          <ScheduleDialog subject={subject} schedule={schedule} onClose={() => setEditing(false)} />
        </Suspense>
      )}
    </li>
  );
}

function History({ schedule, say }: { schedule: Schedule; say: Say }) {
  const { data, error } = useQuery(deliveriesQuery(schedule.schedule_id));
  const act = useAct(say);
  if (error) return <p className={css["problem"]}>{error.message}</p>;
  if (!data) return <p className={css["note"]}>Fetching the history…</p>;
  if (data.length === 0) return <p className={css["note"]}>Nothing has been sent yet.</p>;
  return (
    <ol className={css["history"]} aria-label={`History of “${schedule.title}”`}>
      {data.map((delivery) => (
        <li key={delivery.delivery_id} className={css["line"]}>
          <span className={css["what"]}>
            <span>
              <State delivery={delivery} /> {shownAt(delivery.due, schedule.zone)}
            </span>
            <span className={css["facts"]}>
              {delivery.reason}
              {delivery.state === "due" && delivery.reason && ` Tried again ${shownAt(delivery.next_try, schedule.zone)}.`}
            </span>
          </span>
          {(delivery.state === "failed" || delivery.state === "in doubt") && (
            <Button
              icon="retry"
              disabled={act.isPending}
              onClick={() =>
                act.mutate({ work: () => post(`/deliveries/${encodeURIComponent(delivery.delivery_id)}/again`), done: "It is sent again." })
              }
            >
              Send again
            </Button>
          )}
        </li>
      ))}
    </ol>
  );
}

function State({ delivery }: { delivery: Delivery }) {
  return (
    <span className={css["state"]} data-tone={tone(delivery.state)}>
      {STATES[delivery.state]}
    </span>
  );
}
