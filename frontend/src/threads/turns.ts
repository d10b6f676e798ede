/** The turns of a thread: what the server keeps and what this page is watching, each run once. */
import type { RunDetail, SqlRun, Verdict } from "../api/types";
import { fromStored } from "../run/fromStored";
import type { LiveRun } from "../run/liveRuns";
import type { RunState } from "../run/state";

const states = new WeakMap<RunDetail, RunState>();

/** The same state for the same run, so that a turn that has not changed is not drawn again. */
function storedState(run: RunDetail): RunState {
  const known = states.get(run) ?? fromStored(run);
  states.set(run, known);
  return known;
}

export interface TurnData {
  key: string;
  state: RunState;
  /** Set while, or after, this page watched the run. */
  liveKey: string | null;
  feedback: Verdict | null;
}

/** The live state of a run stands before the stored one: it knows the steps. */
export function turnsOf(stored: readonly (RunDetail | SqlRun)[], live: readonly LiveRun[]): TurnData[] {
  const watched = new Map(live.map((run) => [run.state.runId, run]));
  const kept = stored.filter((run) => run.kind === "question").map((run): TurnData => {
    const seen = watched.get(run.run_id);
    watched.delete(run.run_id);
    return {
      key: seen?.key ?? run.run_id,
      state: seen?.state ?? storedState(run),
      liveKey: seen?.key ?? null,
      feedback: run.feedback,
    };
  });
  const rest = live.filter((run) => watched.has(run.state.runId) && watched.get(run.state.runId) === run);
  return [...kept, ...rest.map((run) => ({ key: run.key, state: run.state, liveKey: run.key, feedback: null }))];
}
