/** What was taught, in a sentence, with the way to take it back; the same button brings it back. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { termsQuery } from "../api/queries";
import type { TaughtTerm } from "../api/types";
import { Button } from "../shell/Button";
import { followLink, paths } from "../shell/router";
import { useTakeBack } from "./teaching";
import css from "./Vocabulary.module.css";

interface LineProps {
  preset: string;
  term: TaughtTerm;
  /** It was learned a moment ago. */
  fresh?: boolean;
  onChange?: () => void;
}

function TermLine({ preset, term, fresh = false, onChange }: LineProps) {
  const change = useTakeBack(preset, onChange);
  const holds = term.forgotten === null;
  const does = holds ? (fresh ? "Undo" : "Forget") : "Restore";
  return (
    <li className={css["line"]} data-forgotten={!holds || undefined}>
      <p role="status" className={css["told"]}>
        {holds ? fresh && "From now on: " : "Forgotten: "}
        {term.told}
        {change.error && <span className={css["bad"]}> {change.error.message}</span>}
      </p>
      {term.run_id && !fresh && (
        <a className={css["source"]} href={paths.run(term.run_id)} onClick={followLink}>
          the answer<span className="hidden-text"> it was learned from: {term.told}</span>
        </a>
      )}
      <Button
        icon={holds ? "cross" : "retry"}
        aria-label={`${does}: ${term.told}`}
        onClick={() => change.isPending || change.mutate(term)}
      >
        {does}
      </Button>
    </li>
  );
}

interface LinesProps {
  preset: string;
  terms: readonly TaughtTerm[];
  shown: (term: TaughtTerm) => boolean;
  label: string;
}

/** The terms that are shown. One that is forgotten or restored here stays in its place: the focus is on it. */
export function TermLines({ preset, terms, shown, label }: LinesProps) {
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const lines = terms.filter((term) => shown(term) || touched.has(term.term_id));
  if (lines.length === 0) return null;
  return (
    <ul className={css["lines"]} aria-label={label}>
      {lines.map((term) => (
        <TermLine key={term.term_id} preset={preset} term={term} onChange={() => setTouched(new Set([...touched, term.term_id]))} />
      ))}
    </ul>
  );
}

/** What was learned a moment ago, to be undone at once. */
export function Learned({ preset, terms }: { preset: string; terms: readonly TaughtTerm[] }) {
  const { data } = useQuery({ ...termsQuery(preset), enabled: terms.length > 0 });
  if (terms.length === 0) return null;
  return (
    <ul className={css["learned"]} aria-label="What was learned">
      {terms.map((term) => (
        <TermLine key={term.term_id} fresh preset={preset} term={data?.find((one) => one.term_id === term.term_id) ?? term} />
      ))}
      <li>
        <a href={paths.data(preset, "vocabulary")} onClick={followLink}>
          The whole vocabulary
        </a>
      </li>
    </ul>
  );
}
