/** Kept answers and the boards that they are on, as the server sends them. */
import type { KeptChart } from "./chartTypes";
import type { Row } from "./events";

/** A constant of the SQL that may be set anew. */
export interface KeptParameter {
  name: string;
  value: string;
  kind: "text" | "number";
}

/** The first rows that the statement returned, and when. */
export interface KeptRows {
  status: "success" | "error" | "timeout" | "refused";
  columns: string[];
  rows: Row[];
  rows_returned: number;
  truncated: boolean;
  error: string | null;
  execution_time_ms: number;
  sql: string;
  refreshed: string;
  /** Of each filter of the board that has a value, whether the statement reads what it is about. */
  filtered: boolean[];
}

export interface KeptAnswer {
  kept_id: string;
  title: string;
  question: string;
  preset: string;
  sql: string;
  dialect: string;
  /** Empty: as a table. */
  chart: Partial<KeptChart>;
  parameters: KeptParameter[];
  result: KeptRows | null;
  created: string;
}

export interface Tile {
  /** Empty: a tile of text. */
  kept_id: string;
  /** Markdown, of a tile without an answer. */
  text: string;
  /** In quarters of the board. */
  width: number;
  /** In rows of the board; 0: as much as it takes. */
  height: number;
}

export type FilterKind = "date" | "value" | "number";

export interface FilterColumn {
  preset: string;
  table: string;
  column: string;
}

/** date: a period in words, or the first and the last day; value: the values; number: the least and the most. */
export type FilterValue = (string | null)[];

export interface BoardFilter {
  label: string;
  kind: FilterKind;
  /** Of each answer, the first that its statement reads is meant. */
  columns: FilterColumn[];
  /** Empty: it narrows nothing. */
  value: FilterValue;
}

/** A column that answers of a board can be narrowed by, and how many of them. */
export interface FilterOffer extends FilterColumn {
  kind: FilterKind;
  answers: number;
}

/** A way on from a figure or a cell of a result. */
export interface DrillWay {
  kind: "rows" | "by" | "only" | "without";
  label: string;
  sql: string;
}

export interface BoardSummary {
  board_id: string;
  title: string;
  tiles: Tile[];
  shared: boolean;
  updated: string;
}

export interface Board {
  board_id: string;
  title: string;
  tiles: Tile[];
  /** In the order of the tiles that hold one. */
  answers: KeptAnswer[];
  /** Null in place of one whose columns the reader may not see. */
  filters: (BoardFilter | null)[];
  /** The secret part of its link; null where it is not shared, or not one's own. */
  share: string | null;
  updated: string;
  mine: boolean;
}
