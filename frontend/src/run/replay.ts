/** The steps of a run that has ended, told again by the server from its first event on. */
import { followRun } from "../api/followRun";
import { reduceRun } from "./reducer";
import type { RunState } from "./state";

export async function replay(runId: string, run: RunState): Promise<RunState> {
  let state: RunState = { ...run, attempts: [], retries: [], steps: [], text: "", status: "running", lastEventId: 0 };
  await followRun(
    { resume: runId, after: 0 },
    {
      event: (event, id) => {
        state = reduceRun(state, { type: "event", id, at: run.startedAt, event });
      },
      connection: () => undefined,
    },
    AbortSignal.timeout(20_000),
  );
  return state;
}
