/** A run as the server keeps it, in the shape of a run that was watched. Its steps are told by its events, not here. */
import type { RunDetail } from "../api/types";
import { newRun, type RunState } from "./state";

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
    text: answer?.clarification ? "" : (answer?.answer ?? ""),
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
