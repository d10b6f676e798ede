/** A chart, drawn as wide as its place. */
import { type RefObject, useEffect, useRef, useState } from "react";
import { BigNumber } from "./BigNumber";
import css from "./ChartView.module.css";
import { drawChart } from "./drawChart";
import { followMarks, type OnPick } from "./followMarks";
import type { Look } from "./look";
import type { Drawn } from "./points";

interface Props {
  look: Look;
  result: Drawn;
  label: string;
  /** Holds the drawing, for whoever saves it. */
  host?: RefObject<HTMLDivElement | null>;
  onPick?: OnPick | undefined;
}

export default function Drawing({ look, result, label, host, onPick }: Props) {
  const own = useRef<HTMLDivElement>(null);
  const box = host ?? own;
  const width = useWidth(box);
  const picking = onPick !== undefined;
  const latest = useRef(onPick);
  useEffect(() => {
    latest.current = onPick;
  });

  useEffect(() => {
    const place = box.current;
    if (!place || look.kind === "number" || width === 0) return;
    const { svg, marks } = drawChart(look, result, width, label);
    return followMarks(place, svg, marks, picking ? (pick, at) => latest.current?.(pick, at) : undefined);
  }, [look, result, width, label, box, picking]);

  return (
    <>
      {(look.kind === "number" || look.kind === "trend") && <BigNumber look={look} result={result} />}
      {/* also there for a number, so that its width is known when another kind is chosen */}
      <div ref={box} className={css["plot"]} data-palette={look.palette} />
    </>
  );
}

function useWidth(host: RefObject<HTMLDivElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (!host.current) return;
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.round(entry.contentRect.width)));
    observer.observe(host.current);
    return () => observer.disconnect();
  }, [host]);
  return width;
}
