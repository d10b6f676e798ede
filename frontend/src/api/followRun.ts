/**
 * Follows one run from its first event to `done`, across lost connections: the POST starts it, and after a break
 * the stream is picked up again behind the last event that was seen.
 */
import { ApiError, jsonRequest, send } from "./client";
import type { RunEvent } from "./events";
import { readMessages } from "./sse";
import type { QueryRequest } from "./types";

export type Connection = "open" | "retrying" | "lost";

export interface RunListener {
  event(event: RunEvent, id: number): void;
  connection(state: Connection): void;
}

/** What to follow: a new question, the same question again, or a run that is already under way. */
export type RunSource = { ask: QueryRequest } | { again: string } | { resume: string; after: number };

/** Milliseconds between tries; the server keeps a run without readers for about 15 s. */
export const RETRY_DELAYS = [300, 700, 1500, 3000, 4500, 6000];

export async function followRun(source: RunSource, listener: RunListener, signal: AbortSignal): Promise<void> {
  let runId = "resume" in source ? source.resume : null;
  let last = "resume" in source ? source.after : 0;
  let failures = 0;
  let request = opening(source, signal);
  for (;;) {
    try {
      const response = await request;
      runId = response.headers.get("X-Run-ID") ?? runId;
      listener.connection("open");
      if (!response.body) throw new ApiError(0, "unreachable", "The server sent no stream.");
      for await (const message of readMessages(response.body)) {
        const event = JSON.parse(message.data) as RunEvent;
        last = message.id ?? last + 1;
        failures = 0;
        if (event.event === "run") runId = event.data.run_id;
        listener.event(event, last);
        if (event.event === "done") return;
      }
    } catch (error) {
      if (signal.aborted) throw error;
      const refused = error instanceof ApiError && !error.unreachable;
      if (refused || runId === null) throw error;
    }
    // the stream ended without `done`, or broke off
    const delay = RETRY_DELAYS[failures++];
    if (delay === undefined || runId === null) {
      listener.connection("lost");
      throw new ApiError(0, "unreachable", "The connection was lost and could not be picked up again.");
    }
    listener.connection("retrying");
    await pause(delay, signal);
    request = resumed(runId, last, signal);
  }
}

function opening(source: RunSource, signal: AbortSignal): Promise<Response> {
  if ("ask" in source) return send("/query", jsonRequest({ ...source.ask, resumable: true }, signal));
  if ("again" in source) return send(`/runs/${encodeURIComponent(source.again)}/again`, jsonRequest({}, signal));
  return resumed(source.resume, source.after, signal);
}

function resumed(runId: string, after: number, signal: AbortSignal): Promise<Response> {
  return send(`/runs/${encodeURIComponent(runId)}/events`, { headers: { "Last-Event-ID": String(after) }, signal });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        reject(new DOMException("Stopped", "AbortError"));
      },
      { once: true },
    );
  });
}
