/** A field above each column; what is typed is sent once one pauses. */
import { useEffect, useState } from "react";
import type { ColumnFormat } from "./columnKinds";
import type { Filters } from "./filters";
import css from "./ResultTable.module.css";

interface Props {
  columns: readonly string[];
  formats: readonly ColumnFormat[];
  filters: Filters;
  template: string;
  onChange: (filters: Filters) => void;
}

const PAUSE_MS = 250;

export function FilterRow({ columns, formats, filters, template, onChange }: Props) {
  const [typed, setTyped] = useState(filters);
  useEffect(() => {
    const timer = setTimeout(() => onChange(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, onChange]);
  return (
    <div role="row" className={`${css["row"]} ${css["filters"]}`} style={{ gridTemplateColumns: template }}>
      <span role="cell" />
      {columns.map((name, index) => (
        // columns may share a name
        <span role="cell" key={`${index}-${name}`} className={css["filter"]}>
          <input
            aria-label={`Filter ${name}`}
            placeholder={formats[index]?.kind === "number" ? "> 0" : "contains"}
            value={typed[index] ?? ""}
            onChange={(event) => setTyped({ ...typed, [index]: event.target.value })}
          />
        </span>
      ))}
    </div>
  );
}
