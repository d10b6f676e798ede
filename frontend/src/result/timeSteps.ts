/** The regular steps of a time series (days, weeks, months, quarters, years), so that a missing one is seen. */
import type { Cell } from "../api/events";

const DAY = 86_400_000;
const MOST = 1500;

/** A date, or a year as a number, in milliseconds; NaN for anything else. */
export function timeOf(value: Cell): number {
  if (typeof value === "number") return Date.UTC(value, 0, 1);
  if (typeof value !== "string") return Number.NaN;
  const text = value.replace(" ", "T");
  return Date.parse(text.length > 10 && !/(Z|[+-]\d{2}:?\d{2})$/.test(text) ? `${text}Z` : text);
}

/** A time as the column writes its own, of which `sample` is one. */
export function likeSample(time: number, sample: Cell): Cell {
  const text = new Date(time).toISOString();
  if (typeof sample === "number") return Number(text.slice(0, 4));
  const written = text.slice(0, String(sample).length);
  return String(sample)[10] === " " ? written.replace("T", " ") : written;
}

/** All times from the first to the last in the steps that `times` keeps; as they are where there are no such steps. */
export function everyStep(times: readonly number[]): number[] {
  const sorted = [...new Set(times)].toSorted((a, b) => a - b);
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (first === undefined || last === undefined || sorted.length < 3) return sorted;
  // the last days of months are their ends as the first days are their beginnings
  const shift = sorted.every((time) => startsMonth(time + DAY)) ? DAY : 0;
  if (sorted.every((time) => startsMonth(time + shift))) {
    const months = sorted.map((time) => monthOf(time + shift));
    const steps = evenSteps(months, 1, 0.25);
    return steps ? steps.map((month) => Date.UTC(Math.floor(month / 12), month % 12, 1) - shift) : sorted;
  }
  return evenSteps(sorted, DAY, 0.5) ?? sorted;
}

const startsMonth = (time: number): boolean => time % DAY === 0 && new Date(time).getUTCDate() === 1;
const monthOf = (time: number): number => new Date(time).getUTCFullYear() * 12 + new Date(time).getUTCMonth();

/** Places at the smallest distance that occurs, or else at `unit`; null where fewer than `filled` of them have a value. */
function evenSteps(places: readonly number[], unit: number, filled: number): number[] | null {
  const first = places[0] ?? 0;
  const last = places.at(-1) ?? 0;
  const smallest = Math.min(...places.slice(1).map((place, index) => place - (places[index] ?? 0)));
  const step = [smallest, unit].find((size) => places.every((place) => (place - first) % size === 0));
  const count = step ? (last - first) / step + 1 : 0;
  if (!step || count > MOST || places.length < count * filled) return null;
  return Array.from({ length: count }, (_, index) => first + index * step);
}
