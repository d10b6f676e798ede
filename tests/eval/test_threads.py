"""Work that is handed over finds a thread that runs."""

from __future__ import annotations

import threading

import pytest

from eval.threads import started_threads


def test_no_thread_begins_when_work_is_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = started_threads(4, "ready")
    with threads:
        monkeypatch.setattr(threading.Thread, "start", lambda _: pytest.fail("a thread was begun"))
        busy = threading.Barrier(4)
        work = [threads.submit(busy.wait, 30) for _ in range(4)]
        assert sorted(one.result() for one in work) == [0, 1, 2, 3]
