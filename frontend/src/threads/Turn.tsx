/**
 * One question and what became of it. Left, what was found: the answer, how sure, the rows. Right, how it was found:
 * the SQL and the steps. Below, over the whole width, what was asked for: attempts side by side, the editor.
 */
import { lazy, Suspense, useCallback, useState } from "react";
import type { Verdict } from "../api/types";
import { AnswerText } from "../answer/AnswerText";
import { Reading } from "../answer/Reading";
import { SureLine } from "../answer/SureLine";
import { Clarify } from "../ask/Clarify";
import type { CellPlace } from "../result/ResultTable";
import { ResultPanel } from "../result/ResultPanel";
import type { RunState } from "../run/state";
import { SqlCard } from "../sql/SqlCard";
import { PlanTasks } from "../watch/PlanTasks";
import { Progress } from "../watch/Progress";
import { StepTrail } from "../watch/StepTrail";
import { Declined } from "./Declined";
import { Failure } from "./Failure";
import { ReadAs } from "./ReadAs";
import css from "./Turn.module.css";
import { TurnActions } from "./TurnActions";

const AskMeaning = lazy(() => import("../vocabulary/AskMeaning"));
const AttemptsCompare = lazy(() => import("../attempts/AttemptsCompare"));
const Workbench = lazy(() => import("../sql/Workbench"));

interface Props {
  run: RunState;
  feedback?: Verdict | null;
  latest: boolean;
  onAsk: (question: string) => void;
  onStop: () => void;
  onAgain?: (() => void) | undefined;
  /** Asks the question once more, of the built-in engine. */
  onWithout?: (() => void) | undefined;
  /** Asks the question once more, read as it stands. */
  onAlone?: ((question: string) => void) | undefined;
}

/** What was opened below is brought into view, once. */
function scrollToView(opened: HTMLDivElement | null): void {
  opened?.scrollIntoView({ block: "start" });
}

export type Below = "attempts" | "editor" | null;

export function Turn({ run, feedback = null, latest, onAsk, onStop, onAgain, onWithout, onAlone }: Props) {
  const [below, setBelow] = useState<Below>(null);
  const [tried, setTried] = useState("");
  const [traced, setTraced] = useState<CellPlace | null>(null);
  const onTrace = useCallback((place: CellPlace | null) => setTraced(place), []);
  const { answer } = run;
  const retried = run.attempts.length > new Set(run.attempts.map((a) => a.task_id)).size;
  const toggle = (which: Exclude<Below, null>) => {
    setTried("");
    setBelow(below === which ? null : which);
  };
  const onTry = (other: string) => {
    setTried(other);
    setBelow("editor");
  };
  // until there is something to read, the steps are what there is to see
  const watching = run.status === "running" && run.text === "";
  const trail = (
    <>
      {run.plan && run.plan.tasks.length > 1 && <PlanTasks run={run} plan={run.plan} />}
      <StepTrail run={run} comparing={below === "attempts"} onCompare={retried ? () => toggle("attempts") : undefined} />
    </>
  );
  const sql = answer?.sql || run.attempts.at(-1)?.sql || "";
  const guess = run.attempts.findLast((attempt) => attempt.guess)?.guess ?? "";

  return (
    <article className={css["turn"]} aria-busy={run.status === "running"} data-status={run.status}>
      <div className={css["found"]}>
        <h2 className={css["question"]}>{run.question}</h2>
        {answer?.read_as && answer.read_as !== run.question && (
          <ReadAs reading={answer.read_as} question={run.question} onAlone={onAlone} />
        )}
        {run.status === "running" && <Progress run={run} onStop={onStop} />}
        {watching && <div className={css["watched"]}>{trail}</div>}
        {answer && !run.clarify && <Reading answer={answer} preset={run.preset} onTry={onTry} />}
        <AnswerText run={run} onTrace={onTrace} />
        {answer && !run.clarify && <SureLine answer={answer} />}
        {answer && run.status !== "running" && !run.clarify && run.preset && answer.not_understood.length > 0 && (
          <Suspense fallback={null}>
            <AskMeaning
              preset={run.preset}
              question={run.question}
              words={answer.not_understood}
              open={latest}
              onDone={onAgain}
            />
          </Suspense>
        )}
        <Failure
          run={run}
          onAsk={onAsk}
          onEdit={() => toggle("editor")}
          onAgain={onAgain}
          onWithout={guess ? onWithout : undefined}
        />
        {answer?.abstained && !run.clarify && <Declined answer={answer} onEdit={() => toggle("editor")} />}
        {run.clarify && (
          <Clarify question={run.clarify.question} options={run.clarify.options} open={latest} onChoose={onAsk} />
        )}
        <ResultPanel run={run} traced={traced} />
        {run.status !== "running" && (
          <TurnActions
            run={run}
            feedback={feedback}
            onAgain={onAgain}
            onAsk={onAsk}
            onTry={onTry}
            onEdit={() => below !== "editor" && toggle("editor")}
          />
        )}
      </div>
      <div className={css["how"]} role="group" aria-label="How this was found">
        {sql && (
          <SqlCard
            sql={sql}
            dialect={answer?.dialect ?? run.schema?.dialect ?? "sqlite"}
            failed={run.status === "error"}
            editing={below === "editor"}
            onEdit={run.status === "running" ? undefined : () => toggle("editor")}
          />
        )}
        {!watching && trail}
      </div>
      {below && (
        <div className={css["below"]} ref={scrollToView}>
          <Suspense fallback={<p className={css["wait"]}>Opening…</p>}>
            {below === "attempts" && <AttemptsCompare run={run} onClose={() => setBelow(null)} />}
            {below === "editor" && (
              <Workbench
                key={tried}
                run={run}
                sql={tried || sql || guess}
                runs={tried !== ""}
                onClose={() => setBelow(null)}
              />
            )}
          </Suspense>
        </div>
      )}
    </article>
  );
}
