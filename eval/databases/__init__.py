"""The only place that opens a connection: SQLite, DuckDB, PostgreSQL and MySQL behind one interface."""
