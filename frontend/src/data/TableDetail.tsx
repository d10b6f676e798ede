/** One table: its columns with types, keys and links, the most frequent values of a column, and its first rows. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { profileQuery } from "../api/queries";
import type { ColumnFacts, SchemaColumn, SchemaTable } from "../api/types";
import { counted } from "../shell/counted";
import { Icon } from "../shell/Icon";
import { ColumnProfile } from "./ColumnProfile";
import { factsOf, worthKnowing } from "./facts";
import { Sample } from "./Sample";
import { columnMatches } from "./search";
import css from "./TableDetail.module.css";

interface Props {
  preset: string;
  table: SchemaTable;
  search: string;
  onOpen: (table: string) => void;
}

export function TableDetail({ preset, table, search, onOpen }: Props) {
  const [column, setColumn] = useState<string | null>(null);
  const profile = useQuery(profileQuery(preset));
  const facts = new Map(profile.data?.columns.filter((c) => c.table === table.name).map((c) => [c.column, c]));
  const known = profile.data ? worthKnowing(profile.data, table.name) : [];
  return (
    <section className={css["detail"]} aria-labelledby="table-title">
      <header>
        <h2 id="table-title" className={css["title"]}>
          {table.name}
        </h2>
        <p className={css["facts"]}>
          {table.row_count === null ? "rows not counted" : counted(table.row_count, "row")},{" "}
          {counted(table.columns.length, "column")}
          {table.kind === "view" ? ", a view" : ""}
        </p>
        {table.comment && <p className={css["comment"]}>{table.comment}</p>}
      </header>
      <ul className={css["columns"]}>
        {table.columns.map((each) => (
          <ColumnLine
            key={each.name}
            preset={preset}
            table={table.name}
            column={each}
            facts={facts.get(each.name)}
            found={columnMatches(each, search)}
            open={column === each.name}
            onToggle={() => setColumn(column === each.name ? null : each.name)}
            onOpen={onOpen}
          />
        ))}
      </ul>
      {known.length > 0 && (
        <section aria-labelledby="known-title">
          <h3 id="known-title" className={css["heading"]}>
            Worth knowing
          </h3>
          <ul className={css["known"]}>
            {known.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </section>
      )}
      <Sample preset={preset} table={table.name} />
    </section>
  );
}

interface LineProps {
  preset: string;
  table: string;
  column: SchemaColumn;
  facts: ColumnFacts | undefined;
  found: boolean;
  open: boolean;
  onToggle: () => void;
  onOpen: (table: string) => void;
}

function ColumnLine({ preset, table, column, facts, found, open, onToggle, onOpen }: LineProps) {
  const target = column.foreign_key?.slice(0, column.foreign_key.lastIndexOf("."));
  return (
    <li className={css["column"]} data-found={found || undefined}>
      <button type="button" className={css["name"]} aria-expanded={open} onClick={onToggle}>
        <Icon name="chevron" />
        <span>{column.name}</span>
      </button>
      <span className={css["type"]}>
        {column.type.toLowerCase() || "any"}
        {!column.nullable && !column.primary_key && ", never NULL"}
      </span>
      <span className={css["keys"]}>
        {column.primary_key && (
          <span className={css["primary"]}>
            <Icon name="key" /> key
          </span>
        )}
        {target && (
          <button
            type="button"
            className={css["link"]}
            title={column.inferred ? "Read from names and values, not declared" : "Declared foreign key"}
            onClick={() => onOpen(target)}
          >
            {column.inferred ? "likely " : ""}
            {column.foreign_key}
          </button>
        )}
        {facts && factsOf(facts, column).map((fact) => (
          <span key={fact} className={css["fact"]}>
            {fact}
          </span>
        ))}
      </span>
      {column.comment && <span className={css["note"]}>{column.comment}</span>}
      {open && <ColumnProfile preset={preset} table={table} column={column} />}
    </li>
  );
}
