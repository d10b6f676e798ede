/** The rows of a result by their place: the first at hand, the others fetched page by page as they come into view. */
import { keepPreviousData, useQueries, type UseQueryResult } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import type { Row } from "../api/events";
import { PAGE_ROWS, rowsQuery, type RowsRequest } from "../api/queries";
import type { RunRows } from "../api/types";
import type { Filter } from "./filters";
import type { Result } from "./results";

export interface Sort {
  column: number;
  descending: boolean;
}

export interface PagedRows {
  total: number;
  row: (index: number) => Row | null;
  /** The server's words for the columns' kinds, once known. */
  kinds: readonly string[] | null;
  fetching: boolean;
  error: Error | null;
}

export function usePagedRows(
  result: Result,
  sort: Sort | null,
  filters: readonly Filter[],
  visible: { first: number; last: number },
): PagedRows {
  const changed = sort !== null || filters.length > 0;
  const request: RowsRequest = { runId: result.runId ?? "", task: result.task, sort, filters };
  const first = Math.floor(visible.first / PAGE_ROWS);
  const last = Math.floor(visible.last / PAGE_ROWS);
  const pages = Array.from({ length: last - first + 1 }, (_, index) => first + index).filter(
    (page) => result.runId !== null && (changed || !isAtHand(result, page)),
  );
  const { fetched, fetching, error } = useQueries({
    queries: pages.map((page) => ({ ...rowsQuery(request, page), ...(changed ? { placeholderData: keepPreviousData } : {}) })),
    combine,
  });
  const known = useMemo(() => new Map(fetched.map((rows) => [Math.floor(rows.offset / PAGE_ROWS), rows])), [fetched]);
  const some = fetched[0];
  const total = result.runId ? (some?.total ?? result.total) : result.rows.length;

  const row = useCallback(
    (index: number): Row | null => {
      const page = known.get(Math.floor(index / PAGE_ROWS));
      if (page) return page.rows[index % PAGE_ROWS] ?? null;
      return changed ? null : (result.rows[index] ?? null);
    },
    [known, changed, result],
  );
  return {
    total,
    row,
    kinds: some?.columns.map((column) => column.kind) ?? null,
    fetching,
    error,
  };
}

function combine(queries: readonly UseQueryResult<RunRows>[]) {
  return {
    fetched: queries.flatMap((query) => query.data ?? []),
    fetching: queries.some((query) => query.isFetching),
    error: queries.find((query) => query.error)?.error ?? null,
  };
}

function isAtHand(result: Result, page: number): boolean {
  return result.rows.length >= Math.min((page + 1) * PAGE_ROWS, result.total);
}
