/** The vocabulary of a database: what its words, its measures, its dates and its amounts mean, and which rows are left
 * out; to be taught, forgotten, restored and taken along. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { TermKind } from "../api/events";
import { download } from "../api/client";
import { termsQuery } from "../api/queries";
import type { SchemaTable, TaughtTerm } from "../api/types";
import { Button } from "../shell/Button";
import { Defaults } from "./Defaults";
import { TeachForm } from "./TeachForm";
import { TermLines } from "./TermLine";
import css from "./Vocabulary.module.css";

export function Vocabulary({ preset, tables }: { preset: string; tables: readonly SchemaTable[] }) {
  const { data, error } = useQuery(termsQuery(preset));
  const [history, setHistory] = useState(false);
  const exporting = useMutation({
    mutationFn: () => download(`/terms/export?preset=${encodeURIComponent(preset)}`, `${preset}-vocabulary.yaml`),
  });
  const terms = data ?? [];
  const lines = (kind: TermKind, label: string) => (
    <TermLines preset={preset} terms={terms} shown={(term) => term.kind === kind && term.forgotten === null} label={label} />
  );
  const problem = error ?? exporting.error;
  const holds = terms.some((term) => term.forgotten === null);
  return (
    <div className={css["vocabulary"]}>
      <div className={css["head"]}>
        <p className={css["lead"]}>
          {data && !holds && <b>Nothing is taught yet. </b>}
          People and tables call things by different names. Say here once what a name means, or where a question stumbles
          over it, and your later questions understand it. The database itself is not changed, and what you teach is yours
          alone.
        </p>
        {holds && (
          <Button icon="download" onClick={() => exporting.isPending || exporting.mutate()}>
            Export
          </Button>
        )}
      </div>
      {problem && (
        <p className={css["bad"]} role="alert">
          {problem.message}
        </p>
      )}
      {data && (
        <div className={css["sections"]}>
          <Section title="Words" about="“borehole” is a table, “on loan” a condition: a name for rows, for a column, or for some of the rows.">
            {lines("word", "Words")}
            <TeachForm preset={preset} kind="word" />
          </Section>
          <Section title="Measures" about="“revenue” is price times quantity, summed up: a name for a formula, asked by month, by customer, or as it is.">
            {lines("measure", "Measures")}
            <TeachForm preset={preset} kind="measure" />
          </Section>
          <Section title="Dates and amounts" about="“orders in May” were ordered, or shipped? Which one is meant where a question does not say.">
            <Defaults preset={preset} tables={tables} terms={terms} />
          </Section>
          <Section title="Rows left out" about="Rows that were deleted, or are only tests: no answer counts them unless the question asks for them.">
            {lines("hidden", "Rows left out")}
            <TeachForm preset={preset} kind="hidden" />
          </Section>
        </div>
      )}
      {data && (
        <section className={css["history"]} aria-label="History">
          <Button className={css["fold"]} icon="clock" aria-expanded={history} onClick={() => setHistory(!history)}>
            History
          </Button>
          {history && <History preset={preset} terms={terms} />}
        </section>
      )}
    </div>
  );
}

const forgotten = (term: TaughtTerm) => term.forgotten !== null;

function History({ preset, terms }: { preset: string; terms: readonly TaughtTerm[] }) {
  return (
    <>
      {!terms.some(forgotten) && <p className={css["about"]}>Nothing has been forgotten.</p>}
      <TermLines preset={preset} terms={terms} shown={forgotten} label="Forgotten" />
    </>
  );
}

function Section({ title, about, children }: { title: string; about: string; children: ReactNode }) {
  return (
    <section className={css["section"]} aria-label={title}>
      <h2 className={css["title"]}>{title}</h2>
      <p className={css["about"]}>{about}</p>
      {children}
    </section>
  );
}
