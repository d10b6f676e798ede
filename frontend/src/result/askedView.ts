/** The view that the words of a question ask for: `plot sales by month`, `orders by city as a bar chart`, `… in a table`. */
import type { Chart, ChartKind } from "./chooseChart";

export interface AskedView {
  view: "table" | "chart";
  /** The chart that was named; a pie is drawn as bars, which show the same shares more exactly. */
  kind: ChartKind | null;
}

const TABLE = /\b(?:as|in) a table\b|^(?:please )?tabulate\b/i;
const CHART =
  /^(?:(?:please|can you|could you) )?(?:plot|chart|graph|draw|visuali[sz]e)\b|\b(?:chart|graph|plot|diagram)\b/i;
const KIND = /\b(bar|column|line|area|scatter|pie)\b/i;

export function askedView(question: string): AskedView | null {
  if (TABLE.test(question)) return { view: "table", kind: null };
  if (!CHART.test(question)) return null;
  const named = KIND.exec(question)?.[1]?.toLowerCase();
  return { view: "chart", kind: named === "pie" ? "bar" : ((named as ChartKind | undefined) ?? null) };
}

/** The charts with the one that was asked for first; as they are where the shape does not allow it. */
export function preferred(charts: Chart[], asked: AskedView | null): Chart[] {
  const first = charts.find((chart) => chart.kind === asked?.kind);
  return first ? [first, ...charts.filter((chart) => chart !== first)] : charts;
}
