/**
 * Whether the values of a column can be added up: sums and counts can, averages and shares cannot. The statement says
 * it where it computes the column; else the column's name does.
 */

const NOT = /(^|[^a-z])(avg|average|mean|median|min|max|minimum|maximum|smallest|largest|lowest|highest|ratio|rate|percent|percentage|pct|share|price|per|age|rating|score|temperature|rank|distinct|different|unique|running|cumulative)([^a-z]|$)|%/i;
const SUMS = /(^|[^a-z])(sum|total|count|number|num|amount|revenue|sales|cost|costs|spent|spend|payments|quantity|qty|volume|profit|turnover|income)([^a-z]|$)/i;

export function addsUp(column: string, values: readonly unknown[], sql = ""): boolean {
  const computed = expressionsOf(column, sql) || (/\(/.test(column) ? column : "");
  if (/\b(avg|min|max|median|stddev\w*|variance|percentile\w*)\s*\(|\bdistinct\b|\bover\b|\//i.test(computed)) return false;
  if (/\b(sum|count|total)\s*\(/i.test(computed)) return true;
  const name = column.replaceAll(/([a-z])([A-Z])/g, "$1 $2");
  if (NOT.test(name)) return false;
  return SUMS.test(name) || values.every((value) => value === null || Number.isInteger(value));
}

/** What stands before each `AS column` of a statement: a subquery may use the name for something else. */
function expressionsOf(column: string, sql: string): string {
  const name = column.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const found = sql.matchAll(new RegExp(`\\s+as\\s+["\`[]?${name}(?![\\w])`, "gi"));
  return [...found].map(({ index }) => sql.slice(startOf(sql, index), index)).join("\n");
}

/** Where the expression begins that ends at `end`: behind a comma, a bracket or SELECT. */
function startOf(sql: string, end: number): number {
  let depth = 0;
  for (let start = end; start > 0; start -= 1) {
    const sign = sql.charAt(start - 1);
    if (sign === ")") depth += 1;
    if (sign === "(") depth -= 1;
    if (depth < 0 || (depth === 0 && (sign === "," || /\bselect\s$/i.test(sql.slice(Math.max(0, start - 8), start))))) return start;
  }
  return 0;
}
