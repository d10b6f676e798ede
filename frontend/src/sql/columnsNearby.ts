/** Completion of columns without their table in front: those of the tables that the statement names. */
import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { DatabaseSchema } from "../api/types";

export function columnsNearby(schema: DatabaseSchema | undefined): (context: CompletionContext) => CompletionResult | null {
  const tables = schema?.tables ?? [];
  return (context) => {
    const word = context.matchBefore(/[\w$]*/);
    if (!word || (word.from === word.to && !context.explicit)) return null;
    if (context.state.sliceDoc(word.from - 1, word.from) === ".") return null; // the table's own completion
    const named = new Set(context.state.doc.toString().toLowerCase().match(/[\w$]+/g));
    const options = tables
      .filter((table) => named.has(table.name.toLowerCase()))
      .flatMap((table) =>
        table.columns.map((column) => ({ label: column.name, type: "property", detail: table.name, boost: 1 })),
      );
    return options.length > 0 ? { from: word.from, options, validFor: /^[\w$]*$/ } : null;
  };
}
