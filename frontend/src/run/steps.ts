/** The words for the steps, the reasons of a retry and the ends of a run. */
import type { RetryCategory } from "../api/events";
import type { RunStatus } from "../api/types";
import type { Step } from "./state";

const NAMES: Record<string, { running: string; done: string }> = {
  schema_analyzer: { running: "Reading the database", done: "Read the database" },
  planner: { running: "Planning", done: "Planned" },
  query_generator: { running: "Writing SQL", done: "Wrote SQL" },
  executor_eval: { running: "Running and checking", done: "Ran and checked" },
  retry_handler: { running: "Working out what went wrong", done: "Worked out what went wrong" },
  clarifier: { running: "Asking back", done: "Asked back" },
  summarizer: { running: "Writing the answer", done: "Wrote the answer" },
};

/** Steps that only move state from one task to the next; nobody waits for them. */
const BOOKKEEPING = new Set(["set_first_task", "set_next_task", "check_remaining", "retry_handler"]);

export function shownSteps(steps: readonly Step[]): Step[] {
  return steps.filter((step) => !BOOKKEEPING.has(step.node));
}

/** A step that the run ended in the middle of. */
export const cutOff = (step: Pick<Step, "done" | "elapsedMs">): boolean => step.done && step.elapsedMs === null;

export function stepName(step: Pick<Step, "node" | "done" | "elapsedMs">): string {
  const name = NAMES[step.node];
  if (name) return step.done && !cutOff(step) ? name.done : name.running;
  return step.node.replaceAll("_", " ").replace(/^./, (c) => c.toUpperCase());
}

export const RETRY_REASONS: Record<RetryCategory, string> = {
  execution_error: "The database refused it",
  hallucination: "A name does not exist",
  safety: "Not safe to run",
  relevance: "Beside the question",
  empty_result: "No rows came back",
  generic: "Below the threshold",
};

export const STATUS_WORDS: Record<RunStatus, string> = {
  running: "Running",
  success: "Answered",
  doubtful: "Answered with doubt",
  abstained: "Not answered",
  error: "Failed",
  cancelled: "Stopped",
  interrupted: "Broken off",
  waiting: "Waiting for you",
  refused: "Refused",
  timeout: "Took too long",
};

export function seconds(ms: number): string {
  if (ms < 1) return "<1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = ms / 1000;
  return s < 60 ? `${s.toFixed(1)} s` : `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;
}
