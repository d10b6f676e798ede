/** Asks a question that begins a thread, and goes there as soon as the server has named the thread. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { go, paths } from "../shell/router";
import type { LiveRun } from "./liveRuns";
import { useLiveRun, useRunActions } from "./useRuns";

export interface NewThread {
  /** The run until it has a thread, and for good where it never gets one; null before anything is asked. */
  run: LiveRun | null;
  ask: (question: string, preset: string | null) => void;
}

export function useNewThread(): NewThread {
  const client = useQueryClient();
  const [key, setKey] = useState<string | null>(null);
  const run = useLiveRun(key);
  const { ask } = useRunActions();
  const threadId = run?.state.threadId ?? null;

  useEffect(() => {
    if (!threadId) return;
    void client.invalidateQueries({ queryKey: ["threads"], exact: true });
    go(paths.thread(threadId));
  }, [threadId, client]);

  return { run: threadId ? null : run, ask: (question, preset) => setKey(ask(question, preset, null)) };
}
