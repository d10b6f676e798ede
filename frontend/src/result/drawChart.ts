/** Draws a chart as an SVG in the page's colours. Data is copied: the library may write on what it is given. */
import * as Plot from "@observablehq/plot";
import { axisTitle } from "./axisTitle";
import { drawEndLabels, fitted, headOf, textWidth, widest } from "./chartFrame";
import { cellText, columnFormats } from "./columnKinds";
import { type Look, measuresOf } from "./look";
import { type Numbers, numbersOf } from "./numberText";
import { type Drawn, isOverTime, type Point, type Points, pointsOf } from "./points";

/** A part of a drawing that stands for a value, and what it says when it is pointed at. */
export interface Mark {
  point: Point;
  text: string;
}

export interface Drawing {
  svg: Element;
  marks: Map<Element, Mark>;
}

/** What the builders share. */
interface Plan extends Points {
  look: Look;
  result: Drawn;
  width: number;
  numbers: Numbers;
  several: boolean;
  colourOf: (series: string) => string;
  /** Makes the parts that a mark draws stand for its points. */
  carry: (points: readonly Point[]) => { render: Plot.RenderFunction };
}

export function drawChart(look: Look, result: Drawn, width: number, label: string): Drawing {
  const all = pointsOf(look, result);
  const numbers = chartNumbers(look, result, all.points);
  const text = textOf(look, result, numbers, all);
  const marks = new Map<Element, Mark>();
  const several = all.series.length > 1 && look.kind !== "heatmap";
  const colourOf = (series: string) => `var(--c${colourNumber(look, series, all.series)})`;
  const legend = several && look.kind !== "line" ? all.series.map((name) => ({ name, colour: colourOf(name) })) : [];
  const head = headOf(look.title, legend, width);
  const carry: Plan["carry"] = (points) => ({
    render: (index, scales, values, dimensions, context, next) => {
      const group = next?.(index, scales, values, dimensions, context) ?? null;
      for (const [place, which] of index.entries()) {
        const [part, point] = [group?.children[place], points[which]];
        if (part && point) marks.set(part, { point, text: text(point) });
      }
      return group;
    },
  });
  const options = BUILDERS[look.kind]({ ...all, look, result, width, numbers, several, colourOf, carry });
  const svg = Plot.plot({ ...FRAME, width, ariaLabel: label, ...options });
  svg.setAttribute("role", "img");
  if (head.height > 0) {
    const height = Number(svg.getAttribute("height")) + head.height;
    svg.setAttribute("height", String(height));
    svg.setAttribute("viewBox", `0 ${-head.height} ${width} ${height}`);
    svg.append(head.draw());
  }
  // names on parts that have no role say nothing to a screen reader
  for (const part of svg.querySelectorAll("g[aria-label]")) {
    part.setAttribute("data-mark", (part.getAttribute("aria-label") ?? "").replace(/^rect$/, "bar"));
    part.removeAttribute("aria-label");
  }
  return { svg, marks };
}

/** The number of a series' colour, from 1: the one that was chosen, or else by its place. */
export function colourNumber(look: Look, series: string, all: readonly string[]): number {
  return look.colours[series] ?? (Math.max(0, all.indexOf(series)) % 8) + 1;
}

export function chartNumbers(look: Look, result: Drawn, points: readonly Point[]): Numbers {
  if (look.kind === "histogram") return numbersOf({ ...look, format: "auto", decimals: null }, undefined, []);
  return numbersOf(look, columnFormats(result.columns, result.rows)[look.y], points.map((point) => point.y));
}

const FRAME: Plot.PlotOptions = {
  style: { background: "transparent", color: "var(--ink-2)", fontFamily: "var(--sans)", fontSize: "12px", overflow: "visible" },
};

const percent = (value: number): string => `${Math.round(value * 100)}%`;
const known = (points: readonly Point[]): Point[] => points.filter((point) => !Number.isNaN(point.y));

