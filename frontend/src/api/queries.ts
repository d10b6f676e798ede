/** What the page reads from the server and keeps while it is fresh. */
import { infiniteQueryOptions, QueryClient, queryOptions } from "@tanstack/react-query";
import { ApiError, get, post } from "./client";
import type { LabRun } from "./labTypes";
import type { LocalModel, ModelServer, ModelSetting } from "./modelTypes";
import type { Board, BoardSummary, FilterOffer, KeptAnswer } from "./boardTypes";
import type { ColumnValues, DatabaseSchema, FileReading, Health, LikelyMeaning, Preset, Profile, RunDetail, RunRows, RunSummary, SqlRun, TableSample, TaughtTerm, TermRequest, Thread, ThreadSummary, TriedTerm, VerifiedPair } from "./types";
import type { Channels, Delivery, Schedule } from "./scheduleTypes";

const MINUTE = 60_000;
const part = encodeURIComponent;

export function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      // the server may be on this very machine: that the browser is offline says nothing
      mutations: { networkMode: "always" },
      queries: {
        networkMode: "always",
        staleTime: MINUTE,
        // what the server refuses stays refused; what did not answer may answer soon
        retry: (count, error) => count < 2 && error instanceof ApiError && error.unreachable,
        refetchOnWindowFocus: false,
      },
    },
  });
}

export const healthQuery = queryOptions({
  queryKey: ["health"],
  queryFn: ({ signal }) => get<Health>("/health", signal),
  retry: false,
  refetchInterval: (query) => (query.state.status === "error" ? 3000 : 20_000),
});

/** How the files of an uploaded database were read. */
export const planQuery = (id: string) =>
  queryOptions({
    queryKey: ["plan", id],
    queryFn: ({ signal }) => get<FileReading>(`/databases/${part(id)}/plan`, signal),
  });

export const presetsQuery = queryOptions({
  queryKey: ["presets"],
  queryFn: ({ signal }) => get<Preset[]>("/presets", signal),
});

export const schemaQuery = (preset: string) =>
  queryOptions({
    queryKey: ["schema", preset],
    queryFn: ({ signal }) => get<DatabaseSchema>(`/schema/${part(preset)}`, signal),
    staleTime: 5 * MINUTE,
  });

/** The first time of a database it is computed, which takes a while. */
export const profileQuery = (preset: string) =>
  queryOptions({
    queryKey: ["schema", preset, "profile"],
    queryFn: ({ signal }) => get<Profile>(`/schema/${part(preset)}/profile`, signal),
    staleTime: 5 * MINUTE,
  });

export const sampleQuery = (preset: string, table: string) =>
  queryOptions({
    queryKey: ["schema", preset, table, "sample"],
    queryFn: ({ signal }) => get<TableSample>(`/schema/${part(preset)}/${part(table)}/sample?limit=20`, signal),
    staleTime: 5 * MINUTE,
  });

export const valuesQuery = (preset: string, table: string, column: string) =>
  queryOptions({
    queryKey: ["schema", preset, table, column],
    queryFn: ({ signal }) =>
      get<ColumnValues>(`/schema/${part(preset)}/${part(table)}/${part(column)}/values?limit=12`, signal),
    staleTime: 5 * MINUTE,
  });

/** Questions that the database can answer, made from its own names. */
export const examplesQuery = (preset: string) =>
  queryOptions({
    queryKey: ["schema", preset, "examples"],
    queryFn: ({ signal }) => get<string[]>(`/schema/${part(preset)}/examples`, signal),
    staleTime: 5 * MINUTE,
  });

/** The threads, the latest first; with `search`, those that hold each of its words. */
export const threadsQuery = (search = "") =>
  infiniteQueryOptions({
    queryKey: search ? ["threads", { search }] : ["threads"],
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({ limit: "30" });
      if (pageParam) query.set("before", pageParam);
      if (search) query.set("search", search);
      return get<{ threads: ThreadSummary[]; next: string | null }>(`/threads?${query}`, signal);
    },
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
  });

export const modelQuery = queryOptions({
  queryKey: ["model"],
  queryFn: ({ signal }) => get<ModelSetting>("/model", signal),
});

/** The model servers on the server's own machine, for those who may choose one. */
export const modelServersQuery = queryOptions({
  queryKey: ["model", "servers"],
  queryFn: ({ signal }) => get<ModelServer[]>("/model/servers", signal),
});

/** The small models for the server's own machine; asked again while one of them comes. */
export const localModelsQuery = queryOptions({
  queryKey: ["model", "local"],
  queryFn: ({ signal }) => get<LocalModel[]>("/model/local", signal),
  refetchInterval: ({ state }) => (state.data?.some((each) => each.state === "fetching") ? 1000 : false),
});

/** The runs of the lab, for admins. */
export const labQuery = queryOptions({
  queryKey: ["lab"],
  queryFn: ({ signal }) => get<LabRun[]>("/lab/runs", signal),
});

export const threadQuery = (threadId: string) =>
  queryOptions({
    queryKey: ["threads", threadId],
    queryFn: ({ signal }) => get<Thread>(`/threads/${part(threadId)}`, signal),
  });

/** The latest questions, for the composer's history. */
export const questionsQuery = queryOptions({
  queryKey: ["runs", "latest"],
  queryFn: ({ signal }) => get<{ runs: RunSummary[]; next: string | null }>("/runs?limit=50", signal),
});

export const runQuery = (runId: string) =>
  queryOptions({
    queryKey: ["runs", runId],
    queryFn: ({ signal }) => get<RunDetail | SqlRun>(`/runs/${part(runId)}`, signal),
  });

