"""Garbled and hostile questions: no crash, nothing that the guard refuses, nobody waits."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from agent.knowledge.effort import MOST_STEPS, TooTangled, limited, spend
from agent.knowledge.values import EMPTY, value_index
from agent.parser import Reading, read, restate
from agent.parser.entities import with_entities
from agent.runtime.catalogue import resolve_database
from eval.databases import open_database
from eval.schema import Column, Schema, Table
from experiments.parser.hostile_questions import SLOWEST, Said, ask_all
from tests.clock import unit
from tests.samples import ALL

GARBLED, LONG = (400, 50) if ALL else (120, 20)


@pytest.mark.parametrize(
    ("name", "seed", "count"), [("shop", 11, GARBLED), ("enterprise", 12, GARBLED), ("shop", 21, LONG)]
)
def test_garbled_and_long_questions_are_read_safely(name: str, seed: int, count: int) -> None:
    figures = ask_all(count, seed, name, long=count == LONG)
    assert (figures.crashed, figures.refused) == (0, 0), figures.worst
    assert figures.asked == count
    assert figures.slowest < 2 * SLOWEST, figures.slowest_question


def _steps(question: str, schema: Schema, monkeypatch: pytest.MonkeyPatch) -> int:
    """The steps that a reading needs."""
    left: list[int] = []

    def counted(steps: int = 1) -> None:
        left.append(steps)
        spend(steps)

    for room in ("agent.parser.engine", "agent.parser.schema_linking", "agent.parser.fallback_linking",
                 "agent.parser.joins", "agent.knowledge.values", "agent.knowledge.value_words"):  # fmt: skip
        monkeypatch.setattr(f"{room}.spend", counted)
    read(question, schema)
    return sum(left)


def test_two_thousand_tables_of_like_columns_make_no_question_endless(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    columns = tuple(Column(name, "TEXT") for name in ("id", "city", "amount", "status", "note"))
    schema = Schema("sqlite", tuple(Table(f"orders_{n}", columns, row_count=1) for n in range(2_000)))
    long = "list " + "city amount status note orders and " * 50

    assert "too long or too tangled" in read(long, schema).interpretation
    assert _steps(long, schema, monkeypatch) < 2 * MOST_STEPS
    assert restate(f"and {long}"[:280], [Said("how many orders are there")], schema) is None


def test_words_that_nothing_is_called_are_looked_up_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run of unknown words was once looked up whole: half a minute for a question of 2,000 characters."""
    with open_database(resolve_database("shop").url) as database:
        schema = database.schema()
        values = value_index(database, schema)
        looked_up: list[str] = []
        find = type(values).find
        monkeypatch.setattr(
            type(values), "find", lambda self, phrase, **how: looked_up.append(phrase) or find(self, phrase, **how)
        )
        reading = read(" ".join(f"zq{a}{b}v" for a in "bcdfg" for b in "hjklmnp"), schema, values)

    assert reading.abstained
    assert max(phrase.count(" ") for phrase in looked_up) < 8


def test_the_steps_of_a_question_have_one_end() -> None:
    with limited(10), limited(1_000):
        spend(10)
        with pytest.raises(TooTangled, match="fewer words"):
            spend()
    spend(1_000_000)  # nothing is counted outside


@pytest.mark.parametrize("again", [" and city", ", city", " with city", " of", " in 2024 by"])
def test_a_list_of_many_words_ends(ask: Callable[..., Reading], again: str) -> None:
    """One pattern of wording once tried every way of dividing such a list, for ever."""
    begun = time.process_time()
    for ending in ("5", "sorted by", "", "and 5 with"):
        ask(f"list members with name{again * 30} {ending}")
    assert time.process_time() - begun < 80 * unit()


def test_what_tables_have_in_common_is_counted_once() -> None:
    """Each of 2,000 tables was once compared with all others."""

    class Counted(str):
        looked_at = 0

        def casefold(self) -> str:
            Counted.looked_at += 1
            return super().casefold()

    def table(n: int) -> Table:
        return Table(f"t{n}", (Column(Counted("id")), Column(Counted("city"))), row_count=9)

    with_entities(Schema("sqlite", tuple(table(n) for n in range(200))), EMPTY)
    assert Counted.looked_at < 200 * 2 * 20
