/** What is typed above a column, as the server's filter: `>10`, `=Berlin`, `null`, or text that the value contains. */

export interface Filter {
  column: number;
  operator: string;
  value: string;
}

/** What is typed, by column. */
export type Filters = Readonly<Record<number, string>>;

const SIGNS = [">=", "<=", "!=", ">", "<", "="];

export function readFilter(column: number, typed: string): Filter | null {
  const text = typed.trim();
  if (text === "") return null;
  if (/^null$/i.test(text)) return { column, operator: "is null", value: "" };
  if (/^not null$/i.test(text)) return { column, operator: "not null", value: "" };
  const operator = SIGNS.find((sign) => text.startsWith(sign));
  if (!operator) return { column, operator: "contains", value: text };
  const value = text.slice(operator.length).trim();
  return value === "" ? null : { column, operator, value };
}

export function readFilters(filters: Filters): Filter[] {
  return Object.entries(filters).flatMap(([column, typed]) => readFilter(Number(column), typed) ?? []);
}