function bars(plan: Plan, upright: boolean): Plot.PlotOptions {
  const { points, labels, series, look, result, width, numbers, several, colourOf } = plan;
  const stacked = plan.stack !== "grouped";
  const share = plan.stack === "share";
  const slots = several && !stacked ? series.length : 1;
  const short = share ? percent : numbers.short;
  const count = Math.max(1, labels.length);
  const place = new Map(labels.map((label, index) => [label, index]));
  const slot = new Map(series.map((name, index) => [name, stacked ? 0 : index]));
  const low = (point: Point) => (place.get(point.label) ?? 0) + 0.1 + (0.8 * (slot.get(point.series) ?? 0)) / slots;
  const high = (point: Point) => low(point) + 0.8 / slots;
  const drawn = known(points);
  const values = { label: fitted(valueTitle(plan), width - 80), labelArrow: "none", grid: true, tickSize: 0, tickFormat: short } as const;
  const fill = (point: Point) => colourOf(point.series);
  const inset = stacked ? 0.5 : 0;
  const ticks = labels.map((_, index) => index + 0.5);
  const ends = [0, ...drawn.map((point) => point.to)].map(short);
  if (upright) {
    const marginLeft = Math.max(48, 16 + widest(ends));
    const room = (width - marginLeft - 24) / count;
    const timed = isOverTime(look, result);
    const name = widest(labels);
    const fits = name + 8 < room;
    const every = timed ? Math.ceil((name + 12) / room) : 1;
    const rotated = !fits && !timed;
    const below = rotated ? Math.min(name, 170) : 0;
    return {
      height: 320 + below * 0.65,
      marginTop: 32,
      marginLeft,
      marginRight: 24,
      marginBottom: 44 + below * 0.65,
      x: { domain: [0, count], axis: null },
      y: { ...values, zero: true, ticks: 5 },
      marks: [
        Plot.rect(drawn, { x1: low, x2: high, y1: "from", y2: "to", fill, insetLeft: slots > 1 ? 0.5 : 0, insetTop: inset, ...plan.carry(drawn) }),
        Plot.ruleY([0], { stroke: "var(--edge)" }),
        Plot.axisX(ticks.filter((_, index) => index % every === 0), {
          tickSize: 0,
          // a slanting label ends at its tick and reaches to the left
          tickFormat: (at: number) => fitted(labels[Math.floor(at)] ?? "", rotated ? Math.min(170, (marginLeft + at * room) / SLANT) : Math.max(room * every, 60)),
          label: look.x_title || null,
          labelArrow: "none",
          labelAnchor: "center",
          labelOffset: 38 + below * 0.65,
          ...(rotated ? { tickRotate: -40 } : {}),
        }),
      ],
    };
  }
  const side = Math.min(width * 0.4, 16 + widest(labels));
  const written = slots > 3 || share ? [] : stacked ? totals(drawn) : drawn;
  const valueText = (point: Point) => (numbers.full(point.y).length > 9 ? numbers.short(point.y) : numbers.full(point.y));
  return {
    height: labels.length * Math.max(26, slots * 16 + 8) + 56,
    marginTop: 16 + (look.x_title ? 16 : 0),
    marginLeft: side,
    marginRight: Math.max(24, 14 + widest(written.map(valueText)), textWidth(ends.at(-1) ?? "") / 2),
    marginBottom: 36,
    x: { ...values, ticks: Math.max(2, Math.floor(width / 140)), ...(share ? { domain: [Math.min(0, ...drawn.map((point) => point.to)), 1] } : {}) },
    y: { domain: [labels.length, 0], axis: null },
    marks: [
      Plot.rect(drawn, { y1: low, y2: high, x1: "from", x2: "to", fill, insetRight: inset, insetTop: slots > 1 ? 0.5 : 0, ...plan.carry(drawn) }),
      Plot.text(written, { x: (point: Point) => Math.max(point.to, 0), y: (point: Point) => (low(point) + high(point)) / 2, text: valueText, dx: 6, textAnchor: "start", fill: "var(--ink)" }),
      Plot.ruleX([0], { stroke: "var(--edge)" }),
      Plot.axisY(ticks, { tickSize: 0, tickFormat: (at: number) => fitted(labels[Math.floor(at)] ?? "", side - 12), label: look.x_title || null, labelArrow: "none", labelAnchor: "top" }),
    ],
  };
}

/** For each category the sum of what lies on each other. */
function totals(points: readonly Point[]): Point[] {
  const sums = new Map<string, Point>();
  for (const point of points) {
    const before = sums.get(point.label);
    sums.set(point.label, before ? { ...before, y: before.y + point.y, to: Math.max(before.to, point.to) } : { ...point });
  }
  return [...sums.values()];
}

