/** A chart of the result in the form that one chooses, and its picture to take away. */
import { useMemo, useRef, useState } from "react";
import { Button } from "../shell/Button";
import { Menu } from "../shell/Menu";
import css from "./ChartView.module.css";
import Drawing from "./Drawing";
import { describeChart } from "./describeChart";
import { ChartKinds, EditChart } from "./EditChart";
import type { OnPick } from "./followMarks";
import type { Chart, Look } from "./look";
import type { Result } from "./results";
import { saveDrawing, savePicture } from "./savePicture";

interface Props {
  result: Result;
  charts: readonly Chart[];
  look: Look;
  onLook: (look: Look) => void;
  name: string;
  onPick?: OnPick | undefined;
}

export default function ChartView({ result, charts, look, onLook, name, onPick }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLSpanElement>(null);
  const [editing, setEditing] = useState(false);
  const label = useMemo(() => describeChart(look, result), [look, result]);
  const partial = result.rows.length < result.total;
  const drawn = () => host.current?.querySelector("svg") ?? null;
  return (
    <figure className={css["figure"]}>
      <div className={css["choices"]}>
        <ChartKinds charts={charts} look={look} onLook={onLook} />
        <span ref={opener}>
          <Button compact icon="edit" aria-expanded={editing} onClick={() => setEditing(!editing)}>
            Edit chart
          </Button>
        </span>
      </div>
      <div className={css["body"]} data-editing={editing || undefined}>
        <div className={css["drawn"]}>
          <Drawing look={look} result={result} label={label} host={host} onPick={onPick} />
        </div>
        {editing && (
          <EditChart
            result={result}
            look={look}
            onLook={onLook}
            onClose={() => {
              setEditing(false);
              opener.current?.querySelector("button")?.focus();
            }}
          />
        )}
      </div>
      <figcaption className={css["caption"]}>
        <span>
          {label}
          {partial && `, the first ${result.rows.length} of ${result.total.toLocaleString("en")} rows`}
        </span>
        {look.kind !== "number" && look.kind !== "trend" && (
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
