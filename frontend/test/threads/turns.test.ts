import { expect, it } from "vitest";
import type { RunDetail, SqlOutcome } from "../../src/api/types";
import { turnsOf } from "../../src/threads/turns";
import { recorded, stateAfter } from "../streams";

const state = stateAfter(recorded("rows"));
const stored = {
  run_id: "run-rows",
  thread_id: "th-1",
  turn: 1,
  kind: "question",
  preset: "shop",
  question: state.question,
  status: "success",
  started: "2026-01-01T00:00:00Z",
  seconds: 0.1,
  score: 0.9,
  sql: "SELECT 1",
  model: "offline",
  feedback: "right",
  answer: state.answer,
} satisfies RunDetail;

it("shows a run once that was watched and is kept, with its steps and its verdict", () => {
  const turns = turnsOf([stored], [{ key: "live-1", state }]);
  expect(turns).toHaveLength(1);
  expect(turns[0]).toMatchObject({ liveKey: "live-1", feedback: "right" });
  expect(turns[0]?.state.steps.length).toBeGreaterThan(0);
});

it("adds what is being watched behind what is kept", () => {
  const next = { ...state, runId: "run-next" };
  expect(turnsOf([stored], [{ key: "live-2", state: next }]).map((turn) => turn.state.runId)).toEqual(["run-rows", "run-next"]);
});

it("leaves statements typed by hand out of the conversation", () => {
  expect(turnsOf([{ ...stored, kind: "sql", answer: {} as SqlOutcome }], [])).toEqual([]);
});

it("shows a kept run as it was answered", () => {
  const [turn] = turnsOf([stored], []);
  expect(turn?.state).toMatchObject({ status: "success", text: state.text, elapsed: 0.1 });
  expect(turn?.state.attempts).toHaveLength(1);
});