function overTime(plan: Plan): Plot.PlotOptions {
  const { points, look, width, numbers, several, series } = plan;
  const ends = several && look.kind === "line";
  const short = plan.stack === "share" ? percent : numbers.short;
  return {
    height: 336,
    marginTop: 32,
    marginLeft: Math.max(48, 16 + widest(known(points).map((point) => short(point.to)))),
    // below a tick of months there may be its year, and the name of the axis below that
    marginBottom: typeof points[0]?.x === "number" ? 40 : 52,
    marginRight: ends ? Math.min(width * 0.3, 20 + widest(series)) : 32,
    x: {
      label: look.x_title || nameOf(plan.result, look.x),
      labelArrow: "none",
      ...(typeof points[0]?.x === "number" ? { tickFormat: String, ticks: Math.max(2, Math.min(new Set(points.map((point) => point.x)).size, Math.floor(width / 90))) } : {}),
    },
    y: { label: fitted(valueTitle(plan), width - 80), labelArrow: "none", grid: true, zero: look.kind === "area" || (look.zero ?? true), ticks: 5, tickSize: 0, tickFormat: short },
  };
}

/** Lines that break where a value is missing; a value that has no neighbour is a dot. */
function lines({ points, several, colourOf, carry }: Plan, y: "y" | "to" = "y"): Plot.Markish[] {
  const stroke = (point: Point) => colourOf(point.series);
  const value = (index: number) => (points[index]?.series === undefined ? Number.NaN : points[index].y);
  const joined = (index: number, other: number) => points[index]?.series === points[other]?.series && !Number.isNaN(value(other));
  const all = points.length <= 60 * (several ? 3 : 1);
  const dots = points.filter((point, index) => !Number.isNaN(point.y) && (all || !(joined(index, index - 1) || joined(index, index + 1))));
  const reached = known(points);
  return [
    Plot.line(points, { x: "x", y, z: "series", stroke, strokeWidth: 1.75 }),
    Plot.dot(dots, { x: "x", y, fill: stroke, r: 2.5 }),
    Plot.dot(reached, { x: "x", y, r: 8, fill: "currentColor", fillOpacity: 0, ...carry(reached) }),
  ];
}

const BUILDERS: Record<Look["kind"], (plan: Plan) => Plot.PlotOptions> = {
  number: () => ({}),
  trend: ({ points, colourOf, width }) => {
    const last = known(points).slice(-1);
    return {
      width: Math.min(width, 360),
      height: 56,
      margin: 6,
      x: { axis: null },
      y: { axis: null },
      marks: [
        Plot.line(points, { x: "x", y: "y", stroke: colourOf(""), strokeWidth: 1.75 }),
        Plot.dot(last, { x: "x", y: "y", fill: colourOf(""), r: 3.5 }),
      ],
    };
  },
  bar: (plan) => bars(plan, false),
  column: (plan) => bars(plan, true),
  area: (plan) => {
    const fillOpacity = plan.stack !== "grouped" ? 0.75 : 0.18;
    return {
      ...overTime(plan),
      marks: [
        Plot.area(plan.points, { x1: "x", y1: "from", y2: "to", z: "series", fill: (point: Point) => plan.colourOf(point.series), fillOpacity }),
        ...lines(plan, "to"),
      ],
    };
  },
  line: (plan) => {
    const ends = plan.series.flatMap((name) => known(plan.points).findLast((point) => point.series === name) ?? []);
    const named: Plot.RenderFunction = (_, { x, y }, __, { marginRight, height, marginBottom }) =>
      drawEndLabels(
        ends.map((point) => ({ text: point.series, colour: plan.colourOf(point.series), x: x?.(point.x) ?? 0, y: y?.(point.y) ?? 0 })),
        marginRight,
        height - marginBottom,
      );
    return { ...overTime(plan), marks: [...lines(plan), plan.several ? named : null] };
  },
  scatter: (plan) => {
    const { points, look, result, width, numbers, colourOf } = plan;
    const across = numbersOf({ ...look, format: "auto", decimals: null }, undefined, []).short;
    const axis = { labelArrow: "none", grid: true, ticks: 6, tickSize: 0, zero: look.zero ?? false } as const;
    return {
      height: 380,
      marginLeft: Math.max(48, 16 + widest(points.map((point) => numbers.short(point.y)))),
      marginRight: 32,
      marginBottom: 40,
      marginTop: 32,
      x: { ...axis, label: look.x_title || nameOf(result, look.x), tickFormat: across },
      y: { ...axis, label: fitted(valueTitle(plan), width - 80), tickFormat: numbers.short },
      marks: [Plot.dot(points, { x: "x", y: "y", r: 4, fill: (point: Point) => colourOf(point.series), fillOpacity: 0.65, ...plan.carry(points) })],
    };
  },
  histogram: (plan) => {
    const { points, look, numbers, colourOf } = plan;
    return {
      height: 320,
      marginTop: 32,
      marginLeft: 48,
      marginRight: 32,
      marginBottom: 40,
      x: { label: look.x_title || nameOf(plan.result, look.y), labelArrow: "none", tickSize: 0, ticks: 8, tickFormat: numbersOf(look, undefined, points.map((point) => point.from)).short },
      y: { label: look.y_title || "Number of rows", labelArrow: "none", grid: true, zero: true, ticks: 5, tickSize: 0, tickFormat: numbers.short },
      marks: [
        Plot.rect(points, { x1: "from", x2: "to", y1: () => 0, y2: "y", fill: colourOf(""), insetLeft: 0.5, insetRight: 0.5, ...plan.carry(points) }),
        Plot.ruleY([0], { stroke: "var(--edge)" }),
      ],
    };
  },
  heatmap: (plan) => {
    const { points, labels, series, look, result, width, numbers } = plan;
    const marginLeft = Math.min(width * 0.35, 16 + widest(series));
    const name = Math.min(widest(labels), 170);
    const fits = name + 8 < (width - marginLeft - MARGIN_RIGHT) / Math.max(1, labels.length);
    return {
      height: series.length * 28 + 40 + (fits ? 40 : 36 + name * 0.6),
      marginTop: 32,
      marginLeft,
      marginRight: MARGIN_RIGHT,
      marginBottom: fits ? 44 : 40 + name * 0.6,
      x: { label: look.x_title || nameOf(result, look.x), labelAnchor: "right", labelArrow: "none", axis: "bottom", tickSize: 0, tickFormat: (text: string) => fitted(text, fits ? 170 : Math.min(170, marginLeft / SLANT)), ...(fits ? {} : { tickRotate: -40 }) },
      y: { label: look.y_title || nameOf(result, look.series), labelAnchor: "top", labelArrow: "none", tickSize: 0, tickFormat: (text: string) => fitted(text, marginLeft - 12) },
      marks: [
        Plot.cell(points, { x: "label", y: "series", fill: "var(--c1)", fillOpacity: opacity(points), inset: 1, ...plan.carry(points) }),
        Plot.text(points, { x: "label", y: "series", text: (point: Point) => numbers.short(point.y), fill: "var(--ink)", pointerEvents: "none" }),
      ],
    };
  },
};

