/**
 * Which charts suit a result, from its shape alone: one number; a measure over time (line); by category (bar); over two
 * categories (a map of counts, stacked bars); two measures (scatter); many values (histogram). No shape that fits means
 * a table.
 */
import type { Cell, Row } from "../api/events";
import { MANY_ROWS } from "../api/queries";
import { addsUp } from "./addsUp";
import { type ColumnFormat, columnFormats } from "./columnKinds";
import type { Chart } from "./look";
import type { Result } from "./results";

/** More bars than this are no picture: the largest are shown. */
export const MAX_BARS = 25;
const MAX_COLUMNS = 20;
const MAX_TIMES = 200;
const MAX_SERIES = 6;
const MAX_MEASURES = 4;
const MAX_MAP_SIDE = 40;
const MANY_VALUES = 30;

/** The charts with the kind that was asked for first; as they are where the shape does not allow it. A pie is drawn as
 * bars, which show the same shares more exactly. */
export function preferred(charts: Chart[], asked: string): Chart[] {
  const first = charts.find((chart) => chart.kind === (asked === "pie" ? "bar" : asked));
  return first ? [first, ...charts.filter((chart) => chart !== first)] : charts;
}

/** What each column can be in a chart. */
export interface Roles {
  measures: number[];
  times: number[];
  categories: number[];
}

export function rolesOf(columns: readonly string[], rows: readonly Row[]): Roles {
  const formats = columnFormats(columns, rows);
  const times = indices(formats, (f, i) => f.kind === "date" || isYear(f, columns[i] ?? "", rows, i));
  return {
    measures: indices(formats, (f) => f.kind === "number" && !f.label),
    times,
    categories: indices(formats, (f, i) => (f.kind === "text" || f.kind === "boolean") && !times.includes(i)),
  };
}

interface Known {
  sql?: string;
  /** Whether all rows are drawn: of a part, neither the latest value nor a distribution can be told. */
  whole?: boolean;
}

/** The charts that the shape allows, the best first; none where no chart says more than the table. */
export function chooseCharts(columns: readonly string[], rows: readonly Row[], { sql = "", whole = true }: Known = {}): Chart[] {
  if (rows.length === 0 || columns.length === 0) return [];
  const { measures, times, categories } = rolesOf(columns, rows);
  const [y, other] = measures;

  if (rows.length === 1) return y !== undefined && columns.length <= 2 ? [{ kind: "number", x: -1, y, series: -1 }] : [];
  if (y === undefined) return [];

  const charts: Chart[] = [];
  const [time] = times;
  const [first, second] = categories;
  const more = measures.filter((each) => each !== y && isAlike(rows, y, each)).slice(0, MAX_MEASURES - 1);
  const together = { y, series: -1, ...(more.length > 0 ? { more } : {}) };
  const stack = addsUp(columns[y] ?? "", rows.map((row) => row[y]), sql) && isPositive(rows, y) ? "stacked" : "grouped";
  const once = time !== undefined && distinct(rows, time) === rows.length;
  if (time !== undefined) {
    const series = first !== undefined && distinct(rows, first) <= MAX_SERIES ? first : -1;
    const split = series >= 0 && !once;
    const drawn = split ? { y, series } : together;
    if (split || once) charts.push({ kind: "line", x: time, ...drawn });
    if (once && isPositive(rows, y)) charts.push({ kind: "area", x: time, ...drawn });
    if (split && stack === "stacked" && isPairwise(rows, time, series)) {
      charts.push({ kind: "area", x: time, ...drawn, stack });
      if (distinct(rows, time) <= MAX_TIMES) charts.push({ kind: "column", x: time, ...drawn, stack });
    }
  }
  if (first !== undefined && second !== undefined && isGrid(rows, first, second)) {
    const map = mapOf(rows, first, second, y);
    charts.push(map);
    if (distinct(rows, map.x) <= MAX_SERIES && time === undefined) {
      const bars = { x: map.series, y, series: map.x, stack } as const;
      charts.push({ kind: "bar", ...bars, ...largest(distinct(rows, bars.x), MAX_BARS) });
      charts.push({ kind: "column", ...bars, ...largest(distinct(rows, bars.x), MAX_COLUMNS) });
    }
  }
  const label = names(rows, categories);
  if (label !== undefined) {
    charts.push({ kind: "bar", x: label, ...together, ...largest(rows.length, MAX_BARS) });
    charts.push({ kind: "column", x: label, ...together, ...largest(rows.length, MAX_COLUMNS) });
  } else if (once) {
    if (rows.length <= MAX_BARS) charts.push({ kind: "bar", x: time, ...together });
    if (rows.length <= MAX_TIMES) charts.push({ kind: "column", x: time, ...together });
  }
  if (once && whole) charts.push({ kind: "trend", x: time, y, series: -1 });
  if (other !== undefined && rows.length >= 3) {
    const scatter: Chart = { kind: "scatter", x: y, y: other, series: -1 };
    if (charts.length === 0 || (rows.length > MAX_NAMED && label !== undefined)) charts.unshift(scatter);
    else charts.push(scatter);
  }
  const single = time === undefined && measures.length === 1 && (second === undefined || label !== undefined);
  if (whole && single && rows.length >= MANY_VALUES && distinct(rows, y) > 2)
    charts.push({ kind: "histogram", x: -1, y, series: -1 });
  return onePerKind(charts);
}

