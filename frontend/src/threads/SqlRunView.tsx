/** A statement that somebody ran by hand, by its own address: the SQL and what came of it. */
import type { SqlRun } from "../api/types";
import { ResultView } from "../result/ResultPanel";
import { resultOf } from "../result/results";
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
          result={resultOf(answer, { runId: run.run_id, title: name, preset: run.preset })}
        />
      ) : (
        <Refusal result={answer} />
      )}
    </article>
  );
}