const MARGIN_RIGHT = 20;

/** How wide a label is that is turned by 40 degrees, as a part of its length. */
const SLANT = 0.8;

const nameOf = (result: Drawn, column: number): string | null => {
  const name = result.columns[column];
  return name === undefined ? null : axisTitle(name);
};

/** The name of the axis of values; none where several measures share it and the colours name them. */
function valueTitle({ look, result }: Plan): string {
  return look.y_title || (measuresOf(look).length > 1 ? "" : (nameOf(result, look.y) ?? ""));
}

/** Faint to strong, the text on it staying readable. */
function opacity(points: readonly Point[]): (point: Point) => number {
  const most = Math.max(...points.map((point) => Math.abs(point.y)), 1e-9);
  return (point) => 0.04 + 0.42 * (Math.abs(point.y) / most);
}

/** The names of a point, and below them its values, each with the column's name in words. */
function textOf(look: Look, result: Drawn, numbers: Numbers, { points, stack }: Points): (point: Point) => string {
  const formats = columnFormats(result.columns, result.rows);
  if (look.kind === "histogram") {
    const bounds = numbersOf(look, formats[look.y], points.map((point) => point.from)).full;
    return ({ from, to, y }) => `${nameOf(result, look.y)}: ${bounds(from)} to ${bounds(to)}\n${y === 1 ? "1 row" : `${numbers.full(y)} rows`}`;
  }
  return (point) => {
    const share = stack === "share" ? ` (${percent(Math.abs(point.to - point.from))})` : "";
    const values = [`${nameOf(result, point.column)}: ${numbers.full(point.y)}${share}`];
    if (look.kind === "scatter" && typeof point.x === "number") values.unshift(`${nameOf(result, look.x)}: ${cellText(point.x, formats[look.x])}`);
    const several = measuresOf(look).length > 1;
    const names = [point.label, several ? "" : point.series].filter(Boolean);
    return [names.join(", "), ...values].filter(Boolean).join("\n");
  };
}
