"""Question sets for measuring and learning: questions with accepted queries, and the rows that these return.

In: a folder of sets, each with `questions.jsonl` and `databases/{db}.sqlite`. Out: questions with their database, and
whether a query returns the rows of an accepted one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sqlglot import exp

from agent.knowledge.values import ValueIndex, value_index
from eval.databases import Database, ExecutionResult, Limits, open_database
from eval.metrics.comparison import same_result
from eval.schema import Schema
from eval.sql import check, parse, parsed_from_tree
from experiments.json_lines import read_lines

_LIMITS = Limits(seconds=2.0, rows=20_000)


@dataclass
class Opened:
    """A database of a set with what readings need, and the results of the queries run so far."""

    database: Database
    schema: Schema
    values: ValueIndex
    known: dict[str, ExecutionResult | None] = field(default_factory=dict)

    def rows(self, tree: exp.Expression) -> ExecutionResult | None:
        """The result of a statement under the guard; None where it is refused or fails."""
        sql = tree.sql(self.schema.dialect)
        if sql not in self.known:
            verdict = check(parsed_from_tree(tree, self.schema.dialect), self.schema)
            result = self.database.execute(verdict.statement, limits=_LIMITS) if verdict.statement else None
            self.known[sql] = result if result is not None and result.ok else None
        return self.known[sql]


@dataclass(frozen=True)
class Question:
    """One question of a set; `golds` are the results of the accepted queries, with whether their order counts."""

    id: str
    db: str
    text: str
    golds: tuple[tuple[ExecutionResult, bool], ...]
    opened: Opened

    def right(self, tree: exp.Expression) -> bool:
        """Whether a statement returns the rows of an accepted query."""
        result = self.opened.rows(tree)
        return result is not None and any(same_result(gold, result, ordered=o) for gold, o in self.golds)


def questions(folder: Path, most: int | None = None) -> Iterator[Question]:
    """The answerable questions of a set whose accepted queries run, spread over the set where only some are wanted."""
    lines = [q for q in read_lines(folder / "questions.jsonl") if q.get("gold_sql") and q.get("gold_ok", True)]
    if most is not None and most < len(lines):
        lines = [lines[int(k * len(lines) / most)] for k in range(most)]
    opened: dict[str, Opened] = {}
    for line in lines:
        db = str(line["db"])
        path = folder / "databases" / f"{db}.sqlite"
        if db not in opened and path.exists():
            database = open_database(str(path))
            schema = database.schema()
            opened[db] = Opened(database, schema, value_index(database, schema))
        if db in opened:
            others = line.get("alt_gold_sql")
            accepted = [str(line["gold_sql"]), *(others if isinstance(others, list) else ())]
            if golds := tuple(_results(opened[db], accepted)):
                yield Question(str(line.get("id", "")), db, str(line["question"]), golds, opened[db])


def _results(opened: Opened, accepted: Sequence[str]) -> Iterator[tuple[ExecutionResult, bool]]:
    for sql in accepted:
        statement = check(parse(sql, opened.schema.dialect)).statement
        result = opened.database.execute(statement, limits=_LIMITS) if statement is not None else None
        if result is not None and result.ok:
            yield result, "order by" in sql.lower().rsplit(")", 1)[-1]
