/** What is in the database, beside the question field: its tables and how long they are. */
import { useQuery } from "@tanstack/react-query";
import { schemaQuery } from "../api/queries";
import type { Preset } from "../api/types";
import { cellText } from "../result/columnKinds";
import { counted } from "../shell/counted";
import { followLink, paths } from "../shell/router";
import css from "./Contents.module.css";

const SHOWN = 14;

export function Contents({ preset }: { preset: Preset }) {
  const { data, error } = useQuery(schemaQuery(preset.id));
  const tables = data?.tables ?? [];
  return (
    <section className={css["contents"]} aria-labelledby="contents-title">
      <h2 id="contents-title" className={css["heading"]}>
        In this database
      </h2>
      {error && <p className={css["note"]}>{error.message}</p>}
      {data && tables.length === 0 && (
        <p className={css["note"]}>It has no tables. Upload a file or connect another database to ask about.</p>
      )}
      <dl>
        {tables.slice(0, SHOWN).map((table) => (
          <div key={table.name} className={css["row"]}>
            <dt>{table.name}</dt>
            <dd>
              {table.row_count === null ? (
                <span className={css["unknown"]}>not counted</span>
              ) : (
                <>
                  {cellText(table.row_count)} <span className={css["unit"]}>{table.row_count === 1 ? "row" : "rows"}</span>
                </>
              )}
            </dd>
          </div>
        ))}
      </dl>
      {tables.length > 0 && (
        <a className={css["more"]} href={paths.data(preset.id)} onClick={followLink}>
          {tables.length > SHOWN ? `Browse all ${counted(tables.length, "table")}` : "Browse the data"}
        </a>
      )}
    </section>
  );
}
