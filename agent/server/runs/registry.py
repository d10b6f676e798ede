"""All runs of this process: starts, finds and stops them, and renews their leases in the store.

In: records and work. Out: `LiveRun`s. A run that another server has marked as ended in the store is stopped here, so
that cancelling works whichever replica is asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from pydantic import BaseModel

from agent.config import ServerSettings
from agent.server.runs.run import LiveRun, Stop, Work
from agent.store import Store
from agent.store.records import RunRecord
from agent.store.signals import MISSED
from eval.errors import Busy

log = logging.getLogger(__name__)

CANCELLED = "run_cancelled"
CALL_CANCELLED = "call_cancelled"
FOLLOWED = "run_followed"
"""Kinds of signals, about `run_id`, `call` and `run_id`. The last: a reader in another process is there."""

PULSE_SECONDS = 5.0
"""Interval of lease renewals; a cancellation accepted by another replica is noticed within this time."""
CLOSE_SECONDS = 5.0
STOP_SECONDS = 2.0
FOLLOWED_SECONDS = 6.0
"""A reader in another process counts for this long after its last sign of life."""
PRUNE_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Instance:
    """What a process is called in the state, where it holds the leases of its runs."""

    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    worker: int | None = None
    """Its number among the workers of one command, from 1; None: it serves alone."""
    replaces: str | None = None
    """The instance that ended without releasing its leases, whose place this one takes."""


class LiveRuns:
    """Belongs to one event loop; `open` and `close` bracket its life."""

    def __init__(
        self, store: Store, settings: ServerSettings, *, instance: Instance, state_days: float | None = None
    ) -> None:
        self.instance = instance
        self.drain_seconds = settings.drain_seconds
        self.closing = False
        self._drained_at = 0.0
        self._store = store
        self._max_runs = settings.max_runs
        self._resume_seconds = settings.resume_seconds
        self._state_days = state_days
        self._starting = 0
        self._runs: dict[str, LiveRun] = {}
        self._pulse: asyncio.Task[None] | None = None
        self._look = asyncio.Event()

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[LiveRun]:
        return iter(list(self._runs.values()))

    async def open(self) -> None:
        """Mark the runs of dead servers as interrupted, and start renewing leases. Raises StoreError."""
        if self.instance.replaces is not None:
            await self._store.end_leases(self.instance.replaces)
        self._store.heed(CANCELLED, lambda about: self._stop_one(about["run_id"]))
        self._store.heed(CALL_CANCELLED, lambda about: self._stop_call(about["call"]))
        self._store.heed(FOLLOWED, lambda about: self._followed(about["run_id"]))
        self._store.heed(MISSED, lambda _: self._look.set())
        await self._store.mark_interrupted()
        self._pulse = asyncio.create_task(self._beat())

    async def close(self) -> None:
        """Let runs finish, stop the others as interrupted, and wait until the store knows."""
        self.drain()
        tasks = [run.task for run in self if run.task is not None]
        if tasks:
            left = self._drained_at - time.monotonic()
            await asyncio.wait(tasks, timeout=max(0.0, left))
        self.stop_all("interrupted")
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
        if self._pulse is not None:
            self._pulse.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._pulse

    def require_room(self) -> None:
        """Raises Busy when no further run is taken."""
        if self.closing or len(self._runs) + self._starting >= self._max_runs:
            raise Busy

    async def start(
        self,
        record: RunRecord,
        opening: Callable[[RunRecord], BaseModel],
        work: Callable[[RunRecord], Work],
        *,
        resumable: bool = False,
        fresh: bool = False,
        call: str = "",
    ) -> LiveRun:
        """Keep the record, as the next turn of its thread, and begin; the first event is `opening` of it. `fresh`: its
        thread is new. `call`: the name by which `cancel_call` knows it. Raises Busy, StoreError (NotFound for a thread
        that is not the owner's, ThreadBusy where another run of it goes on)."""
        self.require_room()
        self._starting += 1
        try:
            for earlier in self:  # a user can stop a run and ask again on its thread at once
                same = record.thread_id and earlier.record.thread_id == record.thread_id
                if same and earlier.stopping and earlier.task is not None:
                    await asyncio.wait({earlier.task}, timeout=STOP_SECONDS)
            patience = STOP_SECONDS if self._store.shared else 0.0
            record = await self._store.begin_turn(record, instance=self.instance.id, fresh=fresh, patience=patience)
        finally:
            self._starting -= 1
        run = LiveRun(record, work(record), self._store, resumable=resumable, patience=self._resume_seconds, call=call)
        self._runs[record.run_id] = run
        run.start(opening(record))
        assert run.task is not None
        run.task.add_done_callback(lambda _: self._runs.pop(record.run_id, None))
        return run

    def get(self, owner: str, run_id: str) -> LiveRun | None:
        run = self._runs.get(run_id)
        return run if run is not None and run.record.owner == owner else None

    async def cancel(self, run_id: str, model: str) -> None:
        """Stop a run of another process. Raises StoreError."""
        await self._store.finish_run(run_id, status="cancelled", model=model)
        await self._store.signal(CANCELLED, run_id=run_id)

    async def cancel_call(self, call: str) -> None:
        """Stop the run of a call, in whichever process it is. Raises StoreError."""
        if not call:
            return
        self._stop_call(call)
        await self._store.signal(CALL_CANCELLED, call=call)

    def drain(self) -> None:
        """Take no further run, and stop those that are still running after `drain_seconds`. Calling it again changes
        nothing."""
        if not self.closing:
            self.closing = True
            self._drained_at = time.monotonic() + self.drain_seconds
            asyncio.get_running_loop().call_later(self.drain_seconds, self.stop_all, "interrupted")

    def stop_all(self, reason: Stop) -> None:
        for run in self:
            run.stop(reason)

    def _stop_one(self, run_id: str) -> None:
        if (run := self._runs.get(run_id)) is not None:
            run.stop("cancelled")

    def _stop_call(self, call: str) -> None:
        for run in self:
            if run.call and run.call == call:
                run.stop("cancelled")

    def _followed(self, run_id: str) -> None:
        if (run := self._runs.get(run_id)) is not None:
            run.followed(FOLLOWED_SECONDS)

    async def _beat(self) -> None:
        pruned = -PRUNE_SECONDS
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PULSE_SECONDS):
                    await self._look.wait()
            self._look.clear()
            try:
                if time.monotonic() - pruned > PRUNE_SECONDS:
                    pruned = time.monotonic()
                    await self._store.prune_events()
                    if self._store.shared:
                        await self._store.prune_tasks()
                        await self._store.prune_rates()
                    if self._state_days is not None:
                        await self._store.prune(self._state_days)
                if self._runs or self._store.shared:
                    await self._store.renew(self.instance.id)
                    await self._heed()
                await self._store.mark_interrupted()
            except Exception as error:  # noqa: BLE001 - the state being away for a while must not end the pulse
                log.warning("No sign of life could be left in the state database: %s", type(error).__name__)

    async def _heed(self) -> None:
        """Stop the runs that were ended elsewhere."""
        for run in self:
            kept = await self._store.get(RunRecord, run.record.owner, run.record.run_id)
            if kept is not None and kept.status == "cancelled":
                run.stop("cancelled")
