/** How sure the answer is, in one line; the evidence and the seven dimensions on demand. */
import { useId, useState } from "react";
import type { Answer } from "../api/events";
import { Icon } from "../shell/Icon";
import { EvidenceList } from "./EvidenceList";
import css from "./SureLine.module.css";
import { type Sureness, sureness } from "./sureness";

const SIGNS = { sure: "check", doubt: "warn", wrong: "cross", plain: "search" } as const;

export function SureLine({ answer }: { answer: Answer }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const how: Sureness = sureness(answer);
  if (answer.status === "error" || answer.abstained) return null;
  const hasMore = answer.attempts.some((attempt) => attempt.eval_report !== null);
  return (
    <div className={css["sure"]} data-tone={how.tone}>
      <p className={css["line"]}>
        <span className={css["sign"]}>
          <Icon name={SIGNS[how.tone]} />
        </span>
        <span>
          {how.line}{" "}
          {hasMore && (
            <button
              type="button"
              className={css["more"]}
              aria-expanded={open}
              aria-controls={id}
              onClick={() => setOpen(!open)}
            >
              {open ? "Hide why" : "Why?"}
            </button>
          )}
        </span>
      </p>
      <div id={id} hidden={!open}>
        {open && <EvidenceList answer={answer} />}
      </div>
    </div>
  );
}
