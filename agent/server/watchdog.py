"""Reports what holds the event loop, and ends a worker whose loop does not come round any more.

In: a running loop. Out: a log line with the place in the code, and a counter, for each hold of more than HELD_SECONDS.
A thread sees where the loop's thread is; a pattern or another call that keeps the interpreter to itself is only seen
once it is over. The line tells the processor time that this process had meanwhile: little of it, and no place of ours,
means that the machine was busy with something else. A worker that is held for FROZEN_SECONDS ends, even then, and its
supervisor starts another one.
"""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from agent.server.telemetry import metrics

log = logging.getLogger(__name__)

HELD_SECONDS = 0.25
FROZEN_SECONDS = 60.0
_BEAT_SECONDS = 0.05
_ARMED_SECONDS = 5.0
"""How often the end of a frozen worker is put off."""
_PLACES = 6
_IMPORTING = "<frozen importlib._bootstrap>"


class _Watch:
    def __init__(self, loop: asyncio.AbstractEventLoop, frozen: float | None) -> None:
        self._loop = loop
        self._thread = threading.get_ident()
        self._frozen = frozen
        self._armed = 0.0
        self._last, self._used = time.monotonic(), time.process_time()
        self._told = False
        self._over = threading.Event()
        self._handle = loop.call_soon(self._beat)

    def watch(self) -> None:
        while not self._over.wait(_BEAT_SECONDS):
            if not self._told and time.monotonic() - self._last > HELD_SECONDS:
                self._tell(_where(self._thread))

    def end(self) -> None:
        self._over.set()
        self._handle.cancel()
        if self._frozen is not None:
            faulthandler.cancel_dump_traceback_later()

    def _beat(self) -> None:
        now = time.monotonic()
        if now - self._last > HELD_SECONDS + _BEAT_SECONDS and not self._told:
            self._tell([])
        self._last, self._used, self._told = now, time.process_time(), False
        if self._frozen is not None and now - self._armed > min(_ARMED_SECONDS, self._frozen / 4):
            self._armed = now
            faulthandler.dump_traceback_later(self._frozen, exit=True)
        self._handle = self._loop.call_later(_BEAT_SECONDS, self._beat)

    def _tell(self, places: list[str]) -> None:
        self._told = True
        if _IMPORTING in places:  # a module that is needed for the first time
            log.info("The event loop waits for a module", extra={"at": places})
            return
        metrics.held.inc()
        used = round(time.process_time() - self._used, 3)
        log.warning("The event loop is held", extra={"at": places, "processor_seconds": used})


def _where(thread: int) -> list[str]:
    """The innermost places in the code of a thread; no values."""
    frame = sys._current_frames().get(thread)
    frames = traceback.extract_stack(frame) if frame else []
    places = [f"{one.filename}:{one.lineno} {one.name}" for one in frames[-_PLACES:]]
    return [_IMPORTING, *places] if any(_IMPORTING in one.filename for one in frames) else places


@contextmanager
def watched(*, frozen: float | None = None) -> Iterator[None]:
    """Watch the running loop. `frozen`: end this process once its loop has been held so many seconds."""
    watch = _Watch(asyncio.get_running_loop(), frozen)
    thread = threading.Thread(target=watch.watch, name="watchdog", daemon=True)
    thread.start()
    try:
        yield
    finally:
        watch.end()
        thread.join()
