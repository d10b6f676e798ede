"""What the server keeps is there again, for its owner alone, on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from agent.store import NotFound, Store, ThreadBusy
from agent.store.records import FeedbackRecord, RunRecord, StoredEvent, ThreadRecord
from agent.store.tables import threads
from tests.agent.store.conftest import a_run, a_source, first_turn

ANSWER = {"answer": "There are 412 orders.", "rows": [[412]], "status": "success"}


async def test_what_belongs_to_one_owner_is_hidden_from_every_other(store: Store) -> None:
    thread = await first_turn(store, a_run(question="How many orders?"))
    await store.append_events("r1", [StoredEvent(number=1, data="{}")])
    await store.add_source(a_source())
    await store.add_feedback(_feedback())

    assert await store.get(RunRecord, "bob", "r1") is None
    assert await store.runs("bob") == ([], None)
    assert await store.runs("bob", thread_id=thread.thread_id) == ([], None)
    assert await store.get(ThreadRecord, "bob", thread.thread_id) is None
    assert await store.threads("bob") == ([], None)
    assert await store.delete_thread("bob", thread.thread_id) is False
    assert await store.feedback("bob") == []
    assert await store.sources("bob") == []
    assert await store.remove_source("bob", "s1") is None
    with pytest.raises(NotFound):
        await store.begin_turn(a_run("r2", owner="bob", thread_id=thread.thread_id))
    with pytest.raises(NotFound):
        await store.add_feedback(_feedback(feedback_id="f2", owner="bob"))
    assert len(await store.sources("ann")) == 1
    assert (await store.get(ThreadRecord, "ann", thread.thread_id) or thread).turns == 1


async def test_runs_come_newest_first_page_by_page(store: Store) -> None:
    start = datetime(2026, 3, 1, tzinfo=UTC)
    for number in range(7):  # the last three at the same moment
        await store.begin_run(a_run(f"r{number}", started=start + timedelta(seconds=min(number, 4)), status="success"))

    pages, before = [], None
    while True:
        page, before = await store.runs("ann", limit=3, before=before)
        pages.append([run.run_id for run in page])
        if before is None:
            break

    assert pages == [["r6", "r5", "r4"], ["r3", "r2", "r1"], ["r0"]]


async def test_the_thread_used_last_comes_first(store: Store) -> None:
    made = [await first_turn(store, a_run(f"r{n}", question=f"  question\n {n} ")) for n in range(3)]
    await store.finish_run("r0", status="success")
    await store.begin_turn(a_run("again", thread_id=made[0].thread_id))

    first, more = await store.threads("ann", limit=2)
    rest, end = await store.threads("ann", limit=2, before=more)

    assert [t.title for t in [*first, *rest]] == ["question 0", "question 2", "question 1"]
    assert end is None


async def test_a_second_question_on_a_thread_is_refused_while_the_first_runs(store: Store) -> None:
    thread = await first_turn(store, a_run("r1"), instance="one")

    with pytest.raises(ThreadBusy, match="still running"):
        await store.begin_turn(a_run("r2", thread_id=thread.thread_id), instance="two")
    after_refusal = await store.get(ThreadRecord, "ann", thread.thread_id)
    with pytest.raises(ThreadBusy):
        await store.delete_thread("ann", thread.thread_id)
    await store.finish_run("r1", status="success")
    third = await store.begin_turn(a_run("r3", thread_id=thread.thread_id), instance="two")

    assert after_refusal.turns == 1
    assert third.turn == 2
    assert await store.get(RunRecord, "ann", "r2") is None


async def test_of_many_questions_at_once_one_begins(store: Store) -> None:
    thread = await first_turn(store, a_run("r"))
    await store.finish_run("r", status="success")
    begun = await asyncio.gather(
        *(store.begin_turn(a_run(f"r{n}", thread_id=thread.thread_id)) for n in range(8)), return_exceptions=True
    )

    assert sorted(type(one).__name__ for one in begun) == ["RunRecord", *["ThreadBusy"] * 7]
    assert (await store.get(ThreadRecord, "ann", thread.thread_id)).turns == 2


async def test_a_server_that_went_away_leaves_no_lock_behind(store: Store) -> None:
    thread = await first_turn(store, a_run("dead"), instance="one", lease_seconds=0.01)
    await store.begin_run(a_run("alive"), instance="two", lease_seconds=0.01)
    await asyncio.sleep(0.05)
    renewed = await store.renew("two", 30)

    await store.begin_turn(a_run("next", thread_id=thread.thread_id), instance="two")

    assert renewed == 1
    assert await store.mark_interrupted() == 0
    statuses = {run.run_id: run.status for run in (await store.runs("ann"))[0]}
    assert statuses == {"dead": "interrupted", "alive": "running", "next": "running"}
    await store.begin_run(a_run("slow"), instance="one", lease_seconds=0.01)
    await asyncio.sleep(0.05)
    assert await store.mark_interrupted() == 1
    assert await store.finish_run("slow", status="success", answer=ANSWER)
    assert (await store.get(RunRecord, "ann", "slow") or a_run()).status == "success"


async def test_a_run_whose_ending_another_process_wrote_gets_no_more_events(store: Store) -> None:
    await store.begin_run(a_run())
    ending = [StoredEvent(number=n, data="{}") for n in (1, 2, 3)]
    await store.append_events("r1", ending)
    await store.append_events("r1", [StoredEvent(number=n, data="late") for n in (3, 4, 5)])
    assert await store.events_after("r1") == ending


async def test_old_events_and_then_the_oldest_are_dropped_but_not_of_runs_that_go_on(store: Store) -> None:
    at = datetime.now(UTC)
    for name, age, status in [("a", 9, "running"), ("b", 9, "success"), ("c", 2, "error"), ("d", 1, "success")]:
        await store.begin_run(a_run(name, started=at - timedelta(days=age), status=status))
        await store.append_events(name, [StoredEvent(number=1, data="x" * 1000)])

    by_age = await store.prune_events(days=3)
    left_by_age = [name for name in "abcd" if await store.events_after(name)]
    by_size = await store.prune_events(days=3, size=1500)
    left_by_size = [name for name in "abcd" if await store.events_after(name)]

    assert (by_age, left_by_age) == (1, ["a", "c", "d"])
    assert (by_size, left_by_size) == (1, ["a", "d"])
    assert len((await store.runs("ann"))[0]) == 4


async def test_what_was_not_used_for_some_days_is_deleted_unless_it_runs(store: Store) -> None:
    at = datetime.now(UTC)
    for name, age, status in [("a", 9, "running"), ("b", 9, "success"), ("c", 1, "success")]:
        await store.begin_run(a_run(name, started=at - timedelta(days=age), status=status))
        await store.append_events(name, [StoredEvent(number=1, data="{}")])
        await store.add_feedback(_feedback(feedback_id=name, run_id=name))
    old, new, busy = [await first_turn(store, a_run(name)) for name in ("old", "new", "busy")]
    for name in ("old", "new"):
        await store.finish_run(name, status="success")
    aged = update(threads).where(threads.c.thread_id != new.thread_id).values(updated=datetime(1970, 1, 1, tzinfo=UTC))
    await store._write(lambda connection: connection.execute(aged))

    assert await store.prune(days=3) == 2
    assert {run.run_id for run in (await store.runs("ann"))[0]} == {"a", "c", "new", "busy"}
    assert await store.events_after("b") == []
    assert {one.run_id for one in await store.feedback("ann")} == {"a", "c"}
    assert {one.thread_id for one in (await store.threads("ann"))[0]} == {new.thread_id, busy.thread_id}
    assert await store.get(ThreadRecord, "ann", old.thread_id) is None


async def test_a_deleted_thread_takes_all_that_belongs_to_it(store: Store) -> None:
    gone, _ = [await first_turn(store, a_run(name, question=name)) for name in ("r1", "r2")]
    for run_id in ("r1", "r2"):
        await store.append_events(run_id, [StoredEvent(number=1, data="{}")])
        await store.finish_run(run_id, status="success")
        await store.add_feedback(_feedback(feedback_id=run_id, run_id=run_id))

    assert await store.delete_thread("ann", gone.thread_id) is True
    assert await store.delete_thread("ann", gone.thread_id) is False

    assert await store.get(RunRecord, "ann", "r1") is None
    assert await store.events_after("r1") == []
    assert [f.run_id for f in await store.feedback("ann")] == ["r2"]
    assert [t.title for t in (await store.threads("ann"))[0]] == ["r2"]
    assert await store.events_after("r2") != []


async def test_the_latest_verdict_of_a_run_stands(store: Store) -> None:
    await store.begin_run(a_run("r1"))
    await store.begin_run(a_run("r2"))
    at = datetime(2026, 1, 1, tzinfo=UTC)
    await store.add_feedback(_feedback("f1", verdict="wrong", created=at))
    await store.add_feedback(_feedback("f2", verdict="corrected", sql="SELECT 2", created=at + timedelta(seconds=1)))
    await store.add_feedback(_feedback("f3", run_id="r2", verdict="wrong", preset="other", created=at))

    assert [(f.run_id, f.verdict, f.sql) for f in await store.feedback("ann")] == [
        ("r1", "corrected", "SELECT 2"),
        ("r2", "wrong", "SELECT 1"),
    ]
    assert [f.run_id for f in await store.feedback("ann", preset="shop")] == ["r1"]
    assert [f.run_id for f in await store.feedback("ann", verdicts=["right", "corrected"])] == ["r1"]
    assert (await store.get(RunRecord, "ann", "r1") or a_run()).feedback == "corrected"


async def test_text_of_any_kind_is_kept(store: Store) -> None:
    odd = "naïve — 日本 'quoted' \x00 \ud800 ; DROP TABLE text2sql_runs; --"
    await store.begin_run(a_run("r1", question=odd))
    await store.finish_run("r1", status="success", answer={"answer": odd, "rows": [[odd]]})
    thread = await first_turn(store, a_run("r2", question=odd))

    record = await store.get(RunRecord, "ann", "r1")
    assert record.question == odd.replace("\x00", "\ufffd").replace("\ud800", "?")
    assert record.answer == {"answer": odd, "rows": [[odd]]}
    assert thread.title == record.question
    assert await store.get(RunRecord, "ann", odd) is None


async def test_not_a_number_is_never_kept(store: Store) -> None:
    await store.begin_run(a_run("r1"))
    with pytest.raises(ValueError, match="JSON"):
        await store.finish_run("r1", status="success", answer={"rows": [[float("nan")]]})


def _feedback(feedback_id: str = "f1", **more: object) -> FeedbackRecord:
    values = {"owner": "ann", "run_id": "r1", "preset": "shop", "question": "q", "sql": "SELECT 1"}
    return FeedbackRecord.model_validate(
        {"feedback_id": feedback_id, "verdict": "right", "created": datetime.now(UTC), **values, **more}
    )