/** Rows that are not at hand are fetched for a chart, up to a number. */
export function chartsOf({ columns, rows, total, runId, sql = "" }: Pick<Result, "columns" | "rows" | "total" | "runId" | "sql">): Chart[] {
  return chooseCharts(columns, rows, { sql, whole: total <= (runId === null ? rows.length : MANY_ROWS) });
}

/** Above so many things two measures of them are better seen as points. */
const MAX_NAMED = 40;

const onePerKind = (charts: Chart[]): Chart[] =>
  charts.filter((chart, index) => charts.findIndex((each) => each.kind === chart.kind) === index);

const largest = (count: number, most: number): Partial<Chart> => (count > most ? { top: most, order: "largest" } : {});

/** Whether two measures can share an axis: the larger is at most ten times the smaller. */
function isAlike(rows: readonly Row[], a: number, b: number): boolean {
  const [one, two] = [a, b].map((column) => Math.max(...rows.map((row) => Math.abs(Number(row[column] ?? 0)))));
  return one !== undefined && two !== undefined && Math.min(one, two) > 0 && Math.max(one, two) <= 10 * Math.min(one, two);
}

function indices(formats: readonly ColumnFormat[], test: (f: ColumnFormat, index: number) => boolean): number[] {
  return formats.flatMap((format, index) => (test(format, index) ? [index] : []));
}

function isYear(format: ColumnFormat, name: string, rows: readonly Row[], index: number): boolean {
  if (format.kind !== "number" || !format.label) return false;
  if (!/year|yr/i.test(name)) return false;
  return rows.every((row) => typeof row[index] === "number");
}

function isPositive(rows: readonly Row[], column: number): boolean {
  return rows.every((row) => typeof row[column] !== "number" || row[column] >= 0);
}

function distinct(rows: readonly Row[], column: number): number {
  return new Set(rows.map((row) => row[column])).size;
}

/** The category that tells the rows apart best; all of its values differ, or nearly so when names repeat. */
function names(rows: readonly Row[], categories: readonly number[]): number | undefined {
  const ranked = categories.toSorted((a, b) => distinct(rows, b) - distinct(rows, a));
  const best = ranked[0];
  return best !== undefined && isTelling(rows, best) ? best : undefined;
}

function isGrid(rows: readonly Row[], a: number, b: number): boolean {
  const [width, height] = [distinct(rows, a), distinct(rows, b)];
  if (width < 2 || height < 2 || width > MAX_MAP_SIDE || height > MAX_MAP_SIDE) return false;
  return isPairwise(rows, a, b) && rows.length > Math.max(width, height);
}

/** Whether no two rows have the same values in both columns. */
export function isPairwise(rows: readonly Row[], a: number, b: number): boolean {
  return new Set(rows.map((row) => JSON.stringify([row[a], row[b]]))).size === rows.length;
}

/** The category with more values runs down the side, where there is room for their names. */
function mapOf(rows: readonly Row[], a: number, b: number, y: number): Chart {
  const [x, series] = distinct(rows, a) > distinct(rows, b) ? [b, a] : [a, b];
  return { kind: "heatmap", x, y, series };
}

/** A category as the axis shows it; NULL has a name there too. */
export function categoryText(value: Cell): string {
  return value === null ? "NULL" : String(value);
}

/** A label of its own for each bar: the name, with the other columns that name the row, like a first and a last name. */
export function barLabels(rows: readonly Row[], chart: Chart, formats: readonly ColumnFormat[]): string[] {
  const parts = nameParts(rows, chart, formats);
  const used = new Map<string, number>();
  return rows.map((row) => {
    const label = parts.map((index) => categoryText(row[index] ?? null)).join(" ");
    const key = JSON.stringify([label, chart.series >= 0 ? row[chart.series] : null]);
    const times = (used.get(key) ?? 0) + 1;
    used.set(key, times);
    return times > 1 ? `${label} (${times})` : label;
  });
}

/** The columns that make up a bar's label. */
export function nameParts(rows: readonly Row[], chart: Chart, formats: readonly ColumnFormat[]): number[] {
  if (chart.series >= 0) return [chart.x];
  const naming = formats.flatMap((f, i) => (i === chart.x || (f.kind === "text" && isTelling(rows, i)) ? [i] : []));
  const parts = naming.slice(0, MAX_NAME_PARTS);
  if (chart.x >= 0 && !parts.includes(chart.x)) parts[0] = chart.x;
  return parts;
}

const MAX_NAME_PARTS = 2;

const isTelling = (rows: readonly Row[], column: number): boolean => distinct(rows, column) >= rows.length * 0.7;
