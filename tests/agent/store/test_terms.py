"""What was taught: replaced, forgotten with its history, restored; kept from before there were kinds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agent.config import StateSettings
from agent.store import Store, TooMany, feedback, open_store
from agent.store.records import TermRecord
from agent.store.tables import STEPS

START = datetime(2026, 1, 1, tzinfo=UTC)


def a_term(number: int, term: str = "", **more: Any) -> TermRecord:
    values = {
        "term_id": f"t{number}",
        "owner": "ann",
        "preset": "shop",
        "term": term or f"word {number}",
        "means": f"m{number}",
    }
    return TermRecord.model_validate({**values, "created": START + timedelta(seconds=number), **more})


async def listed(store: Store, **more: Any) -> list[tuple[str, bool]]:
    return [(one.term_id, one.forgotten is None) for one in await store.terms("ann", "shop", **more)]


async def test_a_term_takes_the_place_of_what_its_word_or_table_meant(store: Store) -> None:
    kinds = ("word", "measure", "date", "amount", "hidden", "hidden")
    for number, kind in enumerate(kinds):
        await store.teach(a_term(number, "Lots" if number % 2 else "lots", kind=kind))
    assert await listed(store) == [("t5", True), ("t3", True), ("t2", True), ("t1", True)]
    assert await listed(store, history=True) == [(f"t{n}", n not in (0, 4)) for n in (5, 4, 3, 2, 1, 0)]


async def test_a_restored_term_takes_its_place_back(store: Store) -> None:
    await store.teach(a_term(1, "tubs"))
    await store.teach(a_term(2, "tubs"))
    restored = await store.restore("ann", "t1")
    assert restored.forgotten is None
    assert await listed(store, history=True) == [("t2", False), ("t1", True)]
    assert await store.restore("bob", "t2") is None
    assert await store.restore("ann", "t2", rights="others") is None
    assert await store.forget("ann", "t1")
    assert not await store.forget("ann", "t1")
    assert not await store.forget("bob", "t1")


async def test_terms_and_their_history_are_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feedback, "MOST_TERMS", 20)
    monkeypatch.setattr(feedback, "MOST_FORGOTTEN", 10)
    for number in range(15):
        await store.teach(a_term(number, "tubs"))
    assert await listed(store, history=True) == [(f"t{14 - n}", n == 0) for n in range(11)]
    await store.teach(*(a_term(1_000 + number) for number in range(19)))
    with pytest.raises(TooMany):
        await store.teach(a_term(5_000))
    assert len(await store.terms("ann", "shop")) == 20


async def test_words_of_before_there_were_kinds_are_kept(config: StateSettings) -> None:
    store = await open_store(config)
    old = (
        "DROP TABLE text2sql_terms",
        "CREATE TABLE text2sql_terms (term_id TEXT PRIMARY KEY, owner TEXT NOT NULL, rights TEXT NOT NULL DEFAULT '',"
        " preset TEXT NOT NULL, term TEXT NOT NULL, means TEXT NOT NULL, created BIGINT NOT NULL)",
        "INSERT INTO text2sql_terms VALUES ('t1', 'ann', '', 'shop', 'tubs', 'vessels', 1767225600000000)",
        f"UPDATE text2sql_state SET version = {len(STEPS) - 1}",
    )
    for statement in old:
        await store._write(lambda connection, sql=statement: connection.exec_driver_sql(sql))
    await store.close()

    store = await open_store(config)
    (kept,) = await store.terms("ann", "shop")
    await store.forget("ann", "t1")
    history = await listed(store, history=True)
    await store.close()

    assert (kept.kind, kept.term, kept.means, kept.run_id, kept.created) == ("word", "tubs", "vessels", "", START)
    assert history == [("t1", False)]
