/** How a chart is shown, in the form in which it is kept, and the words for its choices. */
import type { KeptChart } from "../api/chartTypes";

export type Look = KeptChart;
export type ChartKind = Look["kind"];

/** A chart that suits a result: what is not said of it is as usual. */
export type Chart = Pick<Look, "kind" | "x" | "y" | "series"> & Partial<Look>;

const USUAL: Omit<Look, "kind"> = {
  x: -1,
  y: -1,
  more: [],
  series: -1,
  order: "given",
  stack: "grouped",
  top: null,
  title: "",
  x_title: "",
  y_title: "",
  palette: "distinct",
  colours: {},
  format: "auto",
  currency: "EUR",
  decimals: null,
  zero: null,
};

/** Also reads charts that were kept when there was less to choose. */
export const lookOf = (chart: Pick<Look, "kind"> & Partial<Look>): Look => ({ ...USUAL, ...chart });

/** The columns whose values are drawn. */
export const measuresOf = (look: Look): number[] => [look.y, ...(MANY_MEASURES.has(look.kind) ? look.more : [])];

export const isUpright = (kind: ChartKind): boolean => kind === "bar" || kind === "column";
export const MANY_MEASURES: ReadonlySet<ChartKind> = new Set(["bar", "column", "line", "area"]);

export const CHART_NAMES: Record<ChartKind, string> = {
  number: "Number",
  trend: "Latest",
  bar: "Bars",
  column: "Columns",
  line: "Line",
  area: "Area",
  scatter: "Scatter",
  heatmap: "Map of counts",
  histogram: "Histogram",
};

export const ORDER_NAMES: Record<Look["order"], string> = {
  given: "as in the table",
  largest: "largest first",
  smallest: "smallest first",
  name: "by name",
};

export const STACK_NAMES: Record<Look["stack"], string> = {
  grouped: "side by side",
  stacked: "on top of each other",
  share: "as shares of 100%",
};

/** The names of each palette's colours. */
export const COLOURS: Record<Look["palette"], readonly string[]> = {
  distinct: ["petrol", "orange", "green", "red", "blue", "yellow", "violet", "grey"],
  blue: shades("blue"),
  amber: shades("amber"),
  grey: shades("grey"),
};

export const PALETTE_NAMES: Record<Look["palette"], string> = {
  distinct: "different colours",
  blue: "shades of blue",
  amber: "shades of amber",
  grey: "shades of grey",
};

export const FORMAT_NAMES: Record<Look["format"], string> = {
  auto: "as in the table",
  plain: "plain",
  compact: "short (1.2M)",
  percent: "percent",
  currency: "money",
};

function shades(name: string): string[] {
  return Array.from({ length: 8 }, (_, index) => `${name} ${index + 1}`);
}
