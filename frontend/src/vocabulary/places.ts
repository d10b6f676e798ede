/** What of a schema can be meant: names to complete, dates and figures to choose among. */
import type { TermKind } from "../api/events";
import type { ColumnFacts, SchemaColumn, SchemaTable } from "../api/types";

const MOST = 40;

const columnsOf = (tables: readonly SchemaTable[]): string[] =>
  tables.flatMap((table) => table.columns.map((column) => `${table.name}.${column.name}`));

/** The text with its last name completed, the names that begin so first. */
export function completions(text: string, kind: TermKind, tables: readonly SchemaTable[]): string[] {
  const [, before = "", name = ""] = /^(.*?)([\p{L}\p{N}_.]*)$/su.exec(text) ?? [];
  if (kind === "measure" && text === "")
    return tables.flatMap((table) => figuresOf(table).map((figure) => `SUM(${figure})`)).slice(0, MOST);
  if (name === "" && before !== "" && !before.endsWith("(")) return [];
  const names = kind === "word" && before === "" ? [...tables.map((table) => table.name), ...columnsOf(tables)] : columnsOf(tables);
  const wanted = name.toLowerCase();
  const begins = (one: string) => one.toLowerCase().startsWith(wanted);
  return names
    .filter((one) => one.toLowerCase().includes(wanted) && one !== name)
    .toSorted((a, b) => Number(begins(b)) - Number(begins(a)))
    .slice(0, MOST)
    .map((one) => before + one);
}

/** Columns that are dates by their type, or by how their values are written. */
export function datesOf(table: SchemaTable, facts: readonly ColumnFacts[] = []): string[] {
  const written = new Set(
    facts
      .filter((each) => each.table === table.name && each.formats.some((format) => format.name.startsWith("date") && format.share > 0.9))
      .map((each) => each.column),
  );
  return named(table, (column) => /date|time(?!zone)/i.test(column.type) || written.has(column.name));
}

/** Columns that hold numbers which are no keys. */
export function figuresOf(table: SchemaTable): string[] {
  return named(
    table,
    (column) =>
      /int|real|num|dec|float|double|money/i.test(column.type) &&
      !/interval/i.test(column.type) &&
      !column.primary_key &&
      column.foreign_key === null &&
      !/(^|_)id$/i.test(column.name),
  );
}

const named = (table: SchemaTable, wanted: (column: SchemaColumn) => boolean): string[] =>
  table.columns.filter(wanted).map((column) => `${table.name}.${column.name}`);

const EMPTY_WORDS = new Set(
  ("a an and are as at be been by did do does each every for from had has have how in is it its list many me more most much of on or " +
    "our per show that the their them there these they this to was we were what when where which who whose why with").split(" "),
);

/** The words of a question that may be meant otherwise. */
export function wordsOf(question: string): string[] {
  const words = question.match(/[\p{L}\p{N}][\p{L}\p{N}'’_-]*/gu) ?? [];
  return [...new Set(words.filter((word) => word.length > 1 && !EMPTY_WORDS.has(word.toLowerCase()) && !/^\d+$/.test(word)))];
}
