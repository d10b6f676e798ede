/** The steps of a run with their times; an attempt that was sent back says why, where it happened. */
import { useMutation } from "@tanstack/react-query";
import { memo } from "react";
import { Button } from "../shell/Button";
import { replay } from "../run/replay";
import type { RunState } from "../run/state";
import { cutOff, RETRY_REASONS, seconds, shownSteps, stepName } from "../run/steps";
import type { Step } from "../run/state";
import css from "./StepTrail.module.css";
import { useNow } from "./useNow";

interface Props {
  run: RunState;
  comparing: boolean;
  onCompare?: (() => void) | undefined;
}

export function StepTrail({ run, comparing, onCompare }: Props) {
  const fetched = useMutation({ mutationFn: (runId: string) => replay(runId, run) });
  const steps = shownSteps(run.steps.length > 0 ? run.steps : (fetched.data?.steps ?? []));
  const { runId } = run;
  const several = (run.plan?.tasks.length ?? 0) > 1;
  const tokens = run.answer?.tokens;
  if (steps.length === 0 && (run.status === "running" || !runId)) return null;
  return (
    <section role="group" className={css["trail"]} aria-label="Steps">
      <h3 className={css["heading"]}>Steps</h3>
      {steps.length === 0 && runId && (
        <Button look="framed" disabled={fetched.isPending} onClick={() => fetched.mutate(runId)}>
          Show the steps
        </Button>
      )}
      {fetched.error && <p className={css["problem"]}>{fetched.error.message}</p>}
      <ol>
        {steps.map((step, index) => (
          // steps are only ever added at the end
          <StepLine key={`${step.node}-${index}`} step={step} task={several ? step.taskId : null} />
        ))}
      </ol>
      {run.elapsed !== null && (
        <p className={css["total"]}>
          <span>In all</span>
          <span className={css["tokens"]} title={tokens ? inAndOut(tokens) : undefined}>
            {tokens && tokens.input + tokens.output > 0 && totalTokens(tokens)}
          </span>
          <span className={css["time"]}>{seconds(run.elapsed * 1000)}</span>
        </p>
      )}
      {onCompare && (
        <Button look="framed" aria-expanded={comparing} onClick={onCompare}>
          Compare the {run.attempts.length} attempts
        </Button>
      )}
    </section>
  );
}

const inAndOut = (tokens: { input: number; output: number }): string =>
  `${tokens.input.toLocaleString("en")} read, ${tokens.output.toLocaleString("en")} written`;

/** The time of a step that is still going. */
function Ticking({ since }: { since: number }) {
  const now = useNow(200);
  return <span aria-hidden="true">{seconds(Math.max(0, now - since))}</span>;
}

function totalTokens(tokens: { input: number; output: number; calls: number; cost_usd: number | null }): string {
  const cost = tokens.cost_usd ? `, $${tokens.cost_usd.toFixed(4)}` : "";
  return `${(tokens.input + tokens.output).toLocaleString("en")} tokens${cost}`;
}

const StepLine = memo(function StepLine({ step, task }: { step: Step; task: string | null }) {
  const labels = [task?.replaceAll("_", " "), step.attempt && step.attempt > 1 ? `attempt ${step.attempt}` : null];
  const state = step.retry || step.problem ? "retry" : step.done ? "done" : "running";
  return (
    <li className={css["step"]} data-state={state}>
      <span className={css["dot"]} aria-hidden="true" />
      <span className={css["name"]}>
        {stepName(step)}
        {labels.filter(Boolean).length > 0 && <span className={css["label"]}> {labels.filter(Boolean).join(", ")}</span>}
      </span>
      <span className={css["tokens"]} title={step.tokens ? inAndOut(step.tokens) : undefined}>
        {step.tokens && `${(step.tokens.input + step.tokens.output).toLocaleString("en")} tokens`}
      </span>
      <span className={css["time"]}>
        {cutOff(step) && "cut off"}
        {!step.done && <Ticking since={step.startedAt} />}
        {step.elapsedMs !== null && seconds(step.elapsedMs)}
      </span>
      {step.problem && <p className={css["why"]}>{step.problem}</p>}
      {step.revision !== null && (
        <details className={css["why"]}>
          <summary>The model looked at the rows and revised its query</summary>
          <p>{step.revision}</p>
        </details>
      )}
      {step.retry && (
        <details className={css["why"]}>
          <summary>{RETRY_REASONS[step.retry.category]}, so it was tried again</summary>
          <p>{step.retry.feedback}</p>
        </details>
      )}
    </li>
  );
});
