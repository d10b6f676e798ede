/** What kind of values a column holds, read from the values themselves, and how a cell is written. */
import type { Cell, Row } from "../api/events";

export type ColumnKind = "number" | "text" | "date" | "boolean" | "empty";

const DATE = /^\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?$/;

export function columnKind(values: readonly Cell[]): ColumnKind {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return "empty";
  if (known.every((value) => typeof value === "number")) return "number";
  if (known.every((value) => typeof value === "boolean")) return "boolean";
  if (known.every((value) => typeof value === "string" && DATE.test(value))) return "date";
  return "text";
}

export function columnKinds(columns: readonly string[], rows: readonly Row[]): ColumnKind[] {
  return columns.map((_, index) => columnKind(rows.map((row) => row[index] ?? null)));
}

/** The server's word for a column's kind, in ours. */
export function knownKind(kind: string): ColumnKind {
  const name = kind.toLowerCase();
  if (/int|num|float|double|real|dec/.test(name)) return "number";
  if (/bool/.test(name)) return "boolean";
  if (/date|time/.test(name)) return "date";
  return /null|empty|unknown/.test(name) ? "empty" : "text";
}

const WORDS: Record<ColumnKind, string> = {
  number: "number",
  text: "text",
  date: "date",
  boolean: "yes or no",
  empty: "only NULL",
};

export const kindWord = (kind: ColumnKind): string => WORDS[kind];

const PLAIN = new Intl.NumberFormat("en", { maximumFractionDigits: 10, useGrouping: true });

/** Decimals that a column of numbers is written with, so that they line up: at most 4, and none for rounding noise. */
export function decimals(values: readonly Cell[]): number {
  let most = 0;
  for (const value of values) {
    if (typeof value !== "number" || !Number.isFinite(value)) continue;
    const noise = 1e-9 * Math.abs(value);
    while (most < 4 && Math.abs(Number(value.toFixed(most)) - value) > noise) most += 1;
  }
  return most;
}

/** Whether the numbers of a column are names of things (years, ids, codes), which are not grouped in thousands. */
export function isLabel(column: string, values: readonly Cell[]): boolean {
  if (/(^|_|\b)(id|year|yr|code|zip|postcode|number|no)$/i.test(column)) return true;
  const numbers = values.filter((v): v is number => typeof v === "number");
  return numbers.length > 1 && numbers.every((v) => Number.isInteger(v) && v >= 1900 && v <= 2100);
}

export interface ColumnFormat {
  kind: ColumnKind;
  decimals: number;
  label: boolean;
}

/** Names of amounts of money, which are written with two decimals once they have some. */
const MONEY = /price|cost|amount|revenue|payment|salary|total|spent|balance|fee/i;

export function columnFormats(columns: readonly string[], rows: readonly Row[]): ColumnFormat[] {
  return columns.map((name, index) => {
    const values = rows.map((row) => row[index] ?? null);
    const shown = decimals(values);
    return { kind: columnKind(values), decimals: shown > 0 && MONEY.test(name) ? 2 : shown, label: isLabel(name, values) };
  });
}

const formatters = new Map<number, Intl.NumberFormat>();

function withDecimals(count: number): Intl.NumberFormat {
  let made = formatters.get(count);
  if (!made) {
    made = new Intl.NumberFormat("en", { minimumFractionDigits: count, maximumFractionDigits: count });
    formatters.set(count, made);
  }
  return made;
}

/** A cell's value as text; NULL is the caller's to show. */
export function cellText(value: Cell, format?: ColumnFormat): string {
  if (value === null) return "NULL";
  if (typeof value === "boolean") return value ? "true" : "false";
  if (typeof value === "string") return value;
  if (format?.label) return String(value);
  if (!format || Math.abs(value) >= 1e15) return PLAIN.format(value);
  return withDecimals(format.decimals).format(value);
}
