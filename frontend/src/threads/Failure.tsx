/** What went wrong or was left open, and what one can do about it. */
import { Button } from "../shell/Button";
import type { RunState } from "../run/state";
import css from "./Failure.module.css";

interface Props {
  run: RunState;
  onAsk: (question: string) => void;
  onEdit: () => void;
  onAgain?: (() => void) | undefined;
  /** Asks the built-in engine; only if it reads the question. */
  onWithout?: (() => void) | undefined;
}

/** What helps, by the kind of the error. */
const ADVICE: Record<string, string> = {
  model_auth: "The key is read when the server starts: set it there, and start the server again.",
  model: "The model did not answer usefully. Ask again, or choose another with TEXT2SQL_MODEL.",
  database: "The database could not be read. See that it is there and that the account may read it.",
  timeout: "Ask for less at once, or raise TEXT2SQL_RUN_SECONDS.",
  sql: "Every attempt failed. Mend the SQL by hand, or put the question differently.",
  unreachable: "The run may still have ended on the server: load the page again to see.",
  question: "Put the question differently.",
  busy: "The server is answering as many questions as it can. Ask again in a moment.",
  rate_limited: "Wait a little before the next question.",
};

export function Failure({ run, onAsk, onEdit, onAgain, onWithout }: Props) {
  const { answer, error, status } = run;
  if (status === "cancelled") return <p className={css["stopped"]}>Stopped. Nothing is running any more.</p>;
  if (status === "interrupted" && !error)
    return <p className={css["stopped"]}>The run was broken off before it ended. Ask again to start over.</p>;
  if (status === "error" && error) {
    // a question that never reached the server is asked anew
    const again = onAgain ?? (run.runId === null ? () => onAsk(run.question) : undefined);
    // of what never began there is nothing to see
    const advice = error.kind === "unreachable" && run.runId === null ? null : ADVICE[error.kind];
    const mendable = Boolean(run.attempts.at(-1)?.sql);
    const failed = run.attempts.findLast((attempt) => attempt.error);
    return (
      <section className={css["failure"]} role="alert" aria-label="What went wrong">
        <h3 className={css["title"]}>The question could not be answered</h3>
        <p className={css["message"]}>{error.message}</p>
        {failed?.error && !says(error.message, failed.error) && <pre className={css["said"]}>{failed.error}</pre>}
        {advice && <p>{advice}</p>}
        {(mendable || again || onWithout) && (
          <div className={css["actions"]}>
            {mendable && (
              <Button look="framed" icon="edit" onClick={onEdit}>
                Mend the SQL
              </Button>
            )}
            {onWithout && (
              <Button look="framed" icon="arrow" onClick={onWithout}>
                Answer without the model
              </Button>
            )}
            {again && (
              <Button look="framed" icon="retry" onClick={again}>
                Ask again
              </Button>
            )}
          </div>
        )}
      </section>
    );
  }
  if (!answer || answer.alternatives.length === 0) return null;
  return (
    <section role="group" aria-label="Other ways to ask">
      <h3 className={css["heading"]}>{answer.abstained ? "These can be answered" : "Or was it one of these?"}</h3>
      <ul className={css["alternatives"]}>
        {answer.alternatives.map((question) => (
          <li key={question}>
            <button type="button" className={css["alternative"]} onClick={() => onAsk(question)}>
              {question}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Whether a message says already what the database or the model said, give or take the full stop. */
const says = (message: string, said: string): boolean => message.includes(said.replace(/[.\s]+$/, ""));
