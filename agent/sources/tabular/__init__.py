"""Files of tables, read as an analyst would: what each column holds is planned, shown, and then applied.

In: CSV, TSV, Excel, JSON lines and Parquet files as they came, and a plan where one was made before. Out: one DuckDB
file with a table for each file or sheet, the plan that was followed and what was found. `layout` finds where a file's
table begins, `numbers`, `dates` and `measures` say how cells are written, `columns` decides on a column, `tables`
applies the plan in SQL, and `words` tells it to people.
"""
