/**
 * A run's state from its events, as a pure function: the same events give the same state, live, replayed or resumed.
 * An event seen before (a resumed stream may repeat) changes nothing.
 */
import type { Answer, NodeEvent, RunEvent } from "../api/events";
import type { Connection } from "../api/followRun";
import type { Retry, RunState, Step } from "./state";

export type RunAction =
  | { type: "event"; id: number; at: number; event: RunEvent }
  | { type: "connection"; connection: Connection }
  | { type: "stopping" }
  | { type: "failed"; message: string; kind: string };

export function reduceRun(state: RunState, action: RunAction): RunState {
  switch (action.type) {
    case "event":
      if (action.id <= state.lastEventId) return state;
      return { ...applyEvent(state, action.event, action.at), lastEventId: action.id };
    case "connection":
      return { ...state, connection: action.connection };
    case "stopping":
      return { ...state, stopping: true };
    case "failed":
      if (action.kind === "cancelled") return settled({ ...state, status: "cancelled" });
      return settled({ ...state, error: { message: action.message, kind: action.kind }, status: "error" });
  }
}

function applyEvent(state: RunState, event: RunEvent, at: number): RunState {
  switch (event.event) {
    case "run": {
      const { run_id, thread_id, preset, model, question } = event.data;
      return { ...state, runId: run_id, threadId: thread_id, preset, model, question };
    }
    case "node":
      return { ...state, steps: withNode(state.steps, event, at) };
    case "progress":
      return { ...state, steps: withProgress(state.steps, event.data) };
    case "step":
      return { ...state, steps: withSaid(state.steps, event.data) };
    case "schema":
      return { ...state, schema: event.data };
    case "plan":
      return { ...state, plan: event.data };
    case "query_result":
      return { ...state, attempts: [...state.attempts, event.data] };
    case "retry":
      return withRetry(state, {
        taskId: event.data.task_id,
        attempt: event.data.attempt,
        category: event.data.category,
        feedback: event.data.feedback,
      });
    case "revision":
      return withRevision(state, event.data.task_id, event.data.reasoning);
    case "token":
      return { ...state, text: state.text + event.data };
    case "clarify":
      return {
        ...state,
        status: "waiting",
        clarify: { question: event.data.question, options: event.data.options },
      };
    case "answer": {
      const answer = withRows(event.data, state);
      const clarify = state.clarify ?? answer.clarification ?? null;
      const text = clarify ? "" : answer.answer;
      return { ...state, answer, text, clarify, attempts: answer.attempts, status: clarify ? "waiting" : answer.status };
    }
    case "error":
      return { ...state, error: event.data, status: event.data.kind === "cancelled" ? "cancelled" : "error" };
    case "done":
      return settled({ ...state, elapsed: event.data.elapsed });
    default:
      return state; // a newer server may say more than this page knows
  }
}

/** The answer's attempts come without rows, which were sent with each attempt's own event. */
function withRows(answer: Answer, state: RunState): Answer {
  const attempts = answer.attempts.map((attempt) => {
    if (attempt.data) return attempt;
    const seen = state.attempts.find((a) => a.task_id === attempt.task_id && a.attempt === attempt.attempt);
    return seen?.data ? { ...attempt, data: seen.data } : attempt;
  });
  return { ...answer, attempts };
}

function withNode(steps: readonly Step[], event: NodeEvent, at: number): readonly Step[] {
  const open = steps.findLastIndex((step) => !step.done && step.node === event.node);
  if (event.status === "running" || open < 0) {
    return [
      ...steps,
      {
        node: event.node,
        taskId: event.task_id,
        attempt: event.attempt,
        done: event.status === "done",
        startedAt: at,
        elapsedMs: event.elapsed_ms,
        tokens: event.tokens ?? null,
        written: 0,
        said: "",
        problem: event.problem ?? "",
        retry: null,
        revision: null,
      },
    ];
  }
  return steps.map((step, index) =>
    index === open
      ? {
          ...step,
          done: true,
          elapsedMs: event.elapsed_ms,
          tokens: event.tokens ?? null,
          problem: event.problem ?? "",
          taskId: event.task_id ?? step.taskId,
          attempt: event.attempt ?? step.attempt,
        }
      : step,
  );
}

/** What a step that runs knows so far, in a line. */
function withSaid(steps: readonly Step[], { observation }: { observation: string }): readonly Step[] {
  return steps.map((step) => (step.done ? step : { ...step, said: observation }));
}

function withProgress(steps: readonly Step[], { node, tokens }: { node: string; tokens: number }): readonly Step[] {
  return steps.map((step) => (step.node === node && !step.done ? { ...step, written: tokens } : step));
}

/** Marks the check that sent the attempt back, so that the reason stands where it arose. */
function withRetry(state: RunState, retry: Retry): RunState {
  const checked = state.steps.findLastIndex((step) => step.node === "executor_eval" && step.taskId === retry.taskId);
  const steps = state.steps.map((step, index) => (index === checked ? { ...step, retry } : step));
  return { ...state, steps, retries: [...state.retries, retry] };
}

/** Says at the check that goes on why the model wrote another query after it saw the rows. */
function withRevision(state: RunState, taskId: string, reasoning: string): RunState {
  const checked = state.steps.findLastIndex((step) => step.node === "executor_eval" && step.taskId === taskId);
  const steps = state.steps.map((step, index) => (index === checked ? { ...step, revision: reasoning } : step));
  return { ...state, steps };
}

/** Nothing runs any more, whatever was said last. */
function settled(state: RunState): RunState {
  const status = state.status === "running" ? (state.stopping ? "cancelled" : "interrupted") : state.status;
  return { ...state, status, steps: state.steps.map((step) => (step.done ? step : { ...step, done: true })) };
}
