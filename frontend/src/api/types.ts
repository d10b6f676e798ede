/** The bodies of the HTTP API, as the server documents them; `test/openapi.test.ts` holds them against its schema. */
import type { Answer, Cell, Row, Teaching } from "./events";

export interface Preset {
  id: string;
  name: string;
  description: string;
  dialect: string;
  kind: "demo" | "configured" | "connected" | "uploaded";
  examples: string[];
  tables: number | null;
  default: boolean;
  removable: boolean;
  /** How an uploaded file was read. */
  notes?: string[];
}

export interface SchemaColumn {
  name: string;
  type: string;
  primary_key: boolean;
  /** `table.column` that this column points to. */
  foreign_key: string | null;
  nullable: boolean;
  comment?: string | null;
  /** True where the link is read from names and values, not declared. */
  inferred?: boolean;
}

export interface SchemaTable {
  name: string;
  columns: SchemaColumn[];
  row_count: number | null;
  comment?: string | null;
  kind?: "table" | "view";
  namespace?: string | null;
}

export interface DatabaseSchema {
  tables: SchemaTable[];
  dialect?: string;
  fingerprint?: string;
}

export interface ColumnValues {
  values: { value: Cell; count: number }[];
  distinct: number | null;
  nulls: number | null;
  min: Cell;
  max: Cell;
}

export interface TableSample {
  columns: string[];
  rows: Row[];
}

/** What a column's rows look like, or a part of them where the table is long. */
export interface ColumnFacts {
  table: string;
  column: string;
  kind: string;
  nulls: number;
  low: string | null;
  high: string | null;
  mean: number | null;
  formats: { name: string; share: number; example: string }[];
}

/** Something that holds for a table's rows; `table` is empty where it is about several. */
export interface Pattern {
  table: string;
  text: string;
}

/** What a query on the table, or on one of its columns, has to mind. */
export interface Pitfall {
  table: string;
  column: string;
  text: string;
}

export interface Profile {
  columns: ColumnFacts[];
  patterns: Pattern[];
  guidance: Pitfall[];
  complete: boolean;
}

export interface QueryRequest {
  question: string;
  preset?: string;
  thread_id?: string;
  resumable?: boolean;
  /** The question is read as it stands, without the turns before it. */
  alone?: boolean;
  model?: string;
}

/** What somebody taught of a database, in a sentence. */
export interface TaughtTerm extends Teaching {
  term_id: string;
  told: string;
  /** The answer that it was learned from; empty where it was taught by itself. */
  run_id: string;
  created: string;
  /** When it was forgotten; null where it holds. */
  forgotten: string | null;
}

export interface TermRequest extends Teaching {
  preset: string;
}

/** What a term gives on the data; nothing is kept. */
export interface TriedTerm {
  told: string;
  tried: string;
  sql: string;
}

/** What a word that was not understood may mean. */
export interface LikelyMeaning {
  means: string;
  label: string;
}

/** What the server keeps of a verdict, and what it learned from a correction. */
export interface FeedbackReply {
  learned: TaughtTerm[];
}

export type RunStatus =
  | "running"
  | "success"
  | "doubtful"
  | "abstained"
  | "error"
  | "cancelled"
  | "interrupted"
  | "waiting"
  | "refused"
  | "timeout";

export type Verdict = "right" | "wrong" | "corrected";

interface RunFacts {
  run_id: string;
  /** Null for a statement that belongs to no thread. */
  thread_id: string | null;
  turn: number;
  /** `sql` for a statement that a person ran. */
  kind: "question" | "sql";
  preset: string;
  question: string;
  status: RunStatus;
  started: string;
  seconds: number | null;
  score: number | null;
  sql: string;
  model: string;
  feedback: Verdict | null;
}

/** A run in a list; `answer` is the beginning of it. */
export interface RunSummary extends RunFacts {
  answer: string;
}

/** A run with its whole answer, null while it goes on. */
export interface RunDetail extends RunFacts {
  kind: "question";
  answer: Answer | null;
}

/** A statement that a person ran, with what came of it. */
export interface SqlRun extends RunFacts {
  kind: "sql";
  /** Null: it was seen with other rights. */
  answer: SqlOutcome | null;
}

export interface RunRows {
  columns: { name: string; kind: string }[];
  rows: Row[];
  total: number;
  offset: number;
  limit: number;
  truncated: boolean;
}

export interface ThreadSummary {
  thread_id: string;
  title: string;
  preset: string;
  turns: number;
  updated: string;
}

export interface Clarification {
  question: string;
  options: string[];
}

export interface Thread {
  thread_id: string;
  title: string;
  preset: string;
  runs: (RunDetail | SqlRun)[];
  waiting: Clarification | null;
}

export interface SqlRequest {
  preset: string;
  sql: string;
  thread_id?: string;
  question?: string;
}

export interface SqlOutcome {
  allowed: boolean;
  reason: string | null;
  sql: string;
  phantoms: Record<string, { name: string; nearest: string[] }[]> | null;
  status: "success" | "error" | "timeout" | "refused";
  columns: string[];
  rows: Row[];
  rows_returned: number;
  truncated: boolean;
  error: string | null;
  execution_time_ms: number;
}

export interface SqlResult extends SqlOutcome {
  run_id: string;
}

export interface VerifiedPair {
  run_id: string;
  question: string;
  sql: string;
  preset: string;
  verdict: Verdict;
  created: string;
}

export interface Health {
  status: string;
  model: string;
  score_threshold: number;
  max_retries: number;
  dialect: string;
  version: string;
  privacy: string;
  /** The built-in engine answers, because no model is configured. */
  offline: boolean;
  auth: boolean;
  /** The default preset. */
  database: string;
  /** There are runs of the lab to be shown. */
  lab?: boolean;
  /** Results can be saved as Parquet. */
  parquet?: boolean;
}

export type ExportFormat = "csv" | "jsonl" | "xlsx" | "parquet";

/** How a column of an uploaded file is read; what is null is decided by its values. */
export interface ColumnPlan {
  header: string;
  kind?: "text" | "number" | "date" | "truth" | "as it is" | "left out" | null;
  decimal?: "." | "," | null;
  order?: "dmy" | "mdy" | null;
  unit?: string | null;
  fold?: boolean;
  decided?: boolean;
}

export interface TablePlan {
  table: string;
  columns: ColumnPlan[];
  repeats?: "keep" | "leave out" | null;
  totals?: "keep" | "leave out";
  forms?: "together" | "apart" | null;
  periods?: "rows" | "columns" | null;
}

export interface FileRow {
  row: number;
  text: string;
}

export interface ColumnFound {
  name: string;
  type: string;
  /** `£ → number, 3,000 of 3,000`. */
  line: string;
  misfits?: FileRow[];
  doubt?: string | null;
}

export interface TableReading {
  plan: TablePlan;
  found: {
    rows: number;
    columns: ColumnFound[];
    left_out?: FileRow[];
    left_out_count?: number;
    repeats?: number;
    repeated_keys?: string[];
    notes?: string[];
    parts?: string[];
  };
}

/** How the files of an upload were read. */
export interface FileReading {
  tables?: TableReading[];
}
