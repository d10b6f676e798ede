/** What a chart shows, in one line: its caption, and its name for those who do not see it. */
import { axisTitle } from "./axisTitle";
import { type Chart, nameParts } from "./chooseChart";
import { columnFormats } from "./columnKinds";
import type { Drawn } from "./drawChart";

export function describeChart(chart: Chart, result: Drawn): string {
  const title = (index: number) => axisTitle(result.columns[index] ?? "");
  const within = (index: number) => title(index).replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());
  if (chart.kind === "number") return title(chart.y);
  if (chart.kind === "heatmap") return `${title(chart.y)} by ${within(chart.x)} and ${within(chart.series)}`;
  const upright = chart.kind === "bar" || chart.kind === "column";
  const names = upright ? nameParts(result.rows, chart, columnFormats(result.columns, result.rows)) : [chart.x];
  const by = `${title(chart.y)} by ${names.map(within).join(" and ")}`;
  return chart.series >= 0 ? `${by}, for each ${within(chart.series)}` : by;
}
