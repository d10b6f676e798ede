"""Measuring follow-ups as edits of plans: `python -m experiments.parser.follow_ups --bench DIR --set newcomer`.

In: `newcomer`, or a file of `bench/conversations` (`sparc_dev`, `cosql_dev`). Out, printed: the share of turns after
the first whose plan returns the rows of gold, where the plan before is the engine's own (`own`) and where it is the
reading of the earlier turn, among its first twenty, that returns the rows of gold (`gold`); of follow-ups the share
whose full question is read as the same rows; of standalone turns the share that was left as it is.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from agent.knowledge.values import value_index
from agent.knowledge.vocabulary import vocabulary
from agent.parser.joins import join_graph
from eval.databases import ExecutionResult, Limits, open_database
from eval.metrics.comparison import same_result
from eval.metrics.items import executed
from eval.sql import facts, parse, parsed_from_tree
from experiments.grammar_parser.dialogue import FollowUp, follow_up
from experiments.grammar_parser.dialogue.follow_up import maker
from experiments.grammar_parser.plan.algebra import Select
from experiments.grammar_parser.reading import candidates
from experiments.grammar_parser.sql.builder import Builder, Unreachable

_LIMITS = Limits(seconds=5.0)


class Rows:
    """The rows of plans and of gold queries on one database."""

    def __init__(self, path: Path) -> None:
        self.database = open_database(str(path))
        self.schema = self.database.schema()
        self.values = value_index(self.database, self.schema)
        self.make = maker(self.schema, self.values)
        words = vocabulary(self.schema, self.values.date_forms)
        self._words, self._graph = words, join_graph(words)
        self._gold: dict[str, tuple[ExecutionResult, bool]] = {}

    def of(self, plan: Select | None) -> ExecutionResult | None:
        """The plan's rows; None where it has none or cannot be written."""
        try:
            tree = Builder(self._words, self._graph).build(plan) if plan is not None else None
        except Unreachable:
            return None
        result = executed(parsed_from_tree(tree, self.schema.dialect), self.database, _LIMITS) if tree else None
        return result if result is not None and result.ok else None

    def right(self, plan: Select | None, accepted: Sequence[str]) -> bool:
        """Whether the plan returns the rows of an accepted query."""
        rows = self.of(plan)
        gold = [self._expected(sql) for sql in accepted] if rows is not None else []
        return any(g.ok and same_result(g, rows, ordered=ordered) for g, ordered in gold if rows is not None)

    def _expected(self, sql: str) -> tuple[ExecutionResult, bool]:
        if sql not in self._gold:
            parsed = parse(sql, self.database.dialect)
            self._gold[sql] = executed(parsed, self.database, _LIMITS), bool(facts(parsed, None).order_by)
        return self._gold[sql]

    def readings(self, question: str) -> list[Select]:
        return [c.plan for c in candidates(question, self.schema, self.values)[0]]


def conversations(bench: Path, name: str, limit: int | None) -> Iterator[tuple[Path, list[dict[str, object]]]]:
    """The database and the turns of each conversation of a set."""
    newcomer = name == "newcomer"
    path = bench / name / "conversations.jsonl" if newcomer else bench / "conversations" / f"{name}.jsonl"
    folder = bench / ("newcomer" if newcomer else "spider_dev") / "databases"
    for line in islice(path.open(encoding="utf-8"), limit):
        record = json.loads(line)
        file = folder / f"{record['db']}.sqlite"
        if file.exists():
            yield file, record["turns"]


def _accepted(turn: dict[str, object]) -> list[str]:
    others = turn.get("alt_gold_sql")
    gold = (turn.get("gold_sql"), *(others if isinstance(others, list) else ()))
    return [str(sql) for sql in gold if sql] if turn.get("gold_ok", True) else []


def measured(rows: Rows, turns: Sequence[dict[str, object]]) -> Counter[str]:
    """Counts over the turns of one conversation."""
    seen: Counter[str] = Counter()
    own: Select | None = None
    gold: Select | None = None
    for place, turn in enumerate(turns):
        question, accepted = str(turn.get("question") or turn.get("utterance") or ""), _accepted(turn)
        alone = rows.readings(question)
        plans = {}
        for way, before in (("own", own), ("gold", gold)):
            found = follow_up(question, before, rows.make) if place else None
            plans[way] = found.plan if found is not None else next(iter(alone), None)
            if place:
                seen.update(_counted(rows, way, turn, found, rows.right(plans[way], accepted), bool(accepted)))
        own = plans["own"]
        gold = next((p for p in (plans["gold"], *alone) if rows.right(p, accepted)), plans["gold"])
    return seen


def _counted(
    rows: Rows, way: str, turn: dict[str, object], found: FollowUp | None, right: bool, told: bool
) -> Counter[str]:
    seen: Counter[str] = Counter()
    kind = "standalone" if turn.get("standalone") else "follow-up"
    seen[f"{kind} {way}, turns"] += told
    seen[f"{kind} {way}, right"] += told and right
    if kind == "standalone":
        seen[f"{kind} {way}, left as they are"] += found is None
    elif found is not None and way == "gold":
        again, whole = rows.of(found.plan), rows.of(next(iter(rows.readings(found.question)), None))
        seen["full questions"] += 1
        seen["full questions read as the same rows"] += (
            again is not None and whole is not None and same_result(again, whole, ordered=False)
        )
    return seen


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--bench", type=Path, required=True, help="folder that holds the question sets")
    parser.add_argument("--set", required=True, action="append", help="newcomer, sparc_dev, cosql_dev; may be repeated")
    parser.add_argument("--limit", type=int, help="only so many conversations of each set")
    options = parser.parse_args(arguments)
    for name in options.set:
        known: dict[Path, Rows] = {}
        seen: Counter[str] = Counter()
        for file, turns in conversations(options.bench, name, options.limit):
            if file not in known:
                known[file] = Rows(file)
            seen.update(measured(known[file], turns))
        sys.stdout.write(f"{name}\n" + "".join(f"  {label:<40}{n:>6}\n" for label, n in sorted(seen.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
