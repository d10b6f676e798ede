/** For each table, the date and the amount that are meant where a question does not say. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { profileQuery, triedQuery } from "../api/queries";
import type { SchemaTable, TaughtTerm } from "../api/types";
import { Button } from "../shell/Button";
import { counted } from "../shell/counted";
import { datesOf, figuresOf } from "./places";
import { useTakeBack, useTeach } from "./teaching";
import { TermLines } from "./TermLine";
import css from "./Vocabulary.module.css";

const KINDS = ["date", "amount"] as const;
type Kind = (typeof KINDS)[number];
/** Tables that are shown though nothing was chosen for them. */
const MOST = 12;

interface Props {
  preset: string;
  tables: readonly SchemaTable[];
  terms: readonly TaughtTerm[];
}

export function Defaults({ preset, tables, terms }: Props) {
  const profile = useQuery(profileQuery(preset));
  const [unfolded, setUnfolded] = useState(false);
  const rows = tables.map((table): Row => ({
    table: table.name,
    options: { date: datesOf(table, profile.data?.columns), amount: figuresOf(table) },
    terms: terms.filter((term) => term.term.toLowerCase() === table.name.toLowerCase()),
  }));
  const open = new Set(rows.filter((row) => !ruled(row) && having(row, 2)).slice(0, MOST));
  const several = rows.filter((row) => ruled(row) || open.has(row));
  const others = rows.filter((row) => !ruled(row) && !open.has(row) && having(row, 1));
  return (
    <>
      {several.length === 0 && <p className={css["about"]}>No table has several dates or several figures.</p>}
      <ul className={css["rows"]}>
        {several.map((row) => (
          <DefaultsRow key={row.table} preset={preset} least={ruled(row) ? 1 : 2} {...row} />
        ))}
      </ul>
      {others.length > 0 && (
        <>
          <Button className={css["fold"]} icon="chevron" aria-expanded={unfolded} onClick={() => setUnfolded(!unfolded)}>
            {counted(others.length, "more table")}
          </Button>
          {unfolded && (
            <ul className={css["rows"]}>
              {others.map((row) => (
                <DefaultsRow key={row.table} preset={preset} least={1} {...row} />
              ))}
            </ul>
          )}
        </>
      )}
    </>
  );
}

const meant = (term: TaughtTerm) => term.kind === "date" || term.kind === "amount";
/** Also one that was forgotten: its table stays in its place, with the way to restore it. */
const ruled = (row: Row) => row.terms.some(meant);
const having = (row: Row, least: number) => KINDS.some((kind) => row.options[kind].length >= least);
const holding = (terms: readonly TaughtTerm[], kind: Kind) => terms.find((term) => term.kind === kind && term.forgotten === null);

interface Row {
  table: string;
  options: Record<Kind, readonly string[]>;
  terms: readonly TaughtTerm[];
}

interface RowProps extends Row {
  preset: string;
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
  const chosen = teaching.data && holding(terms, teaching.data.kind as Kind)?.means === teaching.data.means;
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
        shown={(term) => meant(term) && term.forgotten === null}
        label={`Meant of ${table}`}
      />
      <p role="status" className={problem ? css["bad"] : css["about"]}>
        {problem?.message ?? (chosen && tried.data?.tried)}
      </p>
    </li>
  );
}
