/** What one can do with an answer: say whether it is right, ask again, take it away. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { post } from "../api/client";
import { withoutDoubts } from "../answer/AnswerText";
import { plainText } from "../answer/plainText";
import type { Verdict } from "../api/types";
import type { RunState } from "../run/state";
import { Button } from "../shell/Button";
import { copyText } from "../shell/copyText";
import { address, paths } from "../shell/router";
import { useToast } from "../shell/useToast";
import css from "./TurnActions.module.css";

const Wrong = lazy(() => import("./Wrong"));

interface Props {
  run: RunState;
  feedback: Verdict | null;
  onAgain?: (() => void) | undefined;
  onAsk: (question: string) => void;
  onTry: (sql: string) => void;
  onEdit: () => void;
}

const THANKS: Record<Verdict, string> = {
  right: "Saved as verified. It helps with later questions.",
  wrong: "Marked as wrong.",
  corrected: "Your SQL is kept as the right answer.",
};

export function TurnActions({ run, feedback, ...ways }: Props) {
  const client = useQueryClient();
  const [said, say] = useToast(6000);
  const verdict = useMutation({
    mutationFn: (said: Verdict) => post("/feedback", { run_id: run.runId, verdict: said }),
    onSuccess: (_, said) => {
      say(THANKS[said]);
      void client.invalidateQueries({ queryKey: ["feedback"] });
      void client.invalidateQueries({ queryKey: ["threads", run.threadId] });
      void client.invalidateQueries({ queryKey: ["runs", run.runId] });
    },
    onError: (error) => say(error.message),
  });
  const judged = verdict.isSuccess ? verdict.variables : feedback;
  const { runId } = run;
  const { onAgain } = ways;
  const failed = run.status === "error";
  const hasSql = Boolean(run.answer?.sql) && !failed;

  const copy = (text: string, what: string) =>
    void copyText(text).then(
      () => say(`${what} copied`),
      (error: Error) => say(error.message),
    );

  return (
    <>
      <div className={css["actions"]}>
        {hasSql && runId && (
          <div className={css["group"]} role="group" aria-label="Is this right?">
            <Button
              icon="check"
              aria-pressed={judged === "right"}
              onClick={() => verdict.isPending || verdict.mutate("right")}
            >
              Right
            </Button>
            <Button
              icon="cross"
              aria-pressed={judged === "wrong"}
              onClick={() => verdict.isPending || verdict.mutate("wrong")}
            >
              Wrong
            </Button>
          </div>
        )}
        {onAgain && !failed && (
          <Button icon="retry" onClick={onAgain}>
            Ask again
          </Button>
        )}
        {run.text && !failed && (
          <Button icon="copy" onClick={() => copy(plainText(withoutDoubts(run.text)), "Answer")}>
            Copy answer
          </Button>
        )}
        {runId && (
          <Button icon="link" onClick={() => copy(address(paths.run(runId)), "Link")}>
            Copy link
          </Button>
        )}
        <span role="status" className={css["said"]}>
          {said || (judged === "corrected" ? THANKS.corrected : "")}
        </span>
      </div>
      {verdict.isSuccess && judged === "wrong" && (
        <Suspense fallback={null}>
          <Wrong run={run} {...ways} />
        </Suspense>
      )}
    </>
  );
}
