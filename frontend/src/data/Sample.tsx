/** The first rows of a table, as they are stored. */
import { useQuery } from "@tanstack/react-query";
import { sampleQuery } from "../api/queries";
import { ResultTable } from "../result/ResultTable";
import css from "./TableDetail.module.css";

interface Props {
  preset: string;
  table: string;
  /** At most so many; all that the server sends, where none is given. */
  rows?: number;
}

export function Sample({ preset, table, rows }: Props) {
  const { data, error } = useQuery(sampleQuery(preset, table));
  return (
    <section aria-label="First rows" className={css["sample"]}>
      <h3 className={css["heading"]}>First rows</h3>
      {error && <p className={css["note"]}>{error.message}</p>}
      {data && (
        <ResultTable
          result={{
            runId: null,
            task: null,
            title: table,
            columns: data.columns,
            rows: data.rows.slice(0, rows),
            total: Math.min(data.rows.length, rows ?? data.rows.length),
            truncated: false,
            milliseconds: null,
          }}
        />
      )}
    </section>
  );
}
