/** Rows as text for the clipboard: tabs between cells, which spreadsheets read as a table. */
import type { Cell, Row } from "../api/events";

export function asTabbed(columns: readonly string[], rows: readonly Row[]): string {
  return [columns.map(clean), ...rows.map((row) => row.map(plain))].map((cells) => cells.join("\t")).join("\n");
}

const plain = (value: Cell): string => (value === null ? "" : clean(String(value)));

const clean = (text: string): string => text.replaceAll(/[\t\r\n]+/g, " ");
