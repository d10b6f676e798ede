/**
 * Where a number in an answer comes from: a cell of the result, the count of its rows, the question, or nowhere.
 * A number "is" a cell when the cell, rounded to the digits that the answer shows, reads the same; one that stands in
 * a cell's text ("Set of 4") leads to that text, unless a number of its own is there. A part of a date is left alone.
 */
import type { Row } from "../api/events";

export type Origin =
  | { kind: "cell"; source: number; row: number; column: number }
  | { kind: "count"; source: number }
  | { kind: "sum"; source: number; column: number }
  | { kind: "question" }
  | { kind: "date" }
  | { kind: "none" };

export interface Piece {
  text: string;
  /** Set where the text is a number. */
  value: number | null;
}

export interface TraceSource {
  rows: readonly Row[];
  rowCount: number;
  /** True when `rows` are all there are, so that a sum over them is the sum. */
  complete: boolean;
}

/** A number as people write it: 1,234.5 · -3 · 12% · 1.2 million. Not part of a word, a name or a date. */
const NUMBER = /(?<![\p{L}\d_.,:/-])([-−]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-−]?\d+(?:\.\d+)?)(\s?%|\s(?:thousand|million|billion|rows?)\b)?(?![\p{L}\d_]|[-:/]\d|[.,]\d)/giu;

const SCALES: Record<string, number> = { thousand: 1e3, million: 1e6, billion: 1e9 };

/** The text cut into numbers and what stands between them. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let at = 0;
  for (const match of text.matchAll(NUMBER)) {
    if (match.index > at) found.push({ text: text.slice(at, match.index), value: null });
    found.push({ text: match[0], value: read(match[1] ?? "") });
    at = match.index + match[0].length;
  }
  if (at < text.length) found.push({ text: text.slice(at), value: null });
  return found;
}

function read(digits: string): number {
  return Number(digits.replaceAll(",", "").replace("−", "-"));
}

/** Where the number in `text` comes from: the cells of all results first, then what is computed from them. */
export function originOf(text: string, sources: readonly TraceSource[], question: string): Origin {
  const match = new RegExp(NUMBER.source, "iu").exec(text);
  if (!match) return { kind: "none" };
  const digits = match[1] ?? "";
  const value = read(digits);
  const decimals = digits.split(".")[1]?.length ?? 0;
  const unit = (match[2] ?? "").trim().toLowerCase();
  const scale = SCALES[unit] ?? 1;
  const same = (cell: number): boolean =>
    reads(cell / scale, value, decimals) || (unit === "%" && reads(cell * 100, value, decimals));

  const counted = unit.startsWith("row") ? sources.findIndex((source) => source.rowCount === value) : -1;
  if (counted >= 0) return { kind: "count", source: counted };
  for (const [source, { rows }] of sources.entries()) {
    const place = cellOf(rows, same);
    if (place) return { kind: "cell", source, ...place };
  }
  for (const [source, { rows, rowCount, complete }] of sources.entries()) {
    if (decimals === 0 && value === rowCount) return { kind: "count", source };
    const column = complete ? summed(rows, same) : -1;
    if (column >= 0) return { kind: "sum", source, column };
  }
  if (pieces(question).some((piece) => piece.value === value)) return { kind: "question" };
  const whole = new RegExp(`(?<![\\d.,])${digits.replaceAll(".", "\\.")}(?![\\d]|[.,]\\d)`);
  for (const [source, { rows }] of sources.entries()) {
    const place = textWith(rows, (text) => !DATED.test(text) && whole.test(text));
    if (place) return { kind: "cell", source, ...place };
  }
  const dated = sources.some(({ rows }) => textWith(rows, (text) => DATED.test(text) && whole.test(text)));
  return { kind: dated ? "date" : "none" };
}

const DATED = /^\d{4}-\d{2}/;

/** Texts of a result that have digits in them, longest first: where one stands in an answer, its digits are no number. */
export function namesWithDigits(sources: readonly TraceSource[]): string[] {
  const names = sources.flatMap(({ rows }) => rows.flatMap((cells) => cells.filter(isNameWithDigits)));
  return [...new Set(names)].toSorted((a, b) => b.length - a.length);
}

function isNameWithDigits(cell: Row[number]): cell is string {
  return typeof cell === "string" && /\d/.test(cell) && /\p{L}/u.test(cell) && cell.length <= LONGEST_NAME;
}

const LONGEST_NAME = 200;

function textWith(rows: readonly Row[], test: (text: string) => boolean): { row: number; column: number } | null {
  for (const [row, cells] of rows.entries())
    for (const [column, cell] of cells.entries())
      if (typeof cell === "string" && test(cell)) return { row, column };
  return null;
}

function cellOf(rows: readonly Row[], same: (value: number) => boolean): { row: number; column: number } | null {
  for (const [row, cells] of rows.entries())
    for (const [column, cell] of cells.entries()) {
      const number = numeric(cell);
      if (number !== null && same(number)) return { row, column };
    }
  return null;
}

function reads(cell: number, value: number, decimals: number): boolean {
  return Math.abs(cell - value) <= 0.5 * 10 ** -decimals * (1 + 1e-9) && (decimals > 0 || Math.round(cell) === value);
}

function numeric(cell: Row[number]): number | null {
  if (typeof cell === "number") return cell;
  if (typeof cell === "string" && /^-?\d+(\.\d+)?$/.test(cell)) return Number(cell);
  return null;
}

function summed(rows: readonly Row[], same: (value: number) => boolean): number {
  if (rows.length < 2) return -1;
  const width = rows[0]?.length ?? 0;
  for (let column = 0; column < width; column++) {
    const cells = rows.map((row) => row[column]);
    if (cells.every((cell) => typeof cell === "number" || cell === null)) {
      const total = cells.reduce<number>((sum, cell) => sum + (typeof cell === "number" ? cell : 0), 0);
      if (same(total)) return column;
    }
  }
  return -1;
}
