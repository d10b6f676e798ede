/** A kept answer on a board. It is run anew when it appears; until then its former rows are shown. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState } from "react";
import { post } from "../api/client";
import { type BoardSource, refreshPath } from "../api/queries";
import type { KeptAnswer, KeptRows, Tile } from "../api/types";
import type { Look } from "../result/chooseChart";
import { describeChart } from "../result/describeChart";
import { ResultTable } from "../result/ResultTable";
import { Button, IconButton } from "../shell/Button";
import { counted } from "../shell/counted";
import { SqlText } from "../sql/SqlText";
import { useFormatted } from "../sql/format";
import { Parameters } from "./Parameters";
import css from "./Tile.module.css";

const Drawing = lazy(() => import("../result/Drawing"));

export interface Arrange {
  first: boolean;
  last: boolean;
  move: (step: 1 | -1) => void;
  widen: () => void;
  unpin: () => void;
}

interface Props {
  tile: Tile;
  answer: KeptAnswer;
  source: BoardSource;
  mine: boolean;
  /** Set while the board is arranged. */
  arrange: Arrange | null;
}

export function TileView({ tile, answer: kept, source, mine, arrange }: Props) {
  const path = refreshPath(source, kept.kept_id);
  const client = useQueryClient();
  const queryKey = ["refreshed", source, kept.kept_id];
  const opened = useQuery({
    queryKey,
    queryFn: ({ signal }) => post<KeptAnswer>(path, {}, signal),
    staleTime: 0,
    gcTime: 0,
  });
  const rerun = useMutation({
    mutationFn: (values: string[] | null) => post<KeptAnswer>(path, { values }),
    onSuccess: (fresh) => client.setQueryData(queryKey, fresh),
  });
  const [details, setDetails] = useState(false);
  const answer = opened.data ?? kept;
  const problem = rerun.error ?? opened.error;
  const pending = opened.isFetching || rerun.isPending;
  const values = (rerun.variables ?? null) || answer.parameters.map((parameter) => parameter.value);
  const sql = useFormatted(answer.result?.sql ?? answer.sql, answer.dialect);

  return (
    <li className={css["tile"]} data-wide={tile.wide || undefined} aria-busy={pending}>
      <div className={css["head"]}>
        <h2 className={css["title"]}>{answer.title}</h2>
        <IconButton icon="retry" label={`Refresh “${answer.title}”`} disabled={pending} onClick={() => rerun.mutate(values)} />
      </div>
      {arrange && (
        <div className={css["arrange"]} role="group" aria-label={`Place of “${answer.title}”`}>
          <IconButton icon="up" label="Earlier" disabled={arrange.first} onClick={() => arrange.move(-1)} />
          <IconButton icon="down" label="Later" disabled={arrange.last} onClick={() => arrange.move(1)} />
          <Button aria-pressed={tile.wide} onClick={arrange.widen}>
            Whole width
          </Button>
          <Button icon="cross" onClick={arrange.unpin}>
            Unpin
          </Button>
        </div>
      )}
      {problem && (
        <p className={css["problem"]} role="alert">
          {problem.message}
        </p>
      )}
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
              onRun={(typed) => rerun.mutate(typed)}
            />
          )}
          <SqlText sql={sql} label={`SQL of “${answer.title}”`} />
        </div>
      )}
    </li>
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
    }),
    [answer.title, rows],
  );
  if (!look) return <ResultTable result={result} />;
  return (
    <figure>
      <Suspense fallback={<div className={css["drawing"]} />}>
        <Drawing look={look} result={result} label={describeChart(look, result)} />
      </Suspense>
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
