/** The answer as it is written; its numbers lead to where they come from. */
import { lazy, Suspense, useMemo } from "react";
import type { CellPlace } from "../result/ResultTable";
import { type Result, resultsOf } from "../result/results";
import type { RunState } from "../run/state";
import css from "./AnswerText.module.css";
import type { TracedResult } from "./TracedNumber";

const Markdown = lazy(() => import("./Markdown"));

interface Props {
  run: RunState;
  onTrace: (place: CellPlace | null) => void;
}

export function AnswerText({ run, onTrace }: Props) {
  const { attempts, plan, answer, runId, question } = run;
  const results = useMemo(
    () => (answer ? resultsOf({ attempts, plan, answer, runId }).map(traced) : []),
    [attempts, plan, answer, runId],
  );
  const failed = run.status === "error" && run.error !== null;
  // what can be asked instead stands below, to be clicked
  const text = answer?.abstained && answer.alternatives.length > 0 && answer.reason ? answer.reason : withoutDoubts(run.text);
  if (!text || failed) return null;
  return (
    <div className={css["answer"]}>
      <Suspense fallback={<p>{text}</p>}>
        <Markdown text={text} results={results} question={question} onTrace={onTrace} />
      </Suspense>
    </div>
  );
}

/** The doubts that end an answer's text have a line of their own on this page. */
export function withoutDoubts(text: string): string {
  return text.replace(/(?:\n+> Doubt: [^\n]*)+\s*$/, "");
}

function traced(result: Result): TracedResult {
  const { task, columns, rows, total } = result;
  return { task, columns, rows, rowCount: total, complete: rows.length === total };
}
