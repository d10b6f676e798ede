import { describe, expect, it } from "vitest";
import type { RunEvent } from "../../src/api/events";
import { reduceRun } from "../../src/run/reducer";
import { newRun } from "../../src/run/state";
import { shownSteps } from "../../src/run/steps";
import { taskState } from "../../src/watch/taskState";
import { recorded, stateAfter } from "../streams";

describe("a question that is answered at once", () => {
  const state = stateAfter(recorded("rows"));

  it("knows its run, its thread and the question", () => {
    expect(state).toMatchObject({ runId: "run-rows", threadId: "th-1", preset: "shop", model: "offline" });
    expect(state.question).toBe("How many products does each category have?");
  });

  it("ends as answered, with the answer's words and rows", () => {
    expect(state.status).toBe("success");
    expect(state.answer?.rows).toHaveLength(11);
    expect(state.text).toBe(state.answer?.answer);
    expect(state.elapsed).toBeGreaterThan(0);
  });

  it("has gone through every step once, and none is left open", () => {
    expect(shownSteps(state.steps).map((step) => step.node)).toEqual([
      "schema_analyzer",
      "planner",
      "query_generator",
      "executor_eval",
      "summarizer",
    ]);
    expect(state.steps.every((step) => step.done)).toBe(true);
  });

  it("keeps the rows of its attempt, which the answer does not repeat", () => {
    expect(state.attempts[0]?.data).toHaveLength(11);
    expect(state.answer?.attempts[0]?.data).toHaveLength(11);
  });
});

describe("a run under way", () => {
  it("shows the step that runs, until it is done", () => {
    const state = stateAfter(recorded("rows"), (e) => e.event === "node" && e.node === "planner");
    expect(state.steps.at(-1)).toMatchObject({ node: "planner", done: false, elapsedMs: null });
    expect(state.status).toBe("running");
  });

  it("counts what the model has written in the step that runs", () => {
    const events = recorded("rows").flatMap((e): RunEvent[] =>
      e.event === "node" && e.node === "planner" && e.status === "running"
        ? [e, { event: "progress", data: { node: "planner", tokens: 84 } }]
        : [e],
    );
    const state = stateAfter(events, (e) => e.event === "progress");
    expect(state.steps.map((step) => [step.node, step.written])).toContainEqual(["planner", 84]);
    expect(state.steps.filter((step) => step.written)).toHaveLength(1);
  });

  it("keeps what did not work in a step that went on without it", () => {
    const problem = "The model's plan was no plan.";
    const events = recorded("rows").map((e) =>
      e.event === "node" && e.node === "planner" && e.status === "done" ? { ...e, problem } : e,
    );
    const steps = stateAfter(events).steps;
    expect(steps.find((step) => step.node === "planner")?.problem).toBe(problem);
    expect(steps.filter((step) => step.problem)).toHaveLength(1);
  });

  it("grows the answer word by word", () => {
    const events = recorded("two-tasks");
    const tokens = events.filter((e) => e.event === "token").length;
    let seen = 0;
    const state = stateAfter(events, (e) => e.event === "token" && ++seen === tokens - 1);
    expect(state.text).toBe("There are **480** customers and **3,600** ");
  });

  it("marks the check that sent an attempt back with the reason", () => {
    const state = stateAfter(recorded("retried"), (e) => e.event === "retry");
    const checked = state.steps.filter((step) => step.node === "executor_eval");
    expect(checked).toHaveLength(1);
    expect(checked[0]?.retry).toMatchObject({ category: "hallucination", attempt: 2 });
    expect(checked[0]?.retry?.feedback).toContain("town");
  });
});

describe("a run that was mended", () => {
  const state = stateAfter(recorded("retried"));

  it("has both attempts and why the first was retried", () => {
    expect(state.attempts.map((a) => [a.attempt, a.status, a.retry_category])).toEqual([
      [1, "failed", "hallucination"],
      [2, "success", null],
    ]);
    expect(state.status).toBe("success");
  });
});

describe("a plan of several tasks", () => {
  it("says how far each task is", () => {
    const events = recorded("two-tasks");
    const during = stateAfter(events, (e) => e.event === "node" && e.node === "executor_eval" && e.task_id === "b");
    expect([taskState(during, "a"), taskState(during, "b")]).toEqual(["done", "running"]);
    const before = stateAfter(events, (e) => e.event === "plan");
    expect([taskState(before, "a"), taskState(before, "b")]).toEqual(["waiting", "waiting"]);
    const after = stateAfter(events);
    expect([taskState(after, "a"), taskState(after, "b")]).toEqual(["done", "done"]);
  });

  it("marks a task that no attempt could do", () => {
    expect(taskState(stateAfter(recorded("failed")), "t1")).toBe("failed");
  });
});

describe("ends that are no answers", () => {
  it("keeps the error of a run that failed", () => {
    const state = stateAfter(recorded("failed"));
    expect(state.status).toBe("error");
    expect(state.error).toEqual({ message: "There is no table nowhere", kind: "sql" });
  });

  it("keeps what can be asked instead when the question was declined", () => {
    const state = stateAfter(recorded("declined"));
    expect(state.status).toBe("abstained");
    expect(state.answer?.alternatives).toHaveLength(3);
  });

  it("waits when something is asked back, whatever the answer says", () => {
    const asked = { question: "Which year?", options: ["2024", "2025"] };
    let state = newRun("Sales?", "shop", 0);
    state = reduceRun(state, { type: "event", id: 1, at: 0, event: { event: "clarify", data: { ...asked, thread_id: "t" } } });
    state = reduceRun(state, { type: "event", id: 2, at: 0, event: { event: "done", data: { elapsed: 1 } } });
    expect(state.status).toBe("waiting");
    expect(state.clarify).toEqual(asked);
  });

  it("is stopped when somebody stopped it, and broken off when nobody did", () => {
    const done = { type: "event", id: 99, at: 0, event: { event: "done", data: { elapsed: 1 } } } as const;
    const going = stateAfter(recorded("rows"), (e) => e.event === "plan");
    expect(reduceRun(going, done).status).toBe("interrupted");
    expect(reduceRun(reduceRun(going, { type: "stopping" }), done).status).toBe("cancelled");
    expect(reduceRun(going, done).steps.every((step) => step.done)).toBe(true);
  });

  it("takes the server's word that it was stopped", () => {
    const going = stateAfter(recorded("rows"), (e) => e.event === "plan");
    const event = { event: "error", data: { message: "Stopped.", kind: "cancelled" } } as const;
    expect(reduceRun(going, { type: "event", id: 99, at: 0, event }).status).toBe("cancelled");
  });
});

describe("a stream that was resumed", () => {
  it("takes no event twice", () => {
    const events = recorded("two-tasks");
    let state = stateAfter(events);
    for (const [index, event] of events.entries()) state = reduceRun(state, { type: "event", id: index + 1, at: 9, event });
    expect(state).toEqual(stateAfter(events));
  });

  it("leaves alone what it does not know", () => {
    const state = newRun("q", null, 0);
    const event = { event: "weather", data: "rain" } as never;
    expect(reduceRun(state, { type: "event", id: 1, at: 0, event })).toEqual({ ...state, lastEventId: 1 });
  });
});
