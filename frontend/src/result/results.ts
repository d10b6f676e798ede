/** The results of a run that can be looked at: one for each task that has rows, the answer's own last. */
import type { Row } from "../api/events";
import type { SqlOutcome } from "../api/types";
import type { RunState } from "../run/state";

export interface Result {
  /** Null before the server has named the run; then only the rows at hand can be shown. */
  runId: string | null;
  /** Null: the result behind the answer. */
  task: string | null;
  title: string;
  columns: readonly string[];
  /** What each column is counted in ("" where that is not known). */
  units?: readonly string[];
  /** The statement that returned the rows, where it is known. */
  sql?: string;
  /** The first rows, at most 200. */
  rows: readonly Row[];
  total: number;
  truncated: boolean;
  milliseconds: number | null;
  /** The database that returned it, where one may go on from its figures. */
  preset?: string | null;
}

type Returned = Pick<SqlOutcome, "columns" | "rows" | "rows_returned" | "truncated" | "execution_time_ms" | "sql">;

/** What a statement returned, to be looked at like the result of a question. */
export function resultOf(returned: Returned, of: Pick<Result, "runId" | "title" | "preset">): Result {
  const { columns, rows, rows_returned: total, truncated, execution_time_ms: milliseconds, sql } = returned;
  return { ...of, task: null, columns, rows, total, truncated, milliseconds, sql: sql ?? "" };
}

export function resultsOf(run: Pick<RunState, "attempts" | "plan" | "answer" | "runId"> & { preset?: string | null }): Result[] {
  const tasks = run.plan?.tasks ?? [];
  const best = new Map<string, Result>();
  for (const attempt of run.attempts) {
    if (attempt.status !== "success" || attempt.columns.length === 0) continue;
    const task = tasks.find((t) => t.id === attempt.task_id);
    const chosen = run.answer?.sql === attempt.sql;
    if (best.has(attempt.task_id) && run.answer && tasks.length <= 1 && !chosen) continue;
    const rows = attempt.data ?? (chosen ? run.answer?.rows : undefined) ?? [];
    best.set(attempt.task_id, {
      runId: run.runId,
      task: tasks.length > 1 ? attempt.task_id : null,
      title: task?.description ?? attempt.task_id,
      columns: attempt.columns,
      units: attempt.units ?? [],
      sql: attempt.sql,
      rows,
      total: attempt.rows_returned,
      truncated: attempt.truncated,
      milliseconds: attempt.execution_time_ms,
      preset: run.preset ?? null,
    });
  }
  return [...best.values()];
}
