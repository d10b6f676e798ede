/** How sure an answer is, in one plain line, and in which tone it is said. */
import type { Answer, Attempt, Evidence } from "../api/events";

export type Tone = "sure" | "doubt" | "wrong" | "plain";

export interface Sureness {
  tone: Tone;
  /** 0..1, where a figure is known. */
  probability: number | null;
  line: string;
}

export function sureness(answer: Answer): Sureness {
  const probability = answer.confidence;
  if (answer.status === "error") return { tone: "wrong", probability: null, line: "There is no answer: the query failed." };
  if (answer.status === "abstained")
    return { tone: "plain", probability: null, line: "Not answered: the question was not understood well enough." };
  const odds = probability === null ? "" : ` ${inTen(probability)} such answers are right.`;
  if (answer.status === "doubtful") {
    const doubt = answer.doubts[0];
    const why = doubt ? `: ${lowerFirst(doubt.replace(/\.$/, ""))}` : "";
    // a doubt that gives a figure of its own needs no second one
    return { tone: "doubt", probability, line: `Doubtful${why}.${why.includes("%") ? "" : odds}` };
  }
  if (probability !== null && probability < 0.6)
    return { tone: "doubt", probability, line: `Passed the checks, but the evidence is thin.${odds}` };
  if (probability !== null && probability < 0.8) return { tone: "sure", probability, line: `Likely right.${odds}` };
  return { tone: "sure", probability, line: probability === null ? "Passed every check." : `Very likely right.${odds}` };
}

/** A probability as people weigh it. */
export function inTen(probability: number): string {
  const of10 = Math.round(probability * 10);
  if (probability >= 0.95) return "About 19 in 20";
  if (of10 <= 0) return "Fewer than 1 in 10";
  return `About ${Math.min(of10, 9)} in 10`;
}

function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? (text[0]?.toLowerCase() ?? "") + text.slice(1) : text;
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
