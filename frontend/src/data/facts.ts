/** What is known of a column's rows in a few words, and of a table in a few sentences. */
import type { ColumnFacts, Profile, SchemaColumn } from "../api/types";
import { cellText } from "../result/columnKinds";

/** Keys are named by their links; their smallest and largest value would say nothing. */
export function factsOf(facts: ColumnFacts, column: SchemaColumn): string[] {
  const format = facts.formats.find((each) => each.share >= MOST && !each.name.startsWith("date"));
  const isKey = column.primary_key || column.foreign_key !== null;
  const ranged = !isKey && facts.low !== null && facts.high !== null && facts.low !== facts.high;
  return [
    format?.name ?? "",
    ranged ? `${bound(facts.low)} to ${bound(facts.high)}` : "",
    ranged && facts.mean !== null ? `mean ${cellText(Number(facts.mean.toPrecision(3)))}` : "",
    facts.nulls > 0 ? `${cellText(facts.nulls)} NULL` : "",
  ].filter(Boolean);
}

/** Numbers are told as text. */
function bound(text: string | null): string {
  const number = Number(text);
  return text === null || Number.isNaN(number) ? String(text) : cellText(number);
}

const MOST = 0.9;

export function worthKnowing(profile: Profile, table: string): string[] {
  const patterns = profile.patterns.filter((each) => each.table === table).map((each) => each.text);
  const pitfalls = profile.guidance
    .filter((each) => each.table === table)
    .map((each) => (each.column === "" ? each.text : `${each.column}: ${each.text}`));
  return [...patterns, ...pitfalls];
}
