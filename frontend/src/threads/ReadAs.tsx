/** What a follow-up was taken to mean, and the ways out where it was meant otherwise. */
import { useNewThread } from "../run/useNewThread";
import { Button } from "../shell/Button";
import css from "./Turn.module.css";

interface Props {
  reading: string;
  question: string;
  onAlone?: ((question: string) => void) | undefined;
}

export function ReadAs({ reading, question, onAlone }: Props) {
  const { ask } = useNewThread();
  return (
    <div className={css["reading"]}>
      <p>Read as: {reading}</p>
      <div className={css["ways"]} role="group" aria-label="If it was meant otherwise">
        {onAlone && (
          <Button icon="retry" onClick={() => onAlone(question)}>
            Undo this reading
          </Button>
        )}
        <Button icon="plus" onClick={() => ask(question, null)}>
          Ask as a new question
        </Button>
      </div>
    </div>
  );
}
