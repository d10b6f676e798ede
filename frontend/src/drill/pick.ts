/** What was pointed at in a result: rows of it, and the figure or cell in them. */
import { createContext } from "react";
import type { Row } from "../api/events";

export interface Picked {
  /** Several, where one mark of a chart stands for them. */
  rows: readonly Row[];
  column: number | null;
}

export type OnPick = (picked: Picked, at: Element) => void;

export interface Source {
  preset: string;
  sql: string;
}

/** A result that one came to, from another. */
export interface Step {
  name: string;
  source: Source;
}

/** Goes on to another result; null outside of a way that one is on. */
export const DrillContext = createContext<((step: Step) => void) | null>(null);
