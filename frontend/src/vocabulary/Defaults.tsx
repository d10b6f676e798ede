/** For each table, the date and the amount that are meant where a question does not say. */
import { useQuery } from "@tanstack/react-query";
import { profileQuery, triedQuery } from "../api/queries";
import type { SchemaTable, TaughtTerm } from "../api/types";
import { datesOf, figuresOf } from "./places";
import { useTakeBack, useTeach } from "./teaching";
import { TermLines } from "./TermLine";
import css from "./Vocabulary.module.css";

const KINDS = ["date", "amount"] as const;
type Kind = (typeof KINDS)[number];

interface Props {
  preset: string;
  tables: readonly SchemaTable[];
  terms: readonly TaughtTerm[];
}

export function Defaults({ preset, tables, terms }: Props) {
  const profile = useQuery(profileQuery(preset));
  const rows = tables.map((table) => ({
    table: table.name,
    options: { date: datesOf(table, profile.data?.columns), amount: figuresOf(table) },
    terms: terms.filter((term) => term.term.toLowerCase() === table.name.toLowerCase()),
  }));
  const several = rows.filter(({ options, terms: own }) => KINDS.some((kind) => options[kind].length > 1 || holding(own, kind)));
  const others = rows.filter((row) => !several.includes(row) && KINDS.some((kind) => row.options[kind].length > 0));
  return (
    <>
      {several.length === 0 && <p className={css["about"]}>No table has several dates or several figures.</p>}
      <ul className={css["rows"]}>
        {several.map((row) => (
          <DefaultsRow key={row.table} preset={preset} least={2} {...row} />
        ))}
      </ul>
      {others.length > 0 && (
        <details className={css["others"]}>
          <summary>Tables with one of each</summary>
          <ul className={css["rows"]}>
            {others.map((row) => (
              <DefaultsRow key={row.table} preset={preset} least={1} {...row} />
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

const holding = (terms: readonly TaughtTerm[], kind: Kind) => terms.find((term) => term.kind === kind && term.forgotten === null);

interface RowProps {
  preset: string;
  table: string;
  options: Record<Kind, readonly string[]>;
  terms: readonly TaughtTerm[];
  /** A choice is offered from so many options on. */
  least: number;
}

function DefaultsRow({ preset, table, options, terms, least }: RowProps) {
  const teaching = useTeach(preset);
  const takingBack = useTakeBack(preset);
  const tried = useQuery({
    ...triedQuery({ preset, kind: "date", term: "", means: "", ...teaching.variables }),
    enabled: teaching.isSuccess,
  });
  const problem = teaching.error ?? takingBack.error;

  function choose(kind: Kind, means: string) {
    const held = holding(terms, kind);
    if (means) teaching.mutate({ kind, term: table, means });
    else if (held) takingBack.mutate(held);
  }

  return (
    <li className={css["row"]}>
      <h3 className={css["table"]}>{table}</h3>
      {KINDS.map((kind) => {
        const held = holding(terms, kind)?.means ?? "";
        const offered = [...new Set([...options[kind], ...(held ? [held] : [])])];
        if (options[kind].length < least && !held) return null;
        const pending = teaching.isPending && teaching.variables.kind === kind ? teaching.variables.means : held;
        return (
          <label key={kind} data-kind={kind}>
            {kind === "date" ? "Date" : "Amount"}
            <select
              aria-label={`${kind === "date" ? "Date" : "Amount"} of ${table}`}
              value={pending}
              onChange={(event) => choose(kind, event.target.value)}
            >
              <option value="">decided each time</option>
              {offered.map((means) => (
                <option key={means} value={means}>
                  {means.startsWith(`${table}.`) ? means.slice(table.length + 1) : means}
                </option>
              ))}
            </select>
          </label>
        );
      })}
      <TermLines
        preset={preset}
        terms={terms}
        shown={(term) => (term.kind === "date" || term.kind === "amount") && term.forgotten === null}
        label={`Meant of ${table}`}
      />
      <p role="status" className={problem ? css["bad"] : css["about"]}>
        {problem?.message ?? tried.data?.tried}
      </p>
    </li>
  );
}
