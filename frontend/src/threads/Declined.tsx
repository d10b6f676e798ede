/** A question that was declined: the best guess at its SQL, which was not run, and the way to write one's own. */
import type { Answer } from "../api/events";
import { Button } from "../shell/Button";
import { useFormatted } from "../sql/format";
import { SqlText } from "../sql/SqlText";
import css from "./Failure.module.css";

export function Declined({ answer, onEdit }: { answer: Answer; onEdit: () => void }) {
  const guess = answer.attempts.findLast((attempt) => attempt.guess)?.guess ?? "";
  const formatted = useFormatted(guess, answer.dialect);
  return (
    <section role="group" className={css["declined"]} aria-label="Best guess and SQL">
      {guess && (
        <>
          <h3 className={css["heading"]}>Best guess, too unsure to run by itself</h3>
          <SqlText sql={formatted} label="Best guess" />
        </>
      )}
      <Button look="framed" icon="edit" onClick={onEdit}>
        {guess ? "Look at the guess and run it" : "Write the SQL yourself"}
      </Button>
    </section>
  );
}
