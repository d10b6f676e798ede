/**
 * What a chart draws: a point for each value, in its place. A missing step of time and a NULL are points without a
 * value; categories beyond the largest become one, where their values add up.
 */
import type { Cell } from "../api/events";
import { addsUp } from "./addsUp";
import { axisTitle } from "./axisTitle";
import { barLabels, categoryText, nameParts, rolesOf } from "./chooseChart";
import { columnFormats } from "./columnKinds";
import { isUpright, type Look, measuresOf } from "./look";
import type { Result } from "./results";
import { everyStep, likeSample, timeOf } from "./timeSteps";

/** The part of a result that a chart shows. */
export type Drawn = Pick<Result, "columns" | "rows" | "units" | "sql">;

export interface Point {
  x: string | number | Date;
  /** NaN: there is no value. */
  y: number;
  label: string;
  series: string;
  /** Where it begins and ends along the axis of values. */
  from: number;
  to: number;
  /** The rows of the result that it stands for, and the column of its value. */
  rows: number[];
  column: number;
}

export interface Points {
  points: Point[];
  /** The categories in their order. */
  labels: string[];
  series: string[];
  /** How they share a category, as far as their values allow it. */
  stack: Look["stack"];
  /** What the drawing leaves out or adds up, in words. */
  notes: string[];
}

/** More than these cannot be told apart by their colours. */
export const MAX_COLOURS = 8;

export function pointsOf(look: Look, result: Drawn): Points {
  if (look.kind === "histogram") return bins(look, result);
  const timed = isOverTime(look, result);
  const notes: string[] = [];
  let points = rowPoints(look, result);
  if (timed) {
    const undated = new Set(points.filter((point) => Number.isNaN(timeOf(cellAt(point, look.x, result)))).flatMap((point) => point.rows));
    if (undated.size > 0) notes.push(`without ${undated.size} ${undated.size === 1 ? "row" : "rows"} that ${undated.size === 1 ? "has" : "have"} no date`);
    points = points.filter((point) => !point.rows.some((row) => undated.has(row)));
  }
  const adding = measuresOf(look).every((column) => isSum(column, result));
  if (look.kind !== "heatmap") {
    const colours = limited(points, "series", MAX_COLOURS, adding);
    points = colours.points;
    if (colours.note) notes.push(colours.note);
  }
  const upright = isUpright(look.kind);
  let rest = "";
  if (upright && !timed && look.top !== null) {
    const cut = limited(points, "label", look.top, adding);
    ({ points, rest } = cut);
    if (cut.note) notes.push(cut.note);
  }
  if (timed && (look.order === "given" || !upright)) points = inEveryStep(points, look, result);
  const labels = ordered(points, upright ? look.order : "given", rest);
  const series = unique(points.map((point) => point.series));
  if (upright) {
    const place = new Map(labels.map((label, index) => [label, index]));
    points = points.toSorted((a, b) => (place.get(a.label) ?? 0) - (place.get(b.label) ?? 0));
  }
  const stack = series.length > 1 && adding && (upright || look.kind === "area") ? look.stack : "grouped";
  if (stack !== "grouped") stacked(points, stack === "share");
  return { points, labels, series, stack, notes };
}

/** Whether the chart runs over dates or years. */
export const isOverTime = (look: Look, result: Drawn): boolean =>
  (isUpright(look.kind) || look.kind === "line" || look.kind === "area" || look.kind === "trend") &&
  rolesOf(result.columns, result.rows).times.includes(look.x);

export const isSum = (column: number, result: Drawn): boolean =>
  addsUp(result.columns[column] ?? "", result.rows.map((row) => row[column] ?? null), result.sql);

/** The names of the measures; two that read the same are told apart by their columns. */
export function measureTitles(columns: readonly number[], result: Drawn): string[] {
  const titles = columns.map((column) => axisTitle(result.columns[column] ?? ""));
  return new Set(titles).size === titles.length ? titles : columns.map((column) => `${result.columns[column] ?? ""} (${column + 1})`);
}

function rowPoints(look: Look, result: Drawn): Point[] {
  const formats = columnFormats(result.columns, result.rows);
  const measures = measuresOf(look);
  const titles = measureTitles(measures, result);
  const several = measures.length > 1;
  const names = look.kind === "scatter" ? nameParts(result.rows, { ...look, series: -1, x: -1 }, formats).filter((part) => part >= 0) : [];
  const labels = barLabels(result.rows, several ? { ...look, series: -1 } : look, formats);
  const dates = formats[look.x]?.kind === "date";
  return result.rows.flatMap((row, index) =>
    measures.flatMap((column, which): Point[] => {
      const value = row[column];
      const y = typeof value === "number" ? value : Number.NaN;
      const cell = row[look.x] ?? null;
      const whole = look.kind === "scatter" ? typeof cell === "number" && !Number.isNaN(y) : look.kind !== "heatmap" || !Number.isNaN(y);
      if (!whole) return [];
      const series = several ? (titles[which] ?? "") : look.series >= 0 ? categoryText(row[look.series] ?? null) : "";
      const label = look.kind === "scatter" ? names.map((part) => categoryText(row[part] ?? null)).join(" ") : (labels[index] ?? "");
      return [{ x: place(cell, dates), y, label, series, from: 0, to: y, rows: [index], column }];
    }),
  );
}

