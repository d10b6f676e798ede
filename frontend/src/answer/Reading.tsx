/** How the question was read, made from the query that ran, and which rows the answer leaves out. */
import type { Answer, Choice } from "../api/events";
import { Menu } from "../shell/Menu";
import css from "./Reading.module.css";

interface Props {
  answer: Answer;
  /** Runs another query beside the answer's own. */
  onTry: (sql: string) => void;
}

const OTHERS: Partial<Record<string, string>> = { rows: "another date", groups: "another date", shown: "another figure" };

export function Reading({ answer, onTry }: Props) {
  const parts = answer.reading ?? [];
  const missing = answer.left_out ?? [];
  if (!parts.length || answer.abstained || answer.status === "error") return null;
  return (
    <div className={css["reading"]} role="group" aria-label="How this was read">
      <ul className={css["parts"]}>
        {parts.map((part) => (
          <li key={part.text}>
            <span>{part.text}</span>
            {part.others.length > 0 && (
              <Menu compact icon="edit" label={OTHERS[part.kind] ?? "another"} items={items(part.others, onTry)} />
            )}
          </li>
        ))}
      </ul>
      {missing.map((one) => (
        <p key={one.text} className={css["missing"]}>
          {one.text}.{" "}
          {one.others.map((choice) => (
            <button key={choice.label} type="button" className={css["choice"]} onClick={() => onTry(choice.sql)}>
              {choice.label}
            </button>
          ))}
        </p>
      ))}
    </div>
  );
}

function items(others: readonly Choice[], onTry: (sql: string) => void) {
  return others.map((choice) => ({ name: choice.label, run: () => onTry(choice.sql) }));
}
