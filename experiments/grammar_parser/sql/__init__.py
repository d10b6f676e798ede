"""From a plan to a syntax tree in the database's dialect: joins, clauses, names."""