function place(value: Cell, dates: boolean): Point["x"] {
  if (dates && typeof value === "string") return new Date(timeOf(value));
  return typeof value === "number" ? value : categoryText(value);
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string | number): Map<string | number, T[]> {
  const groups = new Map<string | number, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

const cellAt = (point: Point, column: number, result: Drawn): Cell => result.rows[point.rows[0] ?? -1]?.[column] ?? null;
const unique = (texts: readonly string[]): string[] => [...new Set(texts)];
const sum = (points: readonly Point[]): number => points.reduce((total, { y }) => total + (Number.isNaN(y) ? 0 : y), 0);

const compare = new Intl.Collator("en", { numeric: true }).compare;

/** What was added up stands last, however large it is. */
function ordered(points: readonly Point[], order: Look["order"], rest: string): string[] {
  const labels = unique(points.map((point) => point.label));
  if (order === "given") return labels;
  const sizes = sizesBy(points, "label");
  const size = (label: string) => (sizes.get(label) ?? 0) * (order === "largest" ? -1 : 1);
  const last = (label: string) => Number(label === rest);
  return labels.toSorted((a, b) => last(a) - last(b) || (order === "name" ? compare(a, b) : size(a) - size(b)));
}

function sizesBy(points: readonly Point[], by: "label" | "series"): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const point of points) sizes.set(point[by], (sizes.get(point[by]) ?? 0) + (Number.isNaN(point.y) ? 0 : point.y));
  return sizes;
}

interface Limited {
  points: Point[];
  /** The name of what was added up; empty where nothing was. */
  rest: string;
  note: string;
}

/** The largest `most` by one name; the others as one, or left out where they cannot be added up. */
function limited(points: Point[], by: "label" | "series", most: number, adding: boolean): Limited {
  const sizes = sizesBy(points, by);
  if (sizes.size <= most) return { points, rest: "", note: "" };
  const ranked = [...sizes.keys()].toSorted((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0));
  const kept = new Set(ranked.slice(0, by === "series" && adding ? most - 1 : most));
  const shown = points.filter((point) => kept.has(point[by]));
  const note = `the ${kept.size} largest of ${sizes.size}${by === "series" ? " colours" : ""}`;
  if (!adding) return { points: shown, rest: "", note: `${note}; the others are left out, because their values do not add up` };
  const name = `Other (${sizes.size - kept.size})`;
  const groups = groupBy(
    points.filter((point) => !kept.has(point[by])),
    (point) => JSON.stringify([by === "label" ? point.series : point.label, point.column]),
  );
  const others = [...groups.values()].flatMap((group): Point[] => {
    const [first] = group;
    if (!first) return [];
    const y = sum(group);
    return [{ ...first, [by]: name, ...(by === "label" ? { x: name } : {}), y, to: y, rows: group.flatMap((point) => point.rows) }];
  });
  return { points: [...shown, ...others], rest: name, note: `${note}, the others added up` };
}

/** Points over time in its order, with one that has no value for each step that a series lacks. */
function inEveryStep(points: Point[], look: Look, result: Drawn): Point[] {
  const [first] = points;
  if (!first) return points;
  const sample = cellAt(first, look.x, result);
  const at = (point: Point) => timeOf(cellAt(point, look.x, result));
  const times = everyStep(points.map(at));
  if (isUpright(look.kind)) {
    const given = [...new Set(points.map(at))];
    const rising = given.every((time, index) => index === 0 || time > (given[index - 1] ?? 0));
    const falling = given.every((time, index) => index === 0 || time < (given[index - 1] ?? 0));
    if (!rising && !falling) return points;
    if (falling) times.reverse();
  }
  const known = groupBy(points, (point) => JSON.stringify([point.series, at(point)]));
  return unique(points.map((point) => point.series)).flatMap((series) =>
    times.flatMap((time): Point[] => {
      const there = known.get(JSON.stringify([series, time]));
      if (there) return there;
      const cell = likeSample(time, sample);
      const x = typeof cell === "number" ? cell : new Date(time);
      return [{ ...first, x, label: String(cell), series, y: Number.NaN, from: Number.NaN, to: Number.NaN, rows: [] }];
    }),
  );
}

/** Puts the points of a category on top of each other, those below zero downwards. */
function stacked(points: readonly Point[], share: boolean): void {
  for (const group of groupBy(points, (point) => point.label).values()) {
    const whole = share ? group.reduce((total, { y }) => total + (Number.isNaN(y) ? 0 : Math.abs(y)), 0) || 1 : 1;
    let [above, below] = [0, 0];
    for (const point of group) {
      const size = point.y / whole;
      if (Number.isNaN(size)) continue;
      point.from = size < 0 ? below : above;
      point.to = point.from + size;
      if (size < 0) below = point.to;
      else above = point.to;
    }
  }
}

/** How many values lie in each of about a dozen equal steps. */
function bins(look: Look, result: Drawn): Points {
  const column = look.y;
  const values = result.rows.flatMap((row, index) => (typeof row[column] === "number" ? [{ value: row[column], index }] : []));
  const low = Math.min(...values.map(({ value }) => value));
  const high = Math.max(...values.map(({ value }) => value));
  const rough = (high - low) / Math.min(30, Math.max(6, Math.sqrt(values.length))) || 1;
  const tens = 10 ** Math.floor(Math.log10(rough));
  const nice = ([1, 2, 5, 10].find((step) => step * tens >= rough) ?? 10) * tens;
  const size = values.every(({ value }) => Number.isInteger(value)) ? Math.max(1, nice) : nice;
  const groups = groupBy(values, ({ value }) => Math.floor(value / size + 1e-9));
  const points = [...groups].map(([step, group]): Point => {
    const from = Number((Number(step) * size).toPrecision(12));
    const to = Number(((Number(step) + 1) * size).toPrecision(12));
    return { x: from, y: group.length, label: "", series: "", from, to, rows: group.map(({ index }) => index), column };
  });
  const missing = result.rows.length - values.length;
  const notes = missing > 0 ? [`without ${missing} ${missing === 1 ? "row that has" : "rows that have"} no value`] : [];
  return { points: points.toSorted((a, b) => a.from - b.from), labels: [], series: [""], stack: "grouped", notes };
}
