/** A statement that somebody ran by hand, by its own address: the SQL and what came of it. */
import type { SqlRun } from "../api/types";
import { ResultView } from "../result/ResultPanel";
import { Refusal } from "../sql/Refusal";
import { SqlCard } from "../sql/SqlCard";
import { SEEN_OTHERWISE } from "../run/fromStored";
import { NotFound } from "../shell/NotFound";
import css from "./RunPage.module.css";

export function SqlRunView({ run }: { run: SqlRun }) {
  const { answer } = run;
  if (!answer) return <NotFound title="This result can't be shown." reason={SEEN_OTHERWISE} />;
  const name = run.question || "SQL run by hand";
  return (
    <article className={css["sql"]}>
      <h1 className={css["name"]}>{name}</h1>
      <SqlCard sql={run.sql} dialect="" failed={answer.status !== "success"} editing={false} />
      {answer.status === "success" ? (
        <ResultView
          traced={null}
          name={name}
          result={{
            runId: run.run_id,
            task: null,
            title: name,
            columns: answer.columns,
            rows: answer.rows,
            total: answer.rows_returned,
            truncated: answer.truncated,
            milliseconds: answer.execution_time_ms,
            preset: run.preset,
            sql: run.sql,
          }}
        />
      ) : (
        <Refusal result={answer} />
      )}
    </article>
  );
}
