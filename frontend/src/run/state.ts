/** What the page knows of one run, whether it is under way, finished, or read back from the server's memory. */
import type { Answer, Attempt, Plan, RetryCategory, RunEvent } from "../api/events";
import type { Connection } from "../api/followRun";
import type { RunStatus } from "../api/types";

/** One visit to a node of the graph. */
export interface Step {
  node: string;
  taskId: string | null;
  attempt: number | null;
  done: boolean;
  /** Milliseconds on the page's clock. */
  startedAt: number;
  elapsedMs: number | null;
  tokens: { input: number; output: number } | null;
  /** Tokens that the model has written in it so far. */
  written: number;
  /** What it knows so far, in a line. */
  said: string;
  /** Why what this step checked was sent back, if it was. */
  retry: Retry | null;
  /** What did not work in it, which went on without that; empty where all did. */
  problem: string;
  /** Why the model revised a query that this step ran, if it did. */
  revision: string | null;
}

export interface Retry {
  taskId: string;
  /** The attempt that follows, 2 or more. */
  attempt: number;
  category: RetryCategory;
  feedback: string;
}

export type SchemaInfo = Extract<RunEvent, { event: "schema" }>["data"];

export interface RunState {
  runId: string | null;
  threadId: string | null;
  question: string;
  preset: string | null;
  model: string | null;
  /** The answer's status once there is one; `running` until then. */
  status: RunStatus;
  steps: readonly Step[];
  schema: SchemaInfo | null;
  plan: Plan | null;
  attempts: readonly Attempt[];
  retries: readonly Retry[];
  /** The answer as far as it has been written. */
  text: string;
  answer: Answer | null;
  clarify: { question: string; options: string[] } | null;
  error: { message: string; kind: string } | null;
  /** Seconds that the whole run took, once done. */
  elapsed: number | null;
  startedAt: number;
  lastEventId: number;
  connection: Connection;
  /** True once somebody pressed stop. */
  stopping: boolean;
}

export function newRun(question: string, preset: string | null, startedAt: number): RunState {
  return {
    runId: null,
    threadId: null,
    question,
    preset,
    model: null,
    status: "running",
    steps: [],
    schema: null,
    plan: null,
    attempts: [],
    retries: [],
    text: "",
    answer: null,
    clarify: null,
    error: null,
    elapsed: null,
    startedAt,
    lastEventId: 0,
    connection: "open",
    stopping: false,
  };
}
