/** How the files of an uploaded database were read: a line a column, each changed with a click. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { send } from "../api/client";
import { planQuery } from "../api/queries";
import type { ColumnFound, ColumnPlan, FileReading, FileRow, TablePlan, TableReading } from "../api/types";
import { Sample } from "../data/Sample";
import { counted } from "../shell/counted";
import css from "./ImportReview.module.css";
import { CHOICES, chosenOf, type TableChoice, withChoice, withColumn } from "./readAs";
import { ReadingNotes } from "./ReadingNotes";

const FIRST = 12;
/** Where a file holds more tables, each is a line that opens. */
const OPEN = 3;

export function ImportReview({ id, notes }: { id: string; notes: readonly string[] }) {
  const { data, isError } = useQuery(planQuery(id));
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: async (tables: TablePlan[]) => {
      const response = await send(`/databases/${encodeURIComponent(id)}/plan`, {
        method: "PUT",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ tables }),
      });
      return (await response.json()) as FileReading;
    },
    onSuccess: (reading) => {
      client.setQueryData(planQuery(id).queryKey, reading);
      void client.invalidateQueries(); // the questions, the schema and the notes are of other data now
    },
  });
  const tables = data?.tables ?? [];
  if (isError || (data && tables.length === 0)) return notes.length > 0 ? <ReadingNotes notes={notes} /> : null;
  return (
    <section className={css["review"]} aria-label="How the files were read" aria-busy={change.isPending}>
      {tables.map((table) => (
        <TableReview
          key={table.plan.table}
          preset={id}
          table={table}
          open={tables.length <= OPEN}
          disabled={change.isPending}
          onColumn={(index, choice) => change.mutate(withColumn(tables, table.plan.table, index, choice))}
          onChoice={(choice) => change.mutate(withChoice(tables, table.plan.table, choice))}
        />
      ))}
      <p role="status" className={css["status"]}>
        {change.isPending ? "Reading the files again…" : change.isSuccess ? "Read again." : ""}
      </p>
      {change.error && (
        <p role="alert" className={css["problem"]}>
          {change.error.message}
        </p>
      )}
    </section>
  );
}

interface TableProps {
  preset: string;
  table: TableReading;
  open: boolean;
  disabled: boolean;
  onColumn: (index: number, choice: string) => void;
  onChoice: (choice: TableChoice) => void;
}

function TableReview({ preset, table, open, disabled, onColumn, onChoice }: TableProps) {
  const { plan, found } = table;
  const [all, setAll] = useState(false);
  const shown = all ? plan.columns : plan.columns.slice(0, FIRST);
  const repeats = found.repeats ?? 0;
  const leftOut = found.left_out_count ?? 0;
  return (
    <details className={css["table"]} open={open}>
      <summary>
        <h2 className={css["heading"]}>
          {plan.table}: {counted(found.rows, "row")}
        </h2>
      </summary>
      <Sample preset={preset} table={plan.table} rows={3} />
      <ul>
        {shown.map((column, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- headers may repeat, and columns keep their places
          <ColumnLine key={index} column={column} found={found.columns[index]} disabled={disabled} onChange={(choice) => onColumn(index, choice)} />
        ))}
      </ul>
      {plan.columns.length > FIRST && (
        <button type="button" className={css["more"]} aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "Fewer columns" : `All ${plan.columns.length} columns`}
        </button>
      )}
      <ul className={css["told"]}>
        {(found.notes ?? []).map((note) => (
          <li key={note}>{note}</li>
        ))}
        {plan.forms && (
          <TickLine checked={plan.forms === "together"} disabled={disabled} onChange={(one) => onChoice({ forms: one ? "together" : "apart" })}>
            {found.parts?.length ? `One table of ${found.parts.join(", ")}` : "One table with those of the same columns"}
          </TickLine>
        )}
        {plan.periods && (
          <TickLine checked={plan.periods === "rows"} disabled={disabled} onChange={(one) => onChoice({ periods: one ? "rows" : "columns" })}>
            A row for each period, which the file has side by side
          </TickLine>
        )}
        {leftOut > 0 && (
          <li>
            {counted(leftOut, "row")} left out that {leftOut === 1 ? "sums up or explains" : "sum up or explain"} others: {rows(found.left_out)}
          </li>
        )}
        {(found.repeated_keys ?? []).map((key) => (
          <li key={key}>{key} of its values occur more than once, though it looks like a key</li>
        ))}
        {repeats > 0 && (
          <TickLine checked={plan.repeats === "leave out"} disabled={disabled} onChange={(out) => onChoice({ repeats: out ? "leave out" : "keep" })}>
            Leave out {counted(repeats, "row")} that {repeats === 1 ? "repeats" : "repeat"} an earlier one
          </TickLine>
        )}
      </ul>
    </details>
  );
}

interface TickProps {
  checked: boolean;
  disabled: boolean;
  onChange: (checked: boolean) => void;
  children: ReactNode;
}

function TickLine({ checked, disabled, onChange, children }: TickProps) {
  return (
    <li>
      <label>
        <input type="checkbox" checked={checked} disabled={disabled} onChange={(e) => onChange(e.target.checked)} /> {children}
      </label>
    </li>
  );
}

interface ColumnProps {
  column: ColumnPlan;
  found: ColumnFound | undefined;
  disabled: boolean;
  onChange: (choice: string) => void;
}

function ColumnLine({ column, found, disabled, onChange }: ColumnProps) {
  const header = column.header || found?.name || "a column without a name";
  return (
    <li className={css["column"]}>
      <span>
        <strong className={css["header"]}>{header}</strong>: <span data-doubt={found?.doubt ? true : undefined}>{found?.line}</span>
        {found?.misfits && found.misfits.length > 0 && <span> ({rows(found.misfits)})</span>}
      </span>
      {column.kind !== "as it is" && (
        <select
          aria-label={`Read ${header} as`}
          value={chosenOf(column)}
          disabled={disabled}
          onChange={(e) => onChange(e.target.value)}
        >
          {Object.keys(CHOICES).map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      )}
    </li>
  );
}

function rows(listed: readonly FileRow[] | undefined): string {
  const first = (listed ?? []).slice(0, 3).map((r) => `row ${r.row.toLocaleString("en")} “${r.text}”`);
  return first.join(", ") + ((listed?.length ?? 0) > 3 ? ", …" : "");
}
