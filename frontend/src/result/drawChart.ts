/** Draws a chart as an SVG in the page's colours. Data is copied: the library may write on what it is given. */
import * as Plot from "@observablehq/plot";
import type { Cell } from "../api/events";
import { axisTitle } from "./axisTitle";
import { barLabels, categoryText, type Chart, type Look, type Order } from "./chooseChart";
import { cellText, columnFormats } from "./columnKinds";
import type { Result } from "./results";

const SERIES = ["var(--accent)", "var(--doubt)", "var(--sure)", "var(--wrong)", "var(--ink-2)", "var(--edge)"];

interface Point {
  x: string | number | Date;
  y: number;
  label: string;
  series: string;
}

export function drawChart(chart: Look, result: Drawn, width: number, label: string): Element {
  const points = ordered(pointsOf(chart, result), chart.order);
  const options = { ...FRAME, width, ariaLabel: label, ...BUILDERS[chart.kind](points, result, chart, width) };
  const svg = Plot.plot(options);
  svg.setAttribute("role", "img");
  // names on parts that have no role say nothing to a screen reader
  for (const part of svg.querySelectorAll("g[aria-label]")) {
    part.setAttribute("data-mark", part.getAttribute("aria-label") ?? "");
    part.removeAttribute("aria-label");
  }
  return svg;
}

/** The part of a result that a chart shows. */
export type Drawn = Pick<Result, "columns" | "rows" | "units">;

function ordered(points: Point[], order: Order): Point[] {
  if (order === "largest") return points.toSorted((a, b) => b.y - a.y);
  if (order === "smallest") return points.toSorted((a, b) => a.y - b.y);
  if (order === "name") return points.toSorted((a, b) => a.label.localeCompare(b.label, "en", { numeric: true }));
  return points;
}

const FRAME: Plot.PlotOptions = {
  marginTop: 16,
  style: { background: "transparent", color: "var(--ink-2)", fontFamily: "var(--sans)", fontSize: "12px", overflow: "visible" },
};

type Builder = (points: Point[], result: Drawn, chart: Chart, width: number) => Plot.PlotOptions;

