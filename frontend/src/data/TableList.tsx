/** The tables by name, with how long they are; while searching, also which columns were found. */
import type { SchemaTable } from "../api/types";
import { cellText } from "../result/columnKinds";
import { columnMatches } from "./search";
import css from "./TableList.module.css";

interface Props {
  tables: readonly SchemaTable[];
  current: string | null;
  search: string;
  onPick: (name: string) => void;
}

export function TableList({ tables, current, search, onPick }: Props) {
  return (
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
  );
}
