/** A chart of the result, one of those that its shape allows, and its picture to take away. */
import { useEffect, useMemo, useRef, useState } from "react";
import { Button } from "../shell/Button";
import { BigNumber } from "./BigNumber";
import css from "./ChartView.module.css";
import { CHART_NAMES, type Chart, nameParts } from "./chooseChart";
import { columnFormats } from "./columnKinds";
import { drawChart } from "./drawChart";
import type { Result } from "./results";
import { savePicture } from "./savePicture";

interface Props {
  result: Result;
  charts: readonly Chart[];
  name: string;
}

export default function ChartView({ result, charts, name }: Props) {
  const [picked, setPicked] = useState(0);
  const chart = charts[picked] ?? charts[0];
  const host = useRef<HTMLDivElement>(null);
  const width = useWidth(host);
  const label = useMemo(() => (chart ? describe(chart, result) : ""), [chart, result]);

  useEffect(() => {
    const box = host.current;
    if (!box || !chart || chart.kind === "number" || width === 0) return;
    box.replaceChildren(drawChart(chart, result, width, label));
    return () => box.replaceChildren();
  }, [chart, result, width, label]);

  if (!chart) return null;
  const partial = result.rows.length < result.total;
  return (
    <figure className={css["figure"]}>
      {charts.length > 1 && (
        <div className={css["kinds"]} role="group" aria-label="Kind of chart">
          {charts.map((c, index) => (
            <Button key={c.kind} aria-pressed={c === chart} onClick={() => setPicked(index)}>
              {CHART_NAMES[c.kind]}
            </Button>
          ))}
        </div>
      )}
      {chart.kind === "number" ? <BigNumber chart={chart} result={result} /> : <div ref={host} className={css["plot"]} />}
      <figcaption className={css["caption"]}>
        <span>
          {label}
          {partial && `, the first ${result.rows.length} of ${result.total.toLocaleString("en")} rows`}
        </span>
        {chart.kind !== "number" && (
          <Button icon="download" onClick={() => void savePicture(host.current?.querySelector("svg") ?? null, name)}>
            Image
          </Button>
        )}
      </figcaption>
    </figure>
  );
}

function describe(chart: Chart, result: Result): string {
  const column = (index: number) => result.columns[index] ?? "";
  if (chart.kind === "number") return column(chart.y);
  if (chart.kind === "heatmap") return `${column(chart.y)} by ${column(chart.x)} and ${column(chart.series)}`;
  const names = chart.kind === "bar" ? namingColumns(result, chart) : [chart.x];
  const by = `${column(chart.y)} by ${names.map(column).join(" and ")}`;
  return chart.series >= 0 ? `${by}, for each ${column(chart.series)}` : by;
}

/** The columns that a bar is named after. */
function namingColumns(result: Result, chart: Chart): number[] {
  return nameParts(result.rows, chart, columnFormats(result.columns, result.rows));
}

function useWidth(host: React.RefObject<HTMLDivElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (!host.current) return;
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.round(entry.contentRect.width)));
    observer.observe(host.current);
    return () => observer.disconnect();
  }, [host]);
  return width;
}
