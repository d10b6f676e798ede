/** A kept answer on a board. It is run anew when it appears; until then its former rows are shown. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState } from "react";
import { post } from "../api/client";
import { type BoardSource, refreshPath } from "../api/queries";
import type { BoardFilter, FilterValue, KeptAnswer, KeptRows } from "../api/boardTypes";
import { useDrill } from "../drill/useDrill";
import type { Look } from "../result/chooseChart";
import { describeChart } from "../result/describeChart";
import { ResultTable } from "../result/ResultTable";
import { Button, IconButton } from "../shell/Button";
import { counted } from "../shell/counted";
import { SqlText } from "../sql/SqlText";
import { useFormatted } from "../sql/format";
import { Parameters } from "./Parameters";
import css from "./Tile.module.css";
import { type Place, TileFrame } from "./TileFrame";

const Drawing = lazy(() => import("../result/Drawing"));

interface Props extends Place {
  answer: KeptAnswer;
  source: BoardSource;
  mine: boolean;
  filters: readonly (BoardFilter | null)[];
  /** What the board is narrowed to, a value for each filter. */
  values: readonly FilterValue[];
}

export function TileView({ answer: kept, source, mine, filters, values: narrowed, ...place }: Props) {
  const path = refreshPath(source, kept.kept_id);
  const client = useQueryClient();
  const narrowing = filters.length > 0 ? { filters: narrowed } : {};
  const queryKey = ["refreshed", source, kept.kept_id, narrowing];
  const opened = useQuery({
    queryKey,
    queryFn: ({ signal }) => post<KeptAnswer>(path, narrowing, signal),
    staleTime: 0,
    gcTime: 0,
    placeholderData: (before) => before,
  });
  const rerun = useMutation({
    mutationFn: (values: string[] | null) => post<KeptAnswer>(path, { values, ...narrowing }),
    onSuccess: (fresh) => client.setQueryData(queryKey, fresh),
  });
  const answer = opened.data ?? kept;
  const problem = rerun.error ?? opened.error;
  const pending = opened.isFetching || rerun.isPending;
  const values = (rerun.variables ?? null) || answer.parameters.map((parameter) => parameter.value);

  const set = filters.filter((filter, index) => filter && narrowed[index]?.length);
  const elsewhere = set.filter((_, index) => answer.result?.filtered[index] === false).map((filter) => filter?.label);

  return (
    <TileFrame {...place} title={answer.title} busy={pending}>
      <div className={css["head"]}>
        <h2 className={css["title"]}>{answer.title}</h2>
        <IconButton icon="retry" label={`Refresh “${answer.title}”`} disabled={pending} onClick={() => rerun.mutate(values)} />
      </div>
      {elsewhere.length > 0 && <p className={css["elsewhere"]}>Not narrowed by {elsewhere.join(" and ")}</p>}
      {problem && (
        <p className={css["problem"]} role="alert">
          {problem.message}
        </p>
      )}
      <Answer answer={answer} mine={mine} pending={pending} onRun={(typed) => rerun.mutate(typed)} />
    </TileFrame>
  );
}

interface AnswerProps {
  answer: KeptAnswer;
  mine: boolean;
  pending: boolean;
  onRun: (values: string[]) => void;
}

/** The rows of an answer as they are kept to be shown; its SQL and its values below, when asked for. */
export function Answer({ answer, mine, pending, onRun }: AnswerProps) {
  const [details, setDetails] = useState(false);
  const sql = useFormatted(answer.result?.sql ?? answer.sql, answer.dialect);
  return (
    <>
      {answer.result?.error && <p className={css["problem"]}>{answer.result.error}</p>}
      {answer.result && !answer.result.error && <Shown answer={answer} rows={answer.result} />}
      <div className={css["foot"]}>
        <span role="status">{pending ? "Refreshing…" : asOf(answer.result)}</span>
        <Button aria-expanded={details} onClick={() => setDetails(!details)}>
          {details ? "Hide" : "SQL and values"}
        </Button>
      </div>
      {details && (
        <div className={css["details"]}>
          {answer.question !== answer.title && answer.question && <p>{answer.question}</p>}
          {answer.parameters.length > 0 && (
            <Parameters
              parameters={answer.parameters}
              kept={mine}
              disabled={pending}
              onRun={onRun}
            />
          )}
          <SqlText sql={sql} label={`SQL of “${answer.title}”`} />
        </div>
      )}
    </>
  );
}

function Shown({ answer, rows }: { answer: KeptAnswer; rows: KeptRows }) {
  const look = useMemo(() => lookOf(answer, rows), [answer, rows]);
  const result = useMemo(
    () => ({
      runId: null,
      task: null,
      title: answer.title,
      columns: rows.columns,
      rows: rows.rows,
      total: rows.rows_returned,
      truncated: rows.truncated,
      milliseconds: null,
      source: { preset: answer.preset, sql: rows.sql },
    }),
    [answer.title, answer.preset, rows],
  );
  const [onPick, drill] = useDrill(result, answer.title);
  if (!look)
    return (
      <>
        <ResultTable result={result} onPick={onPick} />
        {drill}
      </>
    );
  return (
    <figure className={css["figure"]}>
      <Suspense fallback={<div className={css["drawing"]} />}>
        <Drawing look={look} result={result} label={describeChart(look, result)} />
      </Suspense>
      {drill}
    </figure>
  );
}

/** The chart that was kept, as long as the columns that it needs are there. */
function lookOf(answer: KeptAnswer, rows: KeptRows): Look | null {
  const { chart } = answer;
  if (!("kind" in chart) || rows.rows.length === 0) return null;
  const needed = Math.max(chart.x, chart.y, chart.series);
  return needed < rows.columns.length ? (chart as Look) : null;
}

const TIME = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

function asOf(rows: KeptRows | null): string {
  if (!rows) return "Not run yet";
  const shown = rows.rows_returned > rows.rows.length ? `first ${rows.rows.length} of ` : "";
  return `${shown}${counted(rows.rows_returned, "row")}, ${TIME.format(new Date(rows.refreshed))}`;
}
