/** A width that suits a column's name and its first values, without measuring the page. */
import type { Row } from "../api/events";
import { cellText, type ColumnFormat } from "./columnKinds";

const CHARACTER = 7.4;
const PADDING = 26;
const LOOKED_AT = 60;

export function columnWidth(name: string, format: ColumnFormat | undefined, rows: readonly Row[], index: number): number {
  let longest = name.length + 1.5;
  for (const row of rows.slice(0, LOOKED_AT)) longest = Math.max(longest, cellText(row[index] ?? null, format).length);
  return Math.round(Math.min(Math.max(longest * CHARACTER + PADDING, 72), 340));
}
