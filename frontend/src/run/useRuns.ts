/** Runs as components see them, and what can be done with them. */
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useSyncExternalStore } from "react";
import type { RunSource } from "../api/followRun";
import { type LiveRun, liveRuns } from "./liveRuns";

export function useLiveRuns(threadId: string): LiveRun[] {
  const all = useSyncExternalStore(liveRuns.subscribe, liveRuns.all);
  return useMemo(() => all.filter((run) => run.state.threadId === threadId), [all, threadId]);
}

export function useLiveRun(key: string | null): LiveRun | null {
  const all = useSyncExternalStore(liveRuns.subscribe, liveRuns.all);
  return all.find((run) => run.key === key) ?? null;
}

export interface RunActions {
  /** Asks, on the thread if one is named; returns the run's key. */
  ask: (question: string, preset: string | null, threadId: string | null, how?: { alone?: boolean; model?: string }) => string;
  /** The same question again. */
  again: (runId: string, question: string, preset: string | null, threadId: string) => string;
  resume: (runId: string, question: string, preset: string, threadId: string) => string;
  stop: (key: string) => void;
}

export function useRunActions(): RunActions {
  const client = useQueryClient();
  const begin = useCallback(
    (source: RunSource, question: string, preset: string | null, threadId: string | null) => {
      const { key, ended } = liveRuns.start(source, question, preset, threadId);
      void ended.then(() =>
        Promise.all([
          client.invalidateQueries({ queryKey: ["threads"], exact: true }),
          client.invalidateQueries({ queryKey: ["runs", "latest"] }),
        ]),
      );
      return key;
    },
    [client],
  );
  return useMemo(
    () => ({
      ask: (question, preset, threadId, how) =>
        begin(
          { ask: { question, ...how, ...(preset ? { preset } : {}), ...(threadId ? { thread_id: threadId } : {}) } },
          question,
          preset,
          threadId,
        ),
      again: (runId, question, preset, threadId) => begin({ again: runId }, question, preset, threadId),
      resume: (runId, question, preset, threadId) => begin({ resume: runId, after: 0 }, question, preset, threadId),
      stop: (key) => void liveRuns.stop(key),
    }),
    [begin],
  );
}
