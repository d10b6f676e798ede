/**
 * Which chart a result wants, from its shape alone: one number; a measure over time (line); a measure by category
 * (bar); two measures (scatter); a measure over two categories (a map of counts). No shape that fits means a table.
 */
import type { Cell, Row } from "../api/events";
import { type ColumnFormat, columnFormats } from "./columnKinds";

export type ChartKind = "number" | "bar" | "column" | "line" | "area" | "scatter" | "heatmap";

/** The order of bars and columns: as the rows came, by size, or by name. */
export type Order = "given" | "largest" | "smallest" | "name";

export interface Chart {
  kind: ChartKind;
  /** Column on the horizontal axis (bar, column: the category); -1 where there is none. */
  x: number;
  /** Column of the measure. */
  y: number;
  /** Second category of a map, or the series of a line; -1 where there is none. */
  series: number;
}

/** A chart as somebody has chosen to see it. */
export interface Look extends Chart {
  order: Order;
}

/** More bars than this are no picture. */
export const MAX_BARS = 40;
const MAX_UPRIGHT = 24;
const MAX_SERIES = 6;
const MAX_MAP_SIDE = 40;

/** The charts with the kind that was asked for first; as they are where the shape does not allow it. A pie is drawn as
 * bars, which show the same shares more exactly. */
export function preferred(charts: Chart[], asked: string): Chart[] {
  const first = charts.find((chart) => chart.kind === (asked === "pie" ? "bar" : asked));
  return first ? [first, ...charts.filter((chart) => chart !== first)] : charts;
}

/** The charts that the shape allows, the best first; none where no chart says more than the table. */
export function chooseCharts(columns: readonly string[], rows: readonly Row[]): Chart[] {
  if (rows.length === 0 || columns.length === 0) return [];
  const formats = columnFormats(columns, rows);
  const measures = indices(formats, (f) => f.kind === "number" && !f.label);
  const times = indices(formats, (f, i) => f.kind === "date" || isYear(f, columns[i] ?? "", rows, i));
  const categories = indices(formats, (f, i) => (f.kind === "text" || f.kind === "boolean") && !times.includes(i));
  const [y] = measures;

  if (rows.length === 1) return y !== undefined && columns.length <= 2 ? [{ kind: "number", x: -1, y, series: -1 }] : [];
  if (y === undefined) return [];

  const charts: Chart[] = [];
  const [time] = times;
  const [first, second] = categories;
  if (time !== undefined) {
    const series = first !== undefined && distinct(rows, first) <= MAX_SERIES ? first : -1;
    if (series >= 0 || distinct(rows, time) === rows.length) charts.push({ kind: "line", x: time, y, series });
    if (series < 0 && distinct(rows, time) === rows.length && isPositive(rows, y))
      charts.push({ kind: "area", x: time, y, series });
  }
  if (first !== undefined && second !== undefined && isGrid(rows, first, second))
    charts.push(mapOf(rows, first, second, y));
  const label = names(rows, categories) ?? (time !== undefined && distinct(rows, time) === rows.length ? time : undefined);
  if (label !== undefined && rows.length <= MAX_BARS) charts.push({ kind: "bar", x: label, y, series: -1 });
  if (label !== undefined && rows.length <= MAX_UPRIGHT) charts.push({ kind: "column", x: label, y, series: -1 });
  const other = measures[1];
  if (other !== undefined && rows.length >= 3) {
    const scatter: Chart = { kind: "scatter", x: y, y: other, series: -1 };
    if (charts.length === 0 || rows.length > MAX_BARS) charts.unshift(scatter);
    else charts.push(scatter);
  }
  return charts;
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
  const pairs = new Set(rows.map((row) => `${String(row[a])}\u0000${String(row[b])}`));
  return pairs.size === rows.length && rows.length > Math.max(width, height);
}

/** The category with more values runs down the side, where there is room for their names. */
function mapOf(rows: readonly Row[], a: number, b: number, y: number): Chart {
  const [x, series] = distinct(rows, a) > distinct(rows, b) ? [b, a] : [a, b];
  return { kind: "heatmap", x, y, series };
}

export const CHART_NAMES: Record<ChartKind, string> = {
  number: "Number",
  bar: "Bars",
  column: "Columns",
  line: "Line",
  area: "Area",
  scatter: "Scatter",
  heatmap: "Map of counts",
};

export const ORDER_NAMES: Record<Order, string> = {
  given: "as in the table",
  largest: "largest first",
  smallest: "smallest first",
  name: "by name",
};

/** Whether the order of what is drawn can be chosen. */
export const canBeOrdered = (kind: ChartKind): boolean => kind === "bar" || kind === "column";

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
    const times = (used.get(label) ?? 0) + 1;
    used.set(label, times);
    return times > 1 ? `${label} (${times})` : label;
  });
}

/** The columns that make up a bar's label. */
export function nameParts(rows: readonly Row[], chart: Chart, formats: readonly ColumnFormat[]): number[] {
  const naming = formats.flatMap((f, i) => (i === chart.x || (f.kind === "text" && isTelling(rows, i)) ? [i] : []));
  const parts = naming.slice(0, MAX_NAME_PARTS);
  if (!parts.includes(chart.x)) parts[0] = chart.x;
  return parts;
}

const MAX_NAME_PARTS = 2;

const isTelling = (rows: readonly Row[], column: number): boolean => distinct(rows, column) >= rows.length * 0.7;
