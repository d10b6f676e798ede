import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "../../src/api/client";
import type { RunEvent } from "../../src/api/events";
import { type Connection, followRun, RETRY_DELAYS } from "../../src/api/followRun";
import { asSse, recorded } from "../streams";

const events = recorded("rows");

/** A server whose answers are given in order; a string is a stream that then ends, or breaks with `ends: "break"`. */
function serve(...answers: ({ text: string; ends?: "break" } | { status: number; message: string } | "away")[]) {
  const calls: { path: string; init: RequestInit }[] = [];
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    calls.push({ path, init });
    const answer = answers.shift();
    if (!answer || answer === "away") throw new TypeError("Failed to fetch");
    if ("status" in answer)
      return Response.json({ error: { kind: "busy", message: answer.message, request_id: "r" } }, { status: answer.status });
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(answer.text));
        if (!answer.ends) controller.close();
      },
      pull(controller) {
        if (answer.ends) controller.error(new TypeError("network error"));
      },
    });
    return new Response(body, { headers: { "X-Run-ID": "run-rows" } });
  });
  return calls;
}

function listener() {
  const heard: RunEvent[] = [];
  const states: Connection[] = [];
  return { heard, states, event: (event: RunEvent) => heard.push(event), connection: (s: Connection) => states.push(s) };
}

const ASK = { ask: { question: "q", preset: "shop" } };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function settle(promise: Promise<void>): Promise<unknown> {
  const outcome = promise.then(
    () => null,
    (error: unknown) => error,
  );
  for (let i = 0; i < 30; i++) await vi.advanceTimersByTimeAsync(1000);
  return outcome;
}

describe("following a run", () => {
  it("asks for a run that survives a lost connection, and hears it to the end", async () => {
    const calls = serve({ text: asSse(events) });
    const ear = listener();
    expect(await settle(followRun(ASK, ear, new AbortController().signal))).toBeNull();
    expect(ear.heard).toEqual(events);
    expect(calls).toHaveLength(1);
    expect(JSON.parse(String(calls[0]?.init.body))).toEqual({ question: "q", preset: "shop", resumable: true });
  });

  it("picks a broken stream up behind the last event", async () => {
    const calls = serve({ text: asSse(events.slice(0, 5)), ends: "break" }, "away", { text: asSse(events.slice(5), 6) });
    const ear = listener();
    expect(await settle(followRun(ASK, ear, new AbortController().signal))).toBeNull();
    expect(ear.heard).toEqual(events);
    expect(ear.states).toEqual(["open", "retrying", "retrying", "open"]);
    expect(calls[2]?.path).toBe("/runs/run-rows/events");
    expect(new Headers(calls[2]?.init.headers).get("Last-Event-ID")).toBe("5");
  });

  it("picks up a stream that just ended before the run was done", async () => {
    serve({ text: asSse(events.slice(0, 3)) }, { text: asSse(events.slice(3), 4) });
    const ear = listener();
    expect(await settle(followRun(ASK, ear, new AbortController().signal))).toBeNull();
    expect(ear.heard).toEqual(events);
  });

  it("gives up after a while, and says that the connection is lost", async () => {
    const calls = serve({ text: asSse(events.slice(0, 3)), ends: "break" });
    const ear = listener();
    const error = await settle(followRun(ASK, ear, new AbortController().signal));
    expect(error).toBeInstanceOf(ApiError);
    expect(calls).toHaveLength(1 + RETRY_DELAYS.length);
    expect(ear.states.at(-1)).toBe("lost");
  });

  it("does not insist when the server refuses", async () => {
    const calls = serve({ status: 503, message: "Too many questions at once." });
    const error = await settle(followRun(ASK, listener(), new AbortController().signal));
    expect(error).toMatchObject({ status: 503, message: "Too many questions at once." });
    expect(calls).toHaveLength(1);
  });

  it("does not ask twice when the first request gets no answer at all", async () => {
    const calls = serve("away");
    expect(await settle(followRun(ASK, listener(), new AbortController().signal))).toMatchObject({ status: 0 });
    expect(calls).toHaveLength(1);
  });
});
