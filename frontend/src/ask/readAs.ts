/** What a column of an uploaded file may be read as, and the plan that a choice makes. */
import type { ColumnPlan, TablePlan, TableReading } from "../api/types";

type Change = Pick<ColumnPlan, "kind" | "decimal" | "order">;

export const CHOICES: Record<string, Change> = {
  text: { kind: "text" },
  number: { kind: "number" },
  "number, decimal point": { kind: "number", decimal: "." },
  "number, decimal comma": { kind: "number", decimal: "," },
  date: { kind: "date" },
  "date, day first": { kind: "date", order: "dmy" },
  "date, month first": { kind: "date", order: "mdy" },
  "yes or no": { kind: "truth" },
  "leave out": { kind: "left out" },
};

/** The name of the choice that the plan has. */
export function chosenOf(plan: ColumnPlan): string {
  if (plan.kind === "date" && plan.order) return plan.order === "dmy" ? "date, day first" : "date, month first";
  if (plan.kind === "number" && plan.decimal === ",") return "number, decimal comma";
  return Object.keys(CHOICES).find((name) => CHOICES[name]?.kind === plan.kind) ?? "text";
}

/** The plans of all tables, with one column read as it was chosen. */
export function withColumn(tables: readonly TableReading[], table: string, index: number, choice: string) {
  const changed = { decimal: null, order: null, unit: null, ...CHOICES[choice], decided: true };
  return tables.map(({ plan }) =>
    plan.table === table
      ? { ...plan, columns: plan.columns.map((column, i) => (i === index ? { ...column, ...changed } : column)) }
      : plan,
  );
}

/** What a plan decides for a whole table. */
export type TableChoice = Pick<TablePlan, "forms" | "repeats" | "periods">;

/** The plans of all tables, with a choice for one of them. */
export function withChoice(tables: readonly TableReading[], table: string, choice: TableChoice) {
  return tables.map(({ plan }) => (plan.table === table ? { ...plan, ...choice } : plan));
}
