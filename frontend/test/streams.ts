/** Streams recorded from the real agent (test/streams), and the states they lead to. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RunEvent } from "../src/api/events";
import { reduceRun } from "../src/run/reducer";
import { newRun, type RunState } from "../src/run/state";

export type Recording = "rows" | "declined" | "retried" | "two-tasks" | "failed";

export function recorded(name: Recording): RunEvent[] {
  const text = readFileSync(join(import.meta.dirname, "streams", `${name}.jsonl`), "utf8");
  return text.trim().split("\n").map((line) => JSON.parse(line) as RunEvent);
}

/** The state after the events up to and including the first that `until` holds for; after all of them without it. */
export function stateAfter(events: readonly RunEvent[], until?: (event: RunEvent) => boolean): RunState {
  let state = newRun("", null, 1000);
  for (const [index, event] of events.entries()) {
    state = reduceRun(state, { type: "event", id: index + 1, at: 1000 + index, event });
    if (until?.(event)) break;
  }
  return state;
}

/** The same events as a server sends them. */
export function asSse(events: readonly RunEvent[], from = 1): string {
  return events.map((event, index) => `id: ${from + index}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}
