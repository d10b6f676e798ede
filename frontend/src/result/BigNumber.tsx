/** A result that is one number, written large with its name. */
import css from "./ChartView.module.css";
import type { Chart } from "./chooseChart";
import { cellText, columnFormats } from "./columnKinds";
import type { Drawn } from "./drawChart";

export function BigNumber({ chart, result }: { chart: Chart; result: Drawn }) {
  const format = columnFormats(result.columns, result.rows)[chart.y];
  const other = result.columns.findIndex((_, index) => index !== chart.y);
  const name = other >= 0 ? result.rows[0]?.[other] : undefined;
  const unit = result.units?.[chart.y];
  return (
    <p className={css["number"]}>
      {cellText(result.rows[0]?.[chart.y] ?? null, format)}
      {unit && <span className={css["of"]}>{unit === "percent" ? "%" : unit}</span>}
      {name !== undefined && <span className={css["of"]}>{cellText(name ?? null)}</span>}
    </p>
  );
}
