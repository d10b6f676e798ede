/** A chart as the HTTP API documents it. */

/** How a kept answer is shown; columns are counted from 0, -1 stands for none. What was kept earlier may lack fields. */
export interface KeptChart {
  kind: "number" | "trend" | "bar" | "column" | "line" | "area" | "scatter" | "heatmap" | "histogram";
  /** Column on the horizontal axis (bar, column: the category). */
  x: number;
  /** Column of the measure. */
  y: number;
  /** Columns of further measures, drawn beside the first. */
  more: number[];
  /** Second category of a map, or what tells the colours apart. */
  series: number;
  /** The order of bars and columns: as the rows came, by size, or by name. */
  order: "given" | "largest" | "smallest" | "name";
  stack: "grouped" | "stacked" | "share";
  /** So many categories, the largest; null: all. */
  top: number | null;
  title: string;
  x_title: string;
  y_title: string;
  palette: "distinct" | "blue" | "amber" | "grey";
  /** The colour of a series by its name, counted from 1. */
  colours: Record<string, number>;
  format: "auto" | "plain" | "compact" | "percent" | "currency";
  currency: string;
  decimals: number | null;
  /** Whether the axis begins at zero; null: as is usual for the kind. */
  zero: boolean | null;
}
