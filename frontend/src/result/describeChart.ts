/** What a chart shows, in one line: its caption, and its name for those who do not see it. */
import { axisTitle } from "./axisTitle";
import { nameParts } from "./chooseChart";
import { columnFormats } from "./columnKinds";
import { isUpright, type Look, measuresOf } from "./look";
import { type Drawn, measureTitles, pointsOf } from "./points";

export function describeChart(look: Look, result: Drawn): string {
  const { notes } = look.kind === "number" ? { notes: [] } : pointsOf(look, result);
  return [look.title ? `${look.title}: ${shown(look, result)}` : shown(look, result), ...notes].join(", ");
}

const lower = (text: string): string => text.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());

function shown(look: Look, result: Drawn): string {
  const title = (index: number) => axisTitle(result.columns[index] ?? "");
  const within = (index: number) => lower(title(index));
  if (look.kind === "number") return title(look.y);
  if (look.kind === "trend") return `Latest ${within(look.y)} by ${within(look.x)}`;
  if (look.kind === "histogram") return `Number of rows by ${within(look.y)}`;
  if (look.kind === "heatmap") return `${title(look.y)} by ${within(look.x)} and ${within(look.series)}`;
  const [first = "", ...others] = measureTitles(measuresOf(look), result);
  const names = isUpright(look.kind) ? nameParts(result.rows, look, columnFormats(result.columns, result.rows)) : [look.x];
  const by = `${[first, ...others.map(lower)].join(" and ")} by ${names.map(within).join(" and ")}`;
  return look.series >= 0 && others.length === 0 ? `${by}, for each ${within(look.series)}` : by;
}
