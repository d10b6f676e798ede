/** A number in an answer: one that is in the result leads to its cell, one that is nowhere is marked. */
import { createContext, useContext, useMemo } from "react";
import type { CellPlace } from "../result/ResultTable";
import css from "./AnswerText.module.css";
import { originOf, type TraceSource } from "./trace";

export interface Tracing {
  results: readonly TracedResult[];
  question: string;
  onTrace: (place: CellPlace | null) => void;
}

/** A result that numbers may come from, and how its parts are called. */
export interface TracedResult extends TraceSource {
  task: string | null;
  columns: readonly string[];
}

/** The result that the numbers of an answer are looked for in. */
export const TracingContext = createContext<Tracing>({ results: [], question: "", onTrace: () => undefined });

export function TracedNumber({ text }: { text: string }) {
  const { results, question, onTrace } = useContext(TracingContext);
  const origin = useMemo(() => originOf(text, results, question), [text, results, question]);
  const result = "source" in origin ? results[origin.source] : undefined;
  const columnName = "column" in origin ? (result?.columns[origin.column] ?? "a column") : "";
  switch (origin.kind) {
    case "cell": {
      const place = { task: result?.task ?? null, row: origin.row, column: origin.column, reveal: false };
      return (
        <button
          type="button"
          className={css["traced"]}
          title={`From row ${origin.row + 1}, ${columnName}`}
          onMouseEnter={() => onTrace(place)}
          onMouseLeave={() => onTrace(null)}
          onFocus={() => onTrace(place)}
          onBlur={() => onTrace(null)}
          onClick={() => onTrace({ ...place, reveal: true })}
        >
          {text}
        </button>
      );
    }
    case "count":
      return (
        <span className={css["known"]} title="The number of rows">
          {text}
        </span>
      );
    case "sum":
      return (
        <span className={css["known"]} title={`The sum of ${columnName}`}>
          {text}
        </span>
      );
    case "none":
      return (
        <span className={css["untraced"]} title="This number is not in the result">
          {text}
        </span>
      );
    default:
      return text;
  }
}
