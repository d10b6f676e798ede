"""What this room adds to a statement and to a question, on a database of yours.

In: a path or URL. Out: medians on standard output, of opening, reading the structure and a warm statement.

    python -m experiments.databases.speed BENCH/agentx_tasks/databases/enterprise.sqlite
"""

from __future__ import annotations

import argparse
import sys

from eval.databases import open_database
from eval.statement import ReadStatement
from experiments.speed.evaluator import milliseconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("--sql", default="SELECT 1")
    options = parser.parse_args()
    with open_database(options.target) as database:
        statement = ReadStatement(options.sql, database.dialect)

        def open_again() -> None:
            with open_database(options.target) as other:
                other.schema()

        schema = database.schema()
        figures = {
            "read the structure": milliseconds(lambda: database.schema(ttl=0), 20),
            "structure from the cache": milliseconds(database.schema, 200),
            "open again, structure from the cache": milliseconds(open_again, 20),
            "a warm statement": milliseconds(lambda: database.execute(statement), 200),
        }
    sys.stdout.write(f"{database.url}: {len(schema.tables)} tables, {schema.column_count} columns\n")
    sys.stdout.writelines(f"{ms:10.3f} ms  {name}\n" for name, ms in figures.items())


if __name__ == "__main__":
    main()
