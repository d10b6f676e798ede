/** What is being done right now, for how long, and the way to stop it. */
import { Button } from "../shell/Button";
import type { RunState } from "../run/state";
import { seconds, shownSteps, stepName } from "../run/steps";
import css from "./Progress.module.css";
import { useNow } from "./useNow";

const LONG = 20_000;

export function Progress({ run, onStop }: { run: RunState; onStop: () => void }) {
  const now = useNow(200);
  const step = shownSteps(run.steps).findLast((s) => !s.done);
  const elapsed = Math.max(0, now - run.startedAt);
  const doing = run.stopping
    ? "Stopping"
    : run.connection === "retrying"
      ? "Connection lost, picking it up again"
      : step
        ? stepName(step)
        : "Starting";
  const again = step?.attempt && step.attempt > 1 ? `, attempt ${step.attempt}` : "";
  return (
    <div className={css["progress"]}>
      <span className={css["pulse"]} aria-hidden="true" />
      <p>
        <span role="status">
          {doing}
          {again}
        </span>
        {step && step.written > 0 && !run.stopping && (
          <span className={css["time"]}>{`${step.written.toLocaleString("en")} tokens`}</span>
        )}
        <span className={css["time"]}>{seconds(elapsed)}</span>
        {step?.said && !run.stopping && <span className={css["long"]}>{step.said}</span>}
        {elapsed > LONG && !run.stopping && (
          <span className={css["long"]}>This takes longer than usual. You can leave it running, or stop it.</span>
        )}
      </p>
      <Button look="framed" icon="stop" onClick={onStop} disabled={run.stopping}>
        Stop
      </Button>
    </div>
  );
}
