"""Judge in separate processes: a query that takes too long or exhausts memory costs only its own answer.

In: `JudgeRequest`s. Out: always `Judgement`s. Each worker process has a memory limit. A worker that dies or misses its
deadline is replaced, and the answer it was running counts as failed (or gold, if it was running gold).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from eval.assessment.judgement import JudgeRequest, judge, nothing_right
from eval.assessment.records import Judgement, Mistake

MEMORY_BYTES = 3 * 1024**3
"""Memory that one worker may use beyond its own start, on platforms that can limit it."""
GRACE_SECONDS = 10.0
"""Time beyond the statement's own deadline before its process is ended."""
_START_SECONDS = 120.0
_SUITE_FACTOR = 20
"""Time for a whole test suite or for timing VES, in multiples of the time of one statement."""


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    pipe: Connection
    ready: bool = False


class Sandbox:
    """A pool of judging processes. Use as an async context manager."""

    def __init__(self, workers: int = 2, memory_bytes: int = MEMORY_BYTES) -> None:
        self._count = max(1, workers)
        self._memory = memory_bytes
        self._threads = ThreadPoolExecutor(self._count, "judge")
        self._idle: asyncio.Queue[_Worker | None] = asyncio.Queue()
        self._processes: dict[int, _Worker] = {}

    async def __aenter__(self) -> Sandbox:
        for _ in range(self._count):
            self._idle.put_nowait(None)
        return self

    async def __aexit__(self, *_: object) -> None:
        for worker in list(self._processes.values()):
            self._end(worker)
        self._threads.shutdown(wait=True, cancel_futures=True)

    async def judge(self, request: JudgeRequest) -> Judgement:
        """Judge one answer; waits while all workers are busy. Cancelling ends the worker."""
        worker = await self._idle.get()
        back: _Worker | None = None
        try:
            if worker is None:
                worker = self._start()
            loop = asyncio.get_running_loop()
            judgement, usable = await loop.run_in_executor(self._threads, _exchange, worker, request)
            if usable:
                back = worker
            return judgement
        finally:
            if back is None and worker is not None:
                self._end(worker)
            self._idle.put_nowait(back)

    def _start(self) -> _Worker:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._memory), daemon=True, name="judge")
        process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self._processes[id(worker)] = worker
        return worker

    def _end(self, worker: _Worker) -> None:
        self._processes.pop(id(worker), None)
        worker.process.kill()
        worker.process.join()
        with contextlib.suppress(OSError):
            worker.pipe.close()


def _exchange(worker: _Worker, request: JudgeRequest) -> tuple[Judgement, bool]:
    """Send one request and receive its judgement, in a thread; and whether the worker can continue."""
    stage, patience = "gold", request.seconds + GRACE_SECONDS
    try:
        if not worker.ready:
            if not worker.pipe.poll(_START_SECONDS):
                return _lost(request, "gold", "the judging process did not start"), False
            worker.pipe.recv()
            worker.ready = True
        worker.pipe.send(request)
        while True:
            if not worker.pipe.poll(patience):
                return _lost(request, stage, f"it did not end within {request.seconds:g} seconds"), False
            reply = worker.pipe.recv()
            if isinstance(reply, Judgement):
                return reply, True
            stage, broke = reply
            if broke:
                return _lost(request, stage, broke), False
            patience = (request.seconds * (_SUITE_FACTOR if stage == "suite" else 1)) + GRACE_SECONDS
    except (EOFError, OSError):
        return _lost(request, stage, "it needed more memory than there is, or ended its process"), False


def _lost(request: JudgeRequest, stage: str, why: str) -> Judgement:
    nothing = nothing_right(request)
    if stage == "gold":
        return replace(nothing, ex=None, bird_ex=None, gold_error=why)
    return replace(nothing, error=why, mistakes=(Mistake("incorrect_planning", f"The answer was stopped: {why}."),))


def _serve(pipe: Connection, memory_bytes: int) -> None:
    """A worker process: judge requests until the other end is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        from eval.confinement import limit_memory

        limit_memory(memory_bytes)
    stage = "gold"

    def at(name: str) -> None:
        nonlocal stage
        stage = name
        pipe.send((name, ""))

    try:
        pipe.send(("ready", ""))
        while True:
            request = pipe.recv()
            try:
                pipe.send(judge(request, at))
            except MemoryError:
                pipe.send((stage, "it needed more memory than it may have"))
            except Exception as error:  # noqa: BLE001 - one answer must not end the judging of the others
                pipe.send((stage, f"judging it failed: {type(error).__name__}: {str(error)[:200]}"))
    except (EOFError, OSError, KeyboardInterrupt):
        os._exit(0)
