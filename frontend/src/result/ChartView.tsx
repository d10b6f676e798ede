/** A chart of the result in the form and the order that one chooses, and its picture to take away. */
import { useMemo, useRef } from "react";
import { Button } from "../shell/Button";
import { Menu } from "../shell/Menu";
import { canBeOrdered, CHART_NAMES, type Chart, type Look, ORDER_NAMES, type Order } from "./chooseChart";
import css from "./ChartView.module.css";
import Drawing from "./Drawing";
import { describeChart } from "./describeChart";
import type { Result } from "./results";
import { saveDrawing, savePicture } from "./savePicture";

interface Props {
  result: Result;
  charts: readonly Chart[];
  look: Look;
  onLook: (look: Look) => void;
  name: string;
}

export default function ChartView({ result, charts, look, onLook, name }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const label = useMemo(() => describeChart(look, result), [look, result]);
  const partial = result.rows.length < result.total;
  const drawn = () => host.current?.querySelector("svg") ?? null;
  return (
    <figure className={css["figure"]}>
      {(charts.length > 1 || canBeOrdered(look.kind)) && (
        <div className={css["choices"]}>
          <div className={css["kinds"]} role="group" aria-label="Kind of chart">
            {charts.map((chart) => (
              <Button
                key={chart.kind}
                aria-pressed={chart.kind === look.kind}
                onClick={() => onLook({ ...chart, order: look.order })}
              >
                {CHART_NAMES[chart.kind]}
              </Button>
            ))}
          </div>
          {canBeOrdered(look.kind) && (
            <label className={css["order"]}>
              Sorted
              <select value={look.order} onChange={(event) => onLook({ ...look, order: event.target.value as Order })}>
                {Object.entries(ORDER_NAMES).map(([order, words]) => (
                  <option key={order} value={order}>
                    {words}
                  </option>
                ))}
              </select>
            </label>
          )}
        </div>
      )}
      <Drawing look={look} result={result} label={label} host={host} />
      <figcaption className={css["caption"]}>
        <span>
          {label}
          {partial && `, the first ${result.rows.length} of ${result.total.toLocaleString("en")} rows`}
        </span>
        {look.kind !== "number" && (
          <Menu
            icon="download"
            label="Save the chart"
            items={[
              { name: "PNG picture", run: () => void savePicture(drawn(), name) },
              { name: "SVG drawing", run: () => saveDrawing(drawn(), name) },
            ]}
          />
        )}
      </figcaption>
    </figure>
  );
}
