"""Work that is handed over finds a thread that runs; work that computes takes turns."""

from __future__ import annotations

import asyncio
import sys
import threading

import pytest

from eval import threads as threads_module
from eval.threads import in_turn, started_threads, waiting


def test_no_thread_begins_when_work_is_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = started_threads(4, "ready")
    with threads:
        monkeypatch.setattr(threading.Thread, "start", lambda _: pytest.fail("a thread was begun"))
        busy = threading.Barrier(4)
        work = [threads.submit(busy.wait, 30) for _ in range(4)]
        assert sorted(one.result() for one in work) == [0, 1, 2, 3]


async def test_one_computes_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads_module, "_PATIENCE_SECONDS", 60)
    at_once, most, before = 0, 0, sys.getswitchinterval()

    def compute() -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        for _ in range(20_000):  # long enough for the interpreter to change threads
            pass
        at_once -= 1

    sys.setswitchinterval(1e-5)
    try:
        await asyncio.gather(*(in_turn(compute) for _ in range(12)))
    finally:
        sys.setswitchinterval(before)
    assert most == 1


async def test_who_waits_lets_others_compute() -> None:
    first_waits, second_is_done = threading.Event(), threading.Event()

    def first() -> bool:
        with waiting():
            first_waits.set()
            return second_is_done.wait(30)

    def second() -> None:
        second_is_done.set()

    going = asyncio.ensure_future(in_turn(first))
    await asyncio.to_thread(first_waits.wait, 30)
    await in_turn(second)

    assert await going


async def test_a_lock_held_while_waiting_for_a_turn_stops_nobody() -> None:
    lock, first_waits, second_has_turn = threading.Lock(), threading.Event(), threading.Event()

    def first() -> None:
        with lock, waiting():
            first_waits.set()
            second_has_turn.wait(30)
            # the second one has the turn and wants the lock

    def second() -> None:
        second_has_turn.set()
        with lock:
            pass

    going = asyncio.ensure_future(in_turn(first))
    await asyncio.to_thread(first_waits.wait, 30)
    await asyncio.wait_for(asyncio.gather(going, in_turn(second)), 60)


async def test_work_that_fails_gives_its_turn_back() -> None:
    def fail() -> None:
        raise ZeroDivisionError

    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            await in_turn(fail)
    assert await in_turn(lambda: threading.current_thread().name)