export const verifiedQuery = (preset: string) =>
  queryOptions({
    queryKey: ["feedback", preset],
    queryFn: ({ signal }) => get<VerifiedPair[]>(`/feedback?preset=${part(preset)}`, signal),
  });

/** What was taught of a database, and what was forgotten of it. */
export const termsQuery = (preset: string) =>
  queryOptions({
    queryKey: ["terms", preset],
    queryFn: ({ signal }) => get<TaughtTerm[]>(`/terms?preset=${part(preset)}&history=true`, signal),
    staleTime: 0,
  });

/** What a term would give on the data. */
export const triedQuery = (asked: TermRequest) =>
  queryOptions({
    queryKey: ["tried", asked],
    queryFn: ({ signal }) => post<TriedTerm>("/terms/try", asked, signal),
  });

/** What a word that was not understood may mean. */
export const likelyQuery = (preset: string, word: string, question: string) =>
  queryOptions({
    queryKey: ["likely", preset, word, question],
    queryFn: ({ signal }) =>
      get<LikelyMeaning[]>(`/terms/likely?preset=${part(preset)}&word=${part(word)}&question=${part(question)}`, signal),
  });

export interface RowsRequest {
  runId: string;
  task: string | null;
  sort: { column: number; descending: boolean } | null;
  filters: readonly { column: number; operator: string; value: string }[];
}

export const PAGE_ROWS = 200;

export function rowsPath(request: RowsRequest, offset: number, limit: number): string {
  const query = new URLSearchParams({ offset: String(offset), limit: String(limit) });
  if (request.task) query.set("task", request.task);
  if (request.sort) query.set("sort", `${request.sort.column}:${request.sort.descending ? "desc" : "asc"}`);
  for (const f of request.filters) query.append("filter", `${f.column}:${f.operator}:${f.value}`);
  return `/runs/${part(request.runId)}/rows?${query}`;
}

export const rowsQuery = (request: RowsRequest, page: number) =>
  queryOptions({
    queryKey: ["rows", request, page],
    queryFn: ({ signal }) => get<RunRows>(rowsPath(request, page * PAGE_ROWS, PAGE_ROWS), signal),
    staleTime: Infinity, // a result does not change once it is there
  });

/** As many rows as one request gives, for a chart. */
export const MANY_ROWS = 1000;
export const manyRowsQuery = (request: RowsRequest) =>
  queryOptions({
    queryKey: ["rows", request, "many"],
    queryFn: ({ signal }) => get<RunRows>(rowsPath(request, 0, MANY_ROWS), signal),
    staleTime: Infinity,
  });

export const keptQuery = queryOptions({
  queryKey: ["kept"],
  queryFn: ({ signal }) => get<KeptAnswer[]>("/kept", signal),
  staleTime: 0,
});

export const boardsQuery = queryOptions({
  queryKey: ["boards"],
  queryFn: ({ signal }) => get<BoardSummary[]>("/boards", signal),
  staleTime: 0,
});

/** A board of one's own, or one that somebody shares. */
export type BoardSource = { boardId: string } | { share: string };

export const boardPath = (source: BoardSource): string =>
  "share" in source ? `/shared/${part(source.share)}` : `/boards/${part(source.boardId)}`;

/** Where an answer of the board is run anew. */
export const refreshPath = (source: BoardSource, keptId: string): string => `${boardPath(source)}/${part(keptId)}/refresh`;

/** What a board can be filtered by. */
export const offersQuery = (boardId: string) =>
  queryOptions({
    queryKey: ["boards", boardId, "columns"],
    queryFn: ({ signal }) => get<FilterOffer[]>(`${boardPath({ boardId })}/columns`, signal),
  });

export const filterValuesQuery = (source: BoardSource, place: number, search: string) =>
  queryOptions({
    queryKey: ["boards", source, "values", place, search],
    queryFn: ({ signal }) =>
      get<ColumnValues>(`${boardPath(source)}/filters/${place}/values${search ? `?search=${part(search)}` : ""}`, signal),
  });

export const keptAnswerQuery = (keptId: string) =>
  queryOptions({
    queryKey: ["kept", keptId],
    queryFn: ({ signal }) => get<KeptAnswer>(`/kept/${part(keptId)}`, signal),
  });

export const boardQuery = (source: BoardSource) =>
  queryOptions({
    queryKey: ["boards", source],
    queryFn: ({ signal }) => get<Board>(boardPath(source), signal),
    staleTime: 0,
  });

/** What runs and ran lately; asked again while the page is open. */
export const activityQuery = queryOptions({
  queryKey: ["runs", "activity"],
  queryFn: ({ signal }) => get<{ runs: RunSummary[]; next: string | null }>("/runs?limit=50", signal),
  staleTime: 0,
  refetchInterval: 5000,
});

export const schedulesQuery = queryOptions({
  queryKey: ["schedules"],
  queryFn: ({ signal }) => get<Schedule[]>("/schedules", signal),
  staleTime: 0,
  refetchInterval: 5000,
});

export const deliveriesQuery = (scheduleId: string) =>
  queryOptions({
    queryKey: ["schedules", scheduleId, "deliveries"],
    queryFn: ({ signal }) => get<Delivery[]>(`/schedules/${part(scheduleId)}/deliveries`, signal),
    staleTime: 0,
    refetchInterval: 5000,
  });

/** What can be sent from the server, and where to. */
export const channelsQuery = queryOptions({
  queryKey: ["channels"],
  queryFn: ({ signal }) => get<Channels>("/schedules/channels", signal),
});

/** The next three times of a cron expression. */
export const timesQuery = (cron: string, zone: string) =>
  queryOptions({
    queryKey: ["times", cron, zone],
    queryFn: ({ signal }) => post<{ next: string[] }>("/schedules/times", { cron, zone }, signal),
    placeholderData: (before) => before,
  });
