/** How sure an answer is, in one plain line, and in which tone it is said. */
import type { Answer, Attempt, Evidence } from "../api/events";

export type Tone = "sure" | "doubt" | "wrong" | "plain";

export interface Sureness {
  tone: Tone;
  /** 0..1, where a figure is known. */
  probability: number | null;
  line: string;
}

/** The line is the server's, so that every door says the same. */
export function sureness(answer: Answer): Sureness {
  const line = answer.verdict ?? (answer.status === "doubtful" ? "Doubtful." : "");
  if (answer.status === "error") return { tone: "wrong", probability: null, line };
  const unproved = answer.executed === false && answer.status === "success";
  if (answer.status === "abstained" || unproved) return { tone: "plain", probability: null, line };
  const probability = answer.confidence;
  return { tone: answer.status === "doubtful" ? "doubt" : "sure", probability, line };
}

/** The attempt that the answer stands on: the last that ran the answer's SQL. */
export function shownAttempt(answer: Answer): Attempt | null {
  return answer.attempts.findLast((attempt) => attempt.sql === answer.sql) ?? answer.attempts.at(-1) ?? null;
}

/** Evidence in the order of its weight, what speaks against the answer first among equals. */
export function weighed(evidence: readonly Evidence[]): Evidence[] {
  return evidence.toSorted((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
}

export const DIMENSIONS: readonly { key: string; name: string; meaning: string; weight: number }[] = [
  { key: "correctness", name: "Correctness", meaning: "how likely the rows are right", weight: 0.35 },
  { key: "safety", name: "Safety", meaning: "read-only, one statement, no side effects", weight: 0.2 },
  { key: "efficiency", name: "Efficiency", meaning: "cost for what it returns", weight: 0.15 },
  { key: "completeness", name: "Completeness", meaning: "all rows and columns asked for", weight: 0.1 },
  { key: "semantic_accuracy", name: "Meaning", meaning: "the question's intent, values and units", weight: 0.1 },
  { key: "best_practices", name: "Good practice", meaning: "layout, aliases, readability", weight: 0.05 },
  { key: "plan_quality", name: "Plan", meaning: "quality of the plan and its reasoning", weight: 0.05 },
];
