/** A chart, drawn as wide as its place. */
import { type RefObject, useEffect, useRef, useState } from "react";
import { BigNumber } from "./BigNumber";
import css from "./ChartView.module.css";
import type { Look } from "./chooseChart";
import { type Drawn, drawChart } from "./drawChart";

interface Props {
  look: Look;
  result: Drawn;
  label: string;
  /** Holds the drawing, for whoever saves it. */
  host?: RefObject<HTMLDivElement | null>;
}

export default function Drawing({ look, result, label, host }: Props) {
  const own = useRef<HTMLDivElement>(null);
  const box = host ?? own;
  const width = useWidth(box);

  useEffect(() => {
    const place = box.current;
    if (!place || look.kind === "number" || width === 0) return;
    place.replaceChildren(drawChart(look, result, width, label));
    return () => place.replaceChildren();
  }, [look, result, width, label, box]);

  if (look.kind === "number") return <BigNumber chart={look} result={result} />;
  return <div ref={box} className={css["plot"]} />;
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