const BUILDERS: Record<Chart["kind"], Builder> = {
  number: () => ({}),
  bar: (points, result, chart, width) => ({
    height: points.length * 26 + 56,
    marginLeft: Math.min(width * 0.4, 16 + longest(points, (p) => p.label) * CHARACTER),
    marginRight: 56,
    marginBottom: 36,
    x: { label: nameOf(result, chart.y), labelArrow: "none", grid: true, ticks: Math.max(2, Math.floor(width / 140)), tickSize: 0, tickFormat: short },
    y: { label: null, domain: points.map((p) => p.label), tickSize: 0 },
    marks: [
      Plot.barX(points, { x: "y", y: "label", fill: "var(--accent)", insetTop: 3, insetBottom: 3 }),
      Plot.tip(points, Plot.pointerY({ x: "y", y: "label", title: titleOf(result, chart), ...TIP })),
      Plot.text(points, { x: (p: Point) => Math.max(p.y, 0), y: "label", text: (p: Point) => valueText(p.y, result, chart), dx: 6, textAnchor: "start", fill: "var(--ink)" }),
      Plot.ruleX([0], { stroke: "var(--edge)" }),
    ],
  }),
  column: (points, result, chart, width) => {
    const name = longest(points, (p) => p.label) * CHARACTER;
    const fits = name + 8 < (width - 80) / points.length;
    return {
      height: 320 + (fits ? 0 : Math.min(name * 0.6, 110)),
      marginTop: 32,
      marginLeft: 56,
      marginBottom: fits ? 28 : 24 + Math.min(name * 0.6, 110),
      x: { label: null, domain: points.map((p) => p.label), tickSize: 0, ...(fits ? {} : { tickRotate: -40 }) },
      y: { label: nameOf(result, chart.y), labelArrow: "none", grid: true, zero: true, ticks: 5, tickSize: 0, tickFormat: short },
      marks: [
        Plot.barY(points, { x: "label", y: "y", fill: "var(--accent)", insetLeft: 2, insetRight: 2 }),
        Plot.ruleY([0], { stroke: "var(--edge)" }),
        Plot.tip(points, Plot.pointerX({ x: "label", y: "y", title: titleOf(result, chart), ...TIP })),
      ],
    };
  },
  area: (points, result, chart) => ({
    ...overTime(points, result, chart),
    marks: [
      Plot.areaY(points, { x: "x", y: "y", fill: "var(--accent)", fillOpacity: 0.18 }),
      Plot.lineY(points, { x: "x", y: "y", stroke: "var(--accent)", strokeWidth: 1.75 }),
      Plot.tip(points, Plot.pointerX({ x: "x", y: "y", title: titleOf(result, chart), ...TIP })),
    ],
  }),
  line: (points, result, chart) => {
    const many = new Set(points.map((p) => p.series)).size > 1;
    return {
      ...overTime(points, result, chart),
      marginRight: many ? 96 : 24,
      color: { range: SERIES },
      marks: [
        Plot.lineY(points, { x: "x", y: "y", z: "series", stroke: many ? "series" : "var(--accent)", strokeWidth: 1.75 }),
        Plot.dot(points, { x: "x", y: "y", fill: many ? "series" : "var(--accent)", r: points.length > 60 ? 0 : 2.5 }),
        Plot.tip(points, Plot.pointer({ x: "x", y: "y", title: titleOf(result, chart), ...TIP })),
        ...(many ? [Plot.text(points, Plot.selectLast({ x: "x", y: "y", z: "series", text: "series", dx: 8, textAnchor: "start", fill: "var(--ink)" }))] : []),
      ],
    };
  },
  scatter: (points, result, chart) => ({
    height: 380,
    marginLeft: 56,
    marginBottom: 40,
    marginTop: 32,
    x: { label: nameOf(result, chart.x), labelArrow: "none", grid: true, ticks: 6, tickSize: 0, tickFormat: short },
    y: { label: nameOf(result, chart.y), labelArrow: "none", grid: true, ticks: 6, tickSize: 0, tickFormat: short },
    marks: [
      Plot.dot(points, { x: "x", y: "y", r: 3.5, fill: "var(--accent)", fillOpacity: 0.6 }),
      Plot.tip(points, Plot.pointer({ x: "x", y: "y", title: titleOf(result, chart), ...TIP })),
    ],
  }),
  heatmap: (points, result, chart, width) => {
    const rows = new Set(points.map((p) => p.series)).size;
    const columns = new Set(points.map((p) => p.label)).size;
    const marginLeft = Math.min(width * 0.35, 16 + longest(points, (p) => p.series) * CHARACTER);
    const name = longest(points, (p) => p.label) * CHARACTER;
    const fits = name + 8 < (width - marginLeft - MARGIN_RIGHT) / columns;
    return {
      height: rows * 28 + 40 + (fits ? 40 : 36 + name * 0.6),
      marginTop: 32,
      marginLeft,
      marginRight: MARGIN_RIGHT,
      marginBottom: (fits ? 44 : 40 + name * 0.6),
      x: { label: nameOf(result, chart.x), labelAnchor: "right", labelArrow: "none", axis: "bottom", tickSize: 0, ...(fits ? {} : { tickRotate: -40 }) },
      y: { label: nameOf(result, chart.series), labelAnchor: "top", labelArrow: "none", tickSize: 0 },
      color: { type: "linear" },
      marks: [
        Plot.cell(points, { x: "label", y: "series", fill: "var(--accent)", fillOpacity: opacity(points), inset: 1 }),
        Plot.text(points, { x: "label", y: "series", text: (p: Point) => short(p.y), fill: "var(--ink)" }),
        Plot.tip(points, Plot.pointer({ x: "label", y: "series", title: titleOf(result, chart), ...TIP })),
      ],
    };
  },
};

