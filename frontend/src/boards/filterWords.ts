/** Filters of a board in words, and as a part of its address. */
import type { BoardFilter, FilterValue } from "../api/boardTypes";

/** Periods that move with the day; the server reads them as a question's. */
export const PERIODS = [
  "today", "yesterday", "last 7 days", "last 30 days", "this week", "last week", "this month", "last month", "this quarter",
  "last quarter", "this year", "last year",
] as const;

/** What a filter narrows to, for its button. */
export function narrowed(filter: BoardFilter, value: FilterValue): string {
  const [first, second] = value;
  if (value.length === 0) return "all";
  if (filter.kind === "date" && value.length === 1) return first ?? "all";
  if (filter.kind === "value") {
    const shown = value.slice(0, 2).map((one) => one ?? "NULL");
    return value.length > 2 ? `${shown.join(", ")} and ${value.length - 2} more` : shown.join(", ");
  }
  if (first && second) return `${first} to ${second}`;
  return first ? `from ${first}` : `up to ${second ?? ""}`;
}

/** The values that the address names, where it names one for each filter; else those that the owner left. */
export function valuesIn(search: string, filters: readonly (BoardFilter | null)[]): FilterValue[] {
  const left = filters.map((filter) => filter?.value ?? []);
  try {
    const named: unknown = JSON.parse(new URLSearchParams(search).get("f") ?? "null");
    if (!Array.isArray(named) || named.length !== filters.length) return left;
    return named.map((value) => (Array.isArray(value) ? value.filter(isValue) : []));
  } catch {
    return left;
  }
}

const isValue = (one: unknown): one is string | null => one === null || typeof one === "string";

/** Writes the values into the address, so that a copied link shows the same. */
export function nameValues(values: readonly FilterValue[] | null): void {
  const search = values ? `?f=${encodeURIComponent(JSON.stringify(values))}` : "";
  history.replaceState(null, "", `${location.pathname}${search}`);
}
