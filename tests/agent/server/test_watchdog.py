"""What holds the event loop is reported with its place; a worker that is frozen for good ends."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import Iterator

import pytest

from agent.server.telemetry import metrics
from agent.server.watchdog import watched


class _Heard(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.places: list[list[str]] = []
        self.processor: list[float] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.places.append(record.__dict__["at"])
        self.processor.append(record.__dict__["processor_seconds"])


@pytest.fixture
def heard() -> Iterator[_Heard]:
    logger, handler = logging.getLogger("agent.server.watchdog"), _Heard()
    logger.addHandler(handler)
    try:
        yield handler
    finally:
        logger.removeHandler(handler)


async def test_the_place_that_holds_the_loop_is_told_while_it_does(heard: _Heard) -> None:
    def hold_the_loop() -> None:
        while not heard.places:
            pass

    before = metrics.held._value.get()
    with watched():
        await asyncio.sleep(0)
        hold_the_loop()
    assert any("hold_the_loop" in place for place in heard.places[0])
    assert heard.processor[0] > 0
    assert metrics.held._value.get() > before


async def test_a_loop_that_comes_round_is_not_reported(heard: _Heard) -> None:
    with watched():
        for _ in range(200):
            await asyncio.sleep(0)
    assert heard.places == []


@pytest.mark.parametrize("hold", ["re.match('(a+)+$', 'a' * 60 + 'b')", "time.sleep(1_000)"])
def test_a_frozen_worker_ends_even_inside_a_pattern(hold: str) -> None:
    program = f"""
import asyncio, re, time
from agent.server.watchdog import watched
async def main():
    with watched(frozen=1.0):
        await asyncio.sleep(0.1)
        {hold}
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "Timeout" in done.stderr