/** About as wide as a letter of the axes is. */
const CHARACTER = 6.6;
const MARGIN_RIGHT = 20;

const longest = (points: readonly Point[], text: (point: Point) => string): number =>
  Math.max(...points.map((point) => text(point).length));

/** What appears where one points; who does not see it has the table. */
const TIP = { ariaHidden: "true", fill: "var(--raised)", stroke: "var(--edge)", lineHeight: 1.35, fontSize: 12.5 } as const;

const nameOf = (result: Drawn, column: number): string | null => {
  const name = result.columns[column];
  return name === undefined ? null : axisTitle(name);
};

function overTime(points: readonly Point[], result: Drawn, chart: Chart): Plot.PlotOptions {
  return {
    height: 336,
    marginTop: 32,
    marginLeft: 56,
    marginBottom: 40,
    marginRight: 24,
    x: {
      label: nameOf(result, chart.x),
      labelArrow: "none",
      ...(typeof points[0]?.x === "number" ? { tickFormat: String } : {}),
    },
    y: { label: nameOf(result, chart.y), labelArrow: "none", grid: true, zero: true, ticks: 5, tickSize: 0, tickFormat: short },
  };
}

function pointsOf(chart: Chart, result: Drawn): Point[] {
  const formats = columnFormats(result.columns, result.rows);
  const labels = barLabels(result.rows, chart, formats);
  const dates = formats[chart.x]?.kind === "date";
  return result.rows.flatMap((row, index) => {
    const y = row[chart.y];
    if (typeof y !== "number") return [];
    const x = place(row[chart.x] ?? null, dates);
    const series = chart.series >= 0 ? categoryText(row[chart.series] ?? null) : "";
    const label = chart.kind === "heatmap" ? categoryText(row[chart.x] ?? null) : (labels[index] ?? "");
    return x === null ? [] : [{ x, y, label, series }];
  });
}

function place(value: Cell, dates: boolean): Point["x"] | null {
  if (dates && typeof value === "string") return new Date(value.replace(" ", "T"));
  if (typeof value === "boolean") return String(value);
  return value ?? "NULL";
}

/** Faint to strong, the text on it staying readable. */
function opacity(points: readonly Point[]): (point: Point) => number {
  const most = Math.max(...points.map((p) => Math.abs(p.y)), 1e-9);
  return (point) => 0.04 + 0.42 * (Math.abs(point.y) / most);
}

/** The names of a point, and below them its values, each with the column's name in words. */
function titleOf(result: Drawn, chart: Chart): (point: Point) => string {
  const value = nameOf(result, chart.y) ?? "";
  const across = nameOf(result, chart.x) ?? "";
  const formats = columnFormats(result.columns, result.rows);
  return (point) => {
    const values = [`${value}: ${cellText(point.y, formats[chart.y])}`];
    if (chart.kind === "scatter" && typeof point.x === "number") values.unshift(`${across}: ${cellText(point.x, formats[chart.x])}`);
    const names = [point.label || (chart.kind === "scatter" ? "" : placeText(point.x)), point.series].filter(Boolean);
    return [names.join(", "), ...values].filter(Boolean).join("\n");
  };
}

const placeText = (x: Point["x"]): string => (x instanceof Date ? x.toISOString().replace(/T00:00:00.000Z$/, "") : String(x));

const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });
const PLAIN = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

function short(value: number): string {
  return Math.abs(value) >= 100_000 ? COMPACT.format(value) : PLAIN.format(value);
}

/** A value as the table writes it, or short where it is long. */
function valueText(value: number, result: Drawn, chart: Chart): string {
  const format = columnFormats(result.columns, result.rows)[chart.y];
  const text = cellText(value, format);
  return text.length > 9 ? short(value) : text;
}
