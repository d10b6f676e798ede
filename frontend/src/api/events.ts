/**
 * What happens in a run, as the server tells it: one JSON object a message, named by its `event` field.
 * The vocabulary is `agent/events.py`; `run` and `clarify` are the server's own.
 */

export type Cell = string | number | boolean | null;
export type Row = Cell[];

export type RetryCategory = "execution_error" | "hallucination" | "safety" | "relevance" | "empty_result" | "generic";

export type AnswerStatus = "success" | "doubtful" | "abstained" | "error" | "waiting";

export interface PlanTask {
  id: string;
  description: string;
  sql: string;
  depends_on: string[];
}

export interface Plan {
  plan_type: "single" | "multi-sequential";
  confidence: number;
  tasks: PlanTask[];
}

export interface Phantom {
  name: string;
  nearest: string[];
}

export interface Evidence {
  name: string;
  supports: boolean | null;
  weight: number;
  text: string;
}

export interface EvalReport {
  overall: number;
  overall_before_relevance: number;
  dimensions: Record<string, number>;
  probability: number | null;
  relevance: { score: number; reasoning: string; weight: number };
  analysis: {
    hallucinations?: Partial<Record<"tables" | "columns" | "functions" | "ambiguous", Phantom[]>>;
    evidence?: Evidence[];
    notes?: Record<string, string>;
  };
  vetoes: string[];
}

/** One attempt at one task, run and scored. `data` is absent where the rows were sent before. */
export interface Attempt {
  task_id: string;
  attempt: number;
  sql: string;
  data?: Row[];
  columns: string[];
  /** What each column is counted in, as the semantic model says; empty where no column has a unit. */
  units?: string[];
  rows_returned: number;
  truncated: boolean;
  execution_time_ms: number;
  score: number;
  eval_report: EvalReport | null;
  status: "success" | "failed" | "error";
  error: string | null;
  reasoning: string;
  confidence: number | null;
  not_understood: string[];
  alternatives: string[];
  /** The query that its writer would have given had it been surer; it was not run. */
  guess?: string;
  failure: { kind: string; message: string } | null;
  /** Attempts that this one was preferred to: other candidates, or the query revised after a look at its rows. */
  replaces?: number[];
  /** Candidates with this result, of all that were written. */
  agreeing?: [number, number] | null;
  /** Whether the model accepted the rows when it saw them. */
  verified?: boolean | null;
  retry_category: RetryCategory | null;
  /** Whether it passes and how likely it is right, in a few words; attempts stored by an older server have none. */
  verdict?: string | undefined;
}

/** What a term is: a word, a figure with its formula, or what is meant of a table where a question does not say. */
export type TermKind = "word" | "measure" | "date" | "amount" | "hidden";

export interface Teaching {
  kind: TermKind;
  /** A word or phrase; a table's name for `date`, `amount` and `hidden`. */
  term: string;
  /** A table, `table.column`, a condition or a formula. */
  means: string;
}

/** Another query that may be meant. */
export interface Choice {
  label: string;
  sql: string;
  /** What makes it the rule; answers stored by an older server do not tell. */
  teaches?: Teaching | null;
}

/** One clause of a query in words. */
export interface ReadingPart {
  kind: string;
  text: string;
  others: Choice[];
}

/** Rows that do not enter a result, or enter it though they are marked as deleted. */
export interface LeftOut {
  kind: string;
  count: number;
  text: string;
  others: Choice[];
}

export interface Tokens {
  input: number;
  output: number;
  cached: number;
  calls: number;
  cost_usd: number | null;
}

export interface Answer {
  question: string;
  status: AnswerStatus;
  sql: string;
  columns: string[];
  rows: Row[];
  truncated: boolean;
  score: number;
  dimensions: Record<string, number>;
  answer: string;
  abstained: boolean;
  attempts: Attempt[];
  plan: Plan | null;
  seconds: number;
  tokens: Tokens;
  model: string;
  reason: string;
  database: string;
  dialect: string;
  /** False where the SQL was written and checked only. */
  executed?: boolean;
  confidence: number | null;
  relevance: number;
  doubts: string[];
  not_understood: string[];
  alternatives: string[];
  error_kind: string | null;
  /** How sure the answer is, in one line; answers stored by an older server have none. */
  verdict?: string | undefined;
  /** How the question wants to see the rows; answers of an older server do not tell. */
  view?: string | undefined;
  /** What the query says, clause by clause; answers stored by an older server do not tell. */
  reading?: ReadingPart[];
  left_out?: LeftOut[];
  /** What a follow-up was taken to mean on its own; empty where it stood alone. */
  read_as?: string;
  clarification?: { question: string; options: string[] } | null;
}

export interface NodeEvent {
  event: "node";
  node: string;
  status: "running" | "done";
  elapsed_ms: number | null;
  task_id: string | null;
  attempt: number | null;
  /** Tokens that the step's model calls used; absent where no model was called. */
  tokens?: { input: number; output: number } | null;
  /** What did not work in the step, which went on without it; absent or empty where all did. */
  problem?: string;
}

export type RunEvent =
  | NodeEvent
  | { event: "progress"; data: { node: string; tokens: number } }
  | { event: "step"; data: { tool: string; sql: string; observation: string; ok: boolean } }
  | {
      event: "run";
      data: {
        run_id: string;
        thread_id: string;
        preset: string;
        model: string;
        question: string;
        turn: number;
      };
    }
  | {
      event: "schema";
      data: { dialect: string; database: string; tables: number; columns: number; fingerprint: string };
    }
  | { event: "plan"; data: Plan }
  | { event: "query_result"; data: Attempt }
  | { event: "retry"; data: { task_id: string; attempt: number; category: RetryCategory; feedback: string } }
  | { event: "revision"; data: { task_id: string; attempt: number; revises: number; reasoning: string } }
  | { event: "token"; data: string }
  | { event: "clarify"; data: { question: string; options: string[]; thread_id: string } }
  | { event: "answer"; data: Answer & { final_answer: string } }
  | { event: "error"; data: { message: string; kind: string } }
  | { event: "done"; data: { elapsed: number } };
