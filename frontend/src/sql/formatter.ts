/** The part of the formatter that the page uses, as a chunk of its own. */
import { clickhouse, duckdb, formatDialect, mariadb, mysql, postgresql, spark, sqlite } from "sql-formatter";

export const dialects = { clickhouse, duckdb, mariadb, mysql, postgresql, spark, sqlite };
export { formatDialect };
