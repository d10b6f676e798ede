/** One number written large with its name; the latest of a series also with its change against the value before. */
import css from "./ChartView.module.css";
import { chartNumbers } from "./drawChart";
import { cellText } from "./columnKinds";
import type { Look } from "./look";
import { type Drawn, pointsOf } from "./points";

export function BigNumber({ look, result }: { look: Look; result: Drawn }) {
  const { points } = pointsOf(look, result);
  const numbers = chartNumbers(look, result, points);
  const known = points.filter((point) => !Number.isNaN(point.y));
  const [last, before] = [known.at(-1), known.at(-2)];
  const other = result.columns.findIndex((_, index) => index !== look.y);
  const name = look.kind === "trend" ? last?.label : other >= 0 ? cellText(result.rows[0]?.[other] ?? null) : undefined;
  const unit = result.units?.[look.y];
  return (
    <>
      {look.title && <p className={css["title"]}>{look.title}</p>}
      <p className={css["number"]}>
        {last ? numbers.full(last.y) : "NULL"}
        {unit && look.format === "auto" && <span className={css["of"]}>{unit === "percent" ? "%" : unit}</span>}
        {name !== undefined && <span className={css["of"]}>{name}</span>}
      </p>
      {look.kind === "trend" && last && before && (
        <p className={css["change"]}>{changeText(last.y, before.y, before.label, numbers.full)}</p>
      )}
    </>
  );
}

function changeText(last: number, before: number, when: string, written: (value: number) => string): string {
  if (last === before) return `As in ${when}`;
  const sign = last > before ? "▲ +" : "▼ −";
  const share = before === 0 ? "" : ` (${Math.abs((last - before) / before).toLocaleString("en", { style: "percent", maximumFractionDigits: 1 })})`;
  return `${sign}${written(Math.abs(last - before))}${share} against ${when}, which had ${written(before)}`;
}
