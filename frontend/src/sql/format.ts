/** SQL laid out for reading. The formatter is fetched when the first statement is shown. */
import { useQuery } from "@tanstack/react-query";

const DIALECTS: Record<string, keyof typeof import("./formatter").dialects> = {
  sqlite: "sqlite",
  postgres: "postgresql",
  postgresql: "postgresql",
  mysql: "mysql",
  mariadb: "mariadb",
  duckdb: "duckdb",
  clickhouse: "clickhouse",
  spark: "spark",
};

export async function formatSql(sql: string, dialect: string): Promise<string> {
  const formatter = await import("./formatter");
  const language = formatter.dialects[DIALECTS[dialect] ?? "sqlite"];
  try {
    return formatter.formatDialect(sql, {
      dialect: language,
      keywordCase: "upper",
      functionCase: "preserve",
      tabWidth: 2,
      expressionWidth: 40,
    });
  } catch {
    return sql; // a statement that can't be read is shown as it is
  }
}

/** The statement, formatted as soon as the formatter is there. */
export function useFormatted(sql: string, dialect: string): string {
  const { data } = useQuery({
    queryKey: ["formatted", dialect, sql],
    queryFn: () => formatSql(sql, dialect),
    staleTime: Infinity,
    enabled: sql !== "",
  });
  return data ?? sql;
}
