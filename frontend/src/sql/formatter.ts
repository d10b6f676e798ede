/** The part of the formatter that the page uses, as a chunk of its own. */
import { duckdb, formatDialect, mariadb, mysql, postgresql, sqlite } from "sql-formatter";

export const dialects = { duckdb, mariadb, mysql, postgresql, sqlite };
export { formatDialect };
