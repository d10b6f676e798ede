/** A kept answer on a board. It is run anew when it appears; until then its former rows are shown. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState } from "react";
import { post } from "../api/client";
import { type BoardSource, refreshPath } from "../api/queries";
import type { BoardFilter, FilterValue, KeptAnswer, KeptRows } from "../api/boardTypes";
import { useDrill } from "../drill/useDrill";
import { describeChart } from "../result/describeChart";
import { type Look, lookOf } from "../result/look";
import { type Result, resultOf } from "../result/results";
import { ResultTable } from "../result/ResultTable";
import { Button, IconButton } from "../shell/Button";
import { counted } from "../shell/counted";
import { SqlText } from "../sql/SqlText";
import { useFormatted } from "../sql/format";
import { Parameters } from "./Parameters";
import css from "./Tile.module.css";
import { type Place, TileFrame } from "./TileFrame";

const Drawing = lazy(() => import("../result/Drawing"));
const TileChart = lazy(() => import("./TileChart"));

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
      <Answer
        answer={answer}
        mine={mine}
        pending={pending}
        onRun={(typed) => rerun.mutate(typed)}
        onSaved={(saved) => client.setQueryData(queryKey, { ...saved, result: answer.result })}
      />
    </TileFrame>
  );
}

interface AnswerProps {
  answer: KeptAnswer;
  mine: boolean;
  pending: boolean;
  onRun: (values: string[]) => void;
  /** Hears the answer with another chart. */
  onSaved: (answer: KeptAnswer) => void;
}

/** The rows of an answer as they are kept to be shown; its SQL and its values below, when asked for. */
export function Answer({ answer, mine, pending, onRun, onSaved }: AnswerProps) {
  const [details, setDetails] = useState(false);
  /** The chart while it is edited. */
  const [draft, setDraft] = useState<Look | null>(null);
  const sql = useFormatted(answer.result?.sql ?? answer.sql, answer.dialect);
  const result = useMemo(() => {
    const { title, preset, result: rows } = answer;
    return rows && { ...resultOf(rows, { runId: null, title, preset }), milliseconds: null };
  }, [answer]);
  const look = draft ?? lookOfKept(answer, result);
  return (
    <>
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
              onRun={onRun}
            />
          )}
          {mine && result && (
            <Suspense fallback={null}>
              <TileChart
                keptId={answer.kept_id}
                result={result}
                look={look}
                draft={draft}
                onDraft={setDraft}
                onSaved={onSaved}
              />
            </Suspense>
          )}
          <SqlText sql={sql} label={`SQL of “${answer.title}”`} />
        </div>
      )}
    </>
  );
}

function Shown({ look, result }: { look: Look | null; result: Result }) {
  const { onPick, onMark, drill } = useDrill(result, result.title);
  if (!look)
    return (
      <>
        <ResultTable result={result} onPick={onPick} />
        {drill}
      </>
    );
  return (
    <figure>
      <Suspense fallback={<div className={css["drawing"]} />}>
        <Drawing look={look} result={result} label={describeChart(look, result)} onPick={onMark} />
      </Suspense>
      {drill}
    </figure>
  );
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
