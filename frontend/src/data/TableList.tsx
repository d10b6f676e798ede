/** The tables by name, with how long they are; while searching, also which columns were found. */
import { useState } from "react";
import type { SchemaTable } from "../api/types";
import { cellText } from "../result/columnKinds";
import { Button } from "../shell/Button";
import { counted } from "../shell/counted";
import { columnMatches } from "./search";
import css from "./TableList.module.css";

interface Props {
  tables: readonly SchemaTable[];
  current: string | null;
  search: string;
  onPick: (name: string) => void;
}

/** Tables that are listed at once. */
const STEP = 100;

export function TableList({ tables: all, current, search, onPick }: Props) {
  const [most, setMost] = useState(STEP);
  const tables = all.slice(0, most);
  return (
    <>
    <ul className={css["list"]}>
      {tables.map((table) => {
        const found = table.columns.filter((column) => columnMatches(column, search));
        return (
          <li key={table.name}>
            <button
              type="button"
              className={css["table"]}
              aria-current={table.name === current || undefined}
              onClick={() => onPick(table.name)}
            >
              <span className={css["name"]}>
                {table.name}
                {table.kind === "view" && <span className={css["kind"]}> view</span>}
              </span>
              <span className={css["count"]}>{table.row_count === null ? "" : cellText(table.row_count)}</span>
              {found.length > 0 && <span className={css["found"]}>{found.map((c) => c.name).join(", ")}</span>}
            </button>
          </li>
        );
      })}
    </ul>
      {all.length > most && (
        <Button onClick={() => setMost(most + STEP)}>{counted(all.length - most, "more table")}</Button>
      )}
    </>
  );
}
