/** The condition on which an alert is told. */
import { useQuery } from "@tanstack/react-query";
import { keptQuery } from "../api/queries";
import type { Condition } from "../api/scheduleTypes";
import dialogCss from "../shell/Dialog.module.css";
import { Check } from "./Check";
import css from "./Schedules.module.css";

const KINDS: [Condition["kind"], string][] = [
  ["above", "a value goes above"],
  ["below", "a value goes below"],
  ["changes", "a value changes by"],
  ["new rows", "there are new rows"],
];

interface OnlyWhenProps {
  keptId: string;
  condition: Condition | null;
  onChange: (condition: Condition | null) => void;
  quiet: number;
  onQuiet: (hours: number) => void;
}

export function OnlyWhen({ keptId, condition, onChange, quiet, onQuiet }: OnlyWhenProps) {
  const kept = useQuery(keptQuery);
  const rows = kept.data?.find((answer) => answer.kept_id === keptId)?.result;
  const columns = rows?.columns ?? [];
  const numeric = columns.filter((_, place) => rows?.rows.some((row) => typeof row[place] === "number"));
  const offered = [...new Set([...(condition?.column ? [condition.column] : []), ...(numeric.length > 0 ? numeric : columns)])];

  function choose(kind: string) {
    if (kind === "") return onChange(null);
    const column = kind === "new rows" ? "" : condition?.column || offered[0] || "";
    onChange({ kind: kind as Condition["kind"], column, value: condition?.value ?? 0, percent: kind === "changes" });
  }

  return (
    <div className={css["row"]}>
      <label className={dialogCss["field"]}>
        <span>Only when</span>
        <select value={condition?.kind ?? ""} onChange={(e) => choose(e.target.value)}>
          <option value="">every time</option>
          {KINDS.map(([kind, name]) => (
            <option key={kind} value={kind}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {condition && condition.kind !== "new rows" && (
        <>
          <label className={dialogCss["field"]}>
            <span>Column</span>
            <select value={condition.column} onChange={(e) => onChange({ ...condition, column: e.target.value })}>
              {offered.map((column) => (
                <option key={column}>{column}</option>
              ))}
            </select>
          </label>
          <label className={dialogCss["field"]}>
            <span>Value</span>
            <input
              type="number"
              step="any"
              required
              value={condition.value}
              onChange={(e) => onChange({ ...condition, value: Number(e.target.value) })}
            />
          </label>
        </>
      )}
      {condition?.kind === "changes" && (
        <Check label="in percent" on={condition.percent} set={(percent) => onChange({ ...condition, percent })} />
      )}
      {condition && (
        <label className={dialogCss["field"]}>
          <span>Then quiet for hours</span>
          <input type="number" min={0} max={720} value={quiet} onChange={(e) => onQuiet(Number(e.target.value))} />
        </label>
      )}
    </div>
  );
}
