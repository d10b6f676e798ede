/** Finding tables by their name, their columns' names, or comments; every word typed has to be found. */
import type { SchemaColumn, SchemaTable } from "../api/types";

export function matching(tables: readonly SchemaTable[], text: string): SchemaTable[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return tables.filter((table) => {
    const all = [table.name, table.comment ?? "", ...table.columns.flatMap((c) => [c.name, c.comment ?? ""])];
    const hay = all.join("\n").toLowerCase();
    return words.every((word) => hay.includes(word));
  });
}

/** Whether a column is what was searched for, rather than its table. */
export function columnMatches(column: SchemaColumn, text: string): boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const hay = `${column.name}\n${column.comment ?? ""}`.toLowerCase();
  return words.some((word) => hay.includes(word));
}
