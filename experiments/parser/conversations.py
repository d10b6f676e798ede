"""Measuring follow-ups: `python -m experiments.parser.conversations --bench DIR --set sparc_dev`.

In: `newcomer`, or a file of `bench/conversations` (`sparc_dev`, `cosql_dev`). Out, printed: the share of turns that
return the rows of gold, by the place of the turn in its conversation, for each of these ways to ask them:

- in conversation: each turn after the questions before it, as the engine completed and answered them;
- gold context: the same, with the gold queries as the answers to the turns before it;
- alone: each turn without the turns before it;
- whole: the last turn written out as one complete question, where the set has that text.

Every reading counts, with whatever confidence. A turn without a gold query that runs is asked and not counted. For
newcomer, follow-ups and standalone turns are counted apart, and a standalone turn must give the same statement as when
it is asked alone.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from agent.knowledge.values import value_index
from agent.parser import read
from agent.parser.dialogue import completed
from agent.parser.execution_probe import looker
from agent.runtime.probability import STATED_DOUBT
from eval.databases import Database, ExecutionResult, Limits, open_database
from eval.metrics.comparison import same_result
from eval.metrics.intervals import wilson_interval
from eval.metrics.items import executed
from eval.sql import facts, parse, parsed_from_tree
from experiments.json_lines import read_lines

_LIMITS = Limits(seconds=10.0)
WAYS = ("in conversation", "gold context", "alone", "whole")


@dataclass(frozen=True, slots=True)
class EarlierTurn:
    """A turn that a later question may refer to."""

    question: str
    sql: str = ""


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """One turn, asked in one way."""

    id: str
    place: int
    """1 for the first turn."""
    way: str
    kind: str
    """`first`, `follow-up` or `standalone`; `turn` where the set does not say."""
    question: str
    read_as: str
    sql: str
    confidence: float
    right: bool
    last: bool
    unchanged: bool
    """Whether the statement is that of the same question asked alone."""


class Asker:
    """Questions to one database, with the rows of gold beside."""

    def __init__(self, database: Database) -> None:
        self._database, self._schema = database, database.schema()
        self._values, self._look = value_index(database, self._schema), looker(database)

    def complete(self, question: str, earlier: Sequence[EarlierTurn]) -> str:
        """The question as it stands alone."""
        return completed(question, earlier, self._schema, self._values) or question

    def answer(self, question: str, accepted: Sequence[str]) -> tuple[str, float, bool]:
        """The statement, its confidence and whether its rows are those of an accepted query."""
        reading = read(question, self._schema, self._values, threshold=0.0, look=self._look)
        if reading.tree is None:
            return "", 0.0, False
        result = executed(parsed_from_tree(reading.tree, self._schema.dialect), self._database, _LIMITS)
        right = result.ok and any(self._returns(text, result) for text in accepted)
        return reading.sql, reading.confidence, right

    def _returns(self, sql: str, result: ExecutionResult) -> bool:
        """Whether a query has this result."""
        parsed = parse(sql, self._database.dialect)
        expected = executed(parsed, self._database, _LIMITS)
        return expected.ok and same_result(expected, result, ordered=bool(facts(parsed, None).order_by))


def conversation_outcomes(record: dict[str, object], asker: Asker) -> Iterator[TurnOutcome]:
    """Every turn of one conversation, asked in each way."""
    turns = _turns(record)
    own: list[EarlierTurn] = []
    gold: list[EarlierTurn] = []
    for place, turn in enumerate(turns, 1):
        question, accepted = str(turn["question"]), _accepted(turn)
        alone = asker.answer(question, accepted)
        asked = {
            "in conversation": asker.complete(question, own),
            "gold context": asker.complete(question, gold),
            "alone": question,
        }
        if place == len(turns) and turn.get("whole"):
            asked["whole"] = str(turn["whole"])
        for way, text in asked.items():
            sql, confidence, right = alone if text == question else asker.answer(text, accepted)
            if accepted:
                yield TurnOutcome(
                    str(record["id"]), place, way, str(turn["kind"]), question, text, sql, confidence, right,
                    place == len(turns), sql == alone[0],
                )  # fmt: skip
            if way == "in conversation":
                own.append(EarlierTurn(text, sql))
            if way == "gold context":
                gold.append(EarlierTurn(text, accepted[0] if accepted else sql))


def _turns(record: dict[str, object]) -> list[dict[str, object]]:
    """The turns with their question, accepted queries, kind and, for the last one, the whole question."""
    turns: list[dict[str, object]] = [dict(turn) for turn in record["turns"]]  # type: ignore[attr-defined]
    whole = record.get("final")
    for place, turn in enumerate(turns):
        turn["question"] = turn.get("question") or turn.get("utterance") or ""
        known = "standalone" in turn
        turn["kind"] = "first" if not place else "turn" if not known else _KINDS[bool(turn["standalone"])]
    if isinstance(whole, dict) and turns:
        turns[-1]["whole"] = whole.get("utterance")
    return [turn for turn in turns if turn["question"]]


_KINDS = {True: "standalone", False: "follow-up"}


def _accepted(turn: dict[str, object]) -> list[str]:
    if not turn.get("gold_ok", True):
        return []
    others = turn.get("alt_gold_sql")
    return [str(sql) for sql in (turn.get("gold_sql"), *(others if isinstance(others, list) else ())) if sql]


def measured(bench: Path, name: str, limit: int | None = None) -> Iterator[TurnOutcome]:
    """The outcomes of a set, conversation by conversation."""
    if name == "newcomer":
        path, folder = bench / "newcomer" / "conversations.jsonl", bench / "newcomer"
    else:
        path = bench / "conversations" / f"{name}.jsonl"
        folder = bench / ("spider_train" if name.endswith("train") else "spider_dev")
    askers: dict[str, Asker] = {}
    for record in islice(read_lines(path), limit):
        db = record["db"]
        if db not in askers:
            file = folder / "databases" / f"{db}.sqlite"
            if not file.exists():
                continue
            askers[db] = Asker(open_database(str(file)))
        yield from conversation_outcomes(record, askers[db])


def report(outcomes: Sequence[TurnOutcome]) -> str:
    """The figures as text."""
    lines = [f"{'turns':<14}{'way':<18}{'n':>6}{'right':>8}{'95 % interval':>18}{'answered':>10}{'right there':>13}"]
    groups: dict[str, list[TurnOutcome]] = defaultdict(list)
    for o in outcomes:
        groups["all"].append(o)
        groups[o.kind if o.kind != "turn" else f"turn {min(o.place, 4)}{'+' if o.place > 3 else ''}"].append(o)
        if o.last:
            groups["last"].append(o)
    for name, members in groups.items():
        for way in WAYS:
            asked = [o for o in members if o.way == way]
            if not asked or (way == "whole" and name != "last"):
                continue
            right = sum(o.right for o in asked)
            low, high = wilson_interval(right, len(asked))
            sure = [o for o in asked if o.confidence >= STATED_DOUBT]
            precision = sum(o.right for o in sure) / len(sure) if sure else 0.0
            lines.append(
                f"{name:<14}{way:<18}{len(asked):>6}{right / len(asked):>8.3f}{f'{low:.3f}-{high:.3f}':>18}"
                f"{len(sure) / len(asked):>10.3f}{precision:>13.3f}"
            )
    standalone = [o for o in outcomes if o.kind == "standalone" and o.way == "in conversation"]
    if standalone:
        lines.append(f"standalone turns with an unchanged statement: {sum(o.unchanged for o in standalone)} of "
                     f"{len(standalone)}")  # fmt: skip
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--bench", type=Path, required=True, help="folder that holds the question sets")
    parser.add_argument("--set", required=True, action="append", help="newcomer, sparc_dev, cosql_dev; may be repeated")
    parser.add_argument("--limit", type=int, help="only so many conversations of each set")
    parser.add_argument("--wrong", action="store_true", help="print each turn that is wrong in conversation")
    options = parser.parse_args(arguments)
    for name in options.set:
        outcomes = list(measured(options.bench, name, options.limit))
        sys.stdout.write(f"{name}\n{report(outcomes)}\n")
        for o in outcomes if options.wrong else ():
            if o.way == "in conversation" and not (o.right and (o.kind != "standalone" or o.unchanged)):
                sys.stdout.write(f"{o.id} {o.place} {o.kind}: {o.question}\n    {o.read_as}\n    {o.sql!r}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
