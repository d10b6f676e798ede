/** Earlier questions, newest first, and walking through them with the arrow keys. */
import type { RunSummary } from "../api/types";

/** What the server remembers, and before it what was just asked on this page, the latest last. */
export function earlierQuestions(runs: readonly RunSummary[], asked: readonly string[] = []): string[] {
  const kept = runs.filter((run) => run.kind !== "sql").map((run) => run.question);
  return [...new Set([...asked.toReversed(), ...kept])];
}

/**
 * One step back (1) or forth (-1) from `place` (-1: what is being typed). Null when the key belongs to the text: one
 * only walks from an empty field, or when already walking.
 */
export function walk(
  history: readonly string[],
  place: number,
  step: 1 | -1,
  text: string,
): { place: number; text: string } | null {
  if (place < 0 && (step < 0 || text !== "")) return null;
  const next = place + step;
  if (next < 0) return { place: -1, text: "" };
  const question = history[next];
  return question === undefined ? null : { place: next, text: question };
}
