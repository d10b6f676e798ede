/** The SQL behind an answer, laid out for reading; copied or opened for editing with one click. */
import { IconButton } from "../shell/Button";
import { copyText } from "../shell/copyText";
import { useToast } from "../shell/useToast";
import { useFormatted } from "./format";
import css from "./SqlCard.module.css";
import { SqlText } from "./SqlText";

interface Props {
  sql: string;
  dialect: string;
  /** The statement did not run to its end. */
  failed: boolean;
  editing: boolean;
  onEdit?: (() => void) | undefined;
}

export function SqlCard({ sql, dialect, failed, editing, onEdit }: Props) {
  const formatted = useFormatted(sql, dialect);
  const [said, say] = useToast();
  return (
    <section role="group" className={css["card"]} aria-label="SQL" data-failed={failed || undefined}>
      <div className={css["head"]}>
        <h3 className={css["heading"]}>{failed ? "SQL that failed" : "SQL"}</h3>
        <span role="status" className={css["said"]}>
          {said}
        </span>
        <IconButton
          icon="copy"
          label="Copy the SQL"
          onClick={() =>
            void copyText(formatted).then(
              () => say("Copied"),
              (error: Error) => say(error.message),
            )
          }
        />
        {onEdit && <IconButton icon="edit" label="Edit the SQL" aria-expanded={editing} onClick={onEdit} />}
      </div>
      <SqlText sql={formatted} label="SQL statement" />
    </section>
  );
}
