/** A kept answer on a board. It is run anew when it appears; until then its former rows are shown. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState } from "react";
import { post } from "../api/client";
import { type BoardSource, refreshPath } from "../api/queries";
import type { KeptAnswer, KeptRows, Tile } from "../api/types";
import { describeChart } from "../result/describeChart";
import { type Look, lookOf } from "../result/look";
import type { Result } from "../result/results";
import { ResultTable } from "../result/ResultTable";
import { Button, IconButton } from "../shell/Button";
import { counted } from "../shell/counted";
import { SqlText } from "../sql/SqlText";
import { useFormatted } from "../sql/format";
import { Parameters } from "./Parameters";
import css from "./Tile.module.css";

const Drawing = lazy(() => import("../result/Drawing"));
const TileChart = lazy(() => import("./TileChart"));

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
  /** The chart while it is edited. */
  const [draft, setDraft] = useState<Look | null>(null);
  const answer = opened.data ?? kept;
  const problem = rerun.error ?? opened.error;
  const pending = opened.isFetching || rerun.isPending;
  const values = (rerun.variables ?? null) || answer.parameters.map((parameter) => parameter.value);
  const result = useMemo(() => resultOf(answer), [answer]);
  const look = draft ?? lookOfKept(answer, result);
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
      {result && !answer.result?.error && <Shown look={look} result={result} />}
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
          {mine && result && (
            <Suspense fallback={null}>
              <TileChart
                keptId={kept.kept_id}
                result={result}
                look={look}
                draft={draft}
                onDraft={setDraft}
                onSaved={(saved) => client.setQueryData(queryKey, saved)}
              />
            </Suspense>
          )}
          <SqlText sql={sql} label={`SQL of “${answer.title}”`} />
        </div>
      )}
    </li>
  );
}

function Shown({ look, result }: { look: Look | null; result: Result }) {
  if (!look) return <ResultTable result={result} />;
  return (
    <figure>
      <Suspense fallback={<div className={css["drawing"]} />}>
        <Drawing look={look} result={result} label={describeChart(look, result)} />
      </Suspense>
    </figure>
  );
}

function resultOf({ title, result: rows }: KeptAnswer): Result | null {
  if (!rows) return null;
  const { columns, rows_returned: total, truncated, sql } = rows;
  return { runId: null, task: null, title, columns, sql, rows: rows.rows, total, truncated, milliseconds: null };
}

/** The chart that was kept, as long as the columns that it needs are there. */
function lookOfKept({ chart }: KeptAnswer, result: Result | null): Look | null {
  const { kind } = chart;
  if (kind === undefined || !result || result.rows.length === 0) return null;
  // of a part of the rows the latest value is not known
  if (kind === "trend" && result.rows.length < result.total) return null;
  const look = lookOf({ ...chart, kind });
  return Math.max(look.x, look.y, look.series, ...look.more) < result.columns.length ? look : null;
}

const TIME = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

function asOf(rows: KeptRows | null): string {
  if (!rows) return "Not run yet";
  const shown = rows.rows_returned > rows.rows.length ? `first ${rows.rows.length} of ` : "";
  return `${shown}${counted(rows.rows_returned, "row")}, ${TIME.format(new Date(rows.refreshed))}`;
}
