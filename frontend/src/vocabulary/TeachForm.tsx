/** Teaches a word, a measure, or which rows are left out. What is typed is tried on the data once one pauses. */
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useId, useRef, useState } from "react";
import type { TermKind } from "../api/events";
import { schemaQuery, triedQuery } from "../api/queries";
import type { TaughtTerm } from "../api/types";
import { Button } from "../shell/Button";
import { takeFocus } from "../shell/takeFocus";
import { useSettled } from "../shell/useSettled";
import { completions } from "./places";
import { useTeach } from "./teaching";
import css from "./Vocabulary.module.css";

const FORMS = {
  word: {
    name: "Teach a word",
    term: "The word",
    means: "means this table, column or condition",
    hint: "table, table.column or table.column > 5",
  },
  measure: { name: "Teach a measure", term: "The measure", means: "is this formula", hint: "SUM(table.column)" },
  hidden: {
    name: "Leave rows out",
    term: "Rows of",
    means: "are left out where",
    hint: "table.deleted_at IS NOT NULL",
  },
} satisfies Partial<Record<TermKind, unknown>>;

interface Props {
  preset: string;
  kind: keyof typeof FORMS;
  /** The word whose meaning is asked for. */
  word?: string;
  /** Whether one came here to write the meaning. */
  focused?: boolean;
  onTaught?: (term: TaughtTerm) => void;
}

export function TeachForm({ preset, kind, word = "", focused = false, onTaught }: Props) {
  const id = useId();
  const words = FORMS[kind];
  const first = useRef<HTMLInputElement & HTMLSelectElement>(null);
  const [term, setTerm] = useState(word);
  const [means, setMeans] = useState("");
  const schema = useQuery(schemaQuery(preset));
  const tables = schema.data?.tables ?? [];
  const asked = { preset, kind, term: useSettled(term.trim()), means: useSettled(means.trim()) };
  const complete = term.trim() !== "" && means.trim() !== "";
  const tried = useQuery({ ...triedQuery(asked), enabled: complete && asked.term !== "" && asked.means !== "" });
  const settled = asked.term === term.trim() && asked.means === means.trim() && !tried.isFetching;
  const teaching = useTeach(preset, (taught) => {
    setMeans("");
    if (kind !== "hidden") setTerm("");
    first.current?.focus();
    onTaught?.(taught);
  });
  const teach = (event: FormEvent) => {
    event.preventDefault();
    if (complete && !teaching.isPending) teaching.mutate({ kind, term: term.trim(), means: means.trim() });
  };
  const problem = complete ? ((settled ? tried.error : null) ?? teaching.error) : null;
  const field = { ref: first, value: term, required: true };
  return (
    <form className={css["teach"]} aria-label={words.name} onSubmit={teach}>
      <label>
        {words.term}
        {kind === "hidden" ? (
          <select {...field} onChange={(event) => setTerm(event.target.value)}>
            <option value="">a table…</option>
            {tables.map((table) => (
              <option key={table.name}>{table.name}</option>
            ))}
          </select>
        ) : (
          <input {...field} maxLength={100} autoComplete="off" onChange={(event) => setTerm(event.target.value)} />
        )}
      </label>
      <label>
        {words.means}
        <input
          ref={focused ? takeFocus : undefined}
          value={means}
          required
          maxLength={1000}
          list={`${id}-names`}
          placeholder={words.hint}
          autoComplete="off"
          spellCheck={false}
          aria-invalid={problem !== null}
          aria-describedby={`${id}-tried`}
          onChange={(event) => setMeans(event.target.value)}
        />
      </label>
      <datalist id={`${id}-names`}>
        {completions(means, kind, kind === "hidden" && term ? tables.filter((table) => table.name === term) : tables).map((place) => (
          <option key={place}>{place}</option>
        ))}
      </datalist>
      <Button type="submit" look="framed" icon="check">
        {words.name === "Leave rows out" ? "Leave them out" : "Teach it"}
      </Button>
      <p id={`${id}-tried`} role="status" data-waiting={!settled || undefined} className={problem ? css["bad"] : undefined}>
        {problem?.message ?? (complete && tried.data && `${tried.data.told} ${tried.data.tried}`)}
        {!complete && teaching.data && <span className="hidden-text">Taught: {teaching.data.told}</span>}
      </p>
    </form>
  );
}
