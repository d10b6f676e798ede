/** A column's most frequent values, and how many there are. */
import { useQuery } from "@tanstack/react-query";
import { valuesQuery } from "../api/queries";
import type { SchemaColumn } from "../api/types";
import { cellText } from "../result/columnKinds";
import css from "./ColumnProfile.module.css";

interface Props {
  preset: string;
  table: string;
  column: SchemaColumn;
}

export function ColumnProfile({ preset, table, column }: Props) {
  const { data, error } = useQuery(valuesQuery(preset, table, column.name));
  if (error) return <p className={css["profile"]}>{error.message}</p>;
  if (!data) return <p className={css["profile"]}>Counting…</p>;
  const most = Math.max(1, ...data.values.map((value) => value.count));
  const facts = [
    data.distinct === null ? null : `${cellText(data.distinct)} different`,
    data.nulls === null ? null : data.nulls === 0 ? "no NULL" : `${cellText(data.nulls)} NULL`,
    data.min === null ? null : `from ${String(data.min)} to ${String(data.max)}`,
  ].filter(Boolean);
  return (
    <div className={css["profile"]}>
      <p className={css["facts"]}>{facts.join(", ")}</p>
      <ol className={css["values"]}>
        {data.values.map(({ value, count }, index) => (
          // the same text may stand for two values of different types
          <li key={index} className={css["value"]}>
            <span className={css["text"]} data-null={value === null || undefined}>
              {value === "" ? "empty text" : value === null ? "NULL" : String(value)}
            </span>
            <span className={css["track"]} aria-hidden="true">
              <span className={css["bar"]} style={{ inlineSize: `${(count / most) * 100}%` }} />
            </span>
            <span className={css["count"]}>{cellText(count)}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}
