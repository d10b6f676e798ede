/** A run as the server keeps it, in the shape of a run that was watched. Its steps are told by its events, not here. */
import type { RunDetail } from "../api/types";
import { newRun, type RunState } from "./state";

/** Told in place of an answer that was given with other rights than the reader has now. */
export const SEEN_OTHERWISE = "This was answered with other rights than you have now. Ask it again.";

const ANSWERED = new Set(["success", "doubtful", "abstained"]);

export function fromStored(run: RunDetail): RunState {
  const answer = run.answer;
  return {
    ...newRun(run.question, run.preset, Date.parse(run.started)),
    runId: run.run_id,
    threadId: run.thread_id,
    model: run.model,
    status: run.status,
    plan: answer?.plan ?? null,
    attempts: answer?.attempts ?? [],
    text: answer?.clarification ? "" : (answer?.answer ?? (ANSWERED.has(run.status) ? SEEN_OTHERWISE : "")),
    clarify: answer?.clarification ?? null,
    answer,
    error: errorOf(run),
    elapsed: run.seconds,
  };
}

function errorOf(run: RunDetail): RunState["error"] {
  if (run.status !== "error") return null;
  return {
    message: run.answer?.reason || run.answer?.answer || "The run failed.",
    kind: run.answer?.error_kind ?? "internal",
  };
}
