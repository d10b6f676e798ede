"""Signals between the processes that share a state: PostgreSQL's LISTEN and NOTIFY.

In: a kind and a few short texts. Out: calls of those who heed this kind, in every process, the sender's too. A signal
only makes news travel faster: what it is about is in the state, and a process that was not listening for a moment
finds it there (kind `missed`). On SQLite there are none.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections import defaultdict
from collections.abc import Callable

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from agent.store.base import Base

log = logging.getLogger(__name__)

CHANNEL = "text2sql"
MISSED = "missed"
"""Heeded after each time that the connection was away: signals may have been lost."""
_LOOK_SECONDS = 0.5
_AGAIN_SECONDS = 1.0

Act = Callable[[dict[str, str]], None]


class SignalStore(Base):
    _heeders: defaultdict[str, list[Act]]
    _listener: threading.Thread | None = None

    @property
    def shared(self) -> bool:
        """Whether other processes may work on this state and hear signals."""
        return not self._location.sqlite

    async def signal(self, kind: str, **about: str) -> None:
        """Tell all processes. Raises StoreError."""
        if self.shared:
            payload = json.dumps({"kind": kind, **about})
            statement = text("SELECT pg_notify(:channel, :payload)")
            given = {"channel": CHANNEL, "payload": payload}
            await self._write(lambda connection: connection.execute(statement, given))

    def heed(self, kind: str, act: Act) -> None:
        """Call `act` on the event loop with what each signal of this kind is about."""
        self._heeders[kind].append(act)

    def _listen(self) -> None:
        """Begin to listen; on the event loop on which signals are heeded."""
        self._heeders = defaultdict(list)
        self._silent = threading.Event()
        if self.shared:
            loop = asyncio.get_running_loop()
            self._listener = threading.Thread(target=self._listening, args=(loop,), name="state-signals", daemon=True)
            self._listener.start()

    def _stop_listening(self) -> None:
        if self._listener is not None:
            self._silent.set()
            self._listener.join()

    def _listening(self, loop: asyncio.AbstractEventLoop) -> None:
        failures = (SQLAlchemyError, OSError, self._engine.dialect.loaded_dbapi.Error)
        while not self._silent.is_set():
            try:
                self._heard(loop)
            except failures as error:
                log.warning("Signals of other processes are not heard for a moment: %s", type(error).__name__)
                self._silent.wait(_AGAIN_SECONDS)
            except RuntimeError:  # the loop is closed
                return

    def _heard(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            try:
                connection.exec_driver_sql(f"LISTEN {CHANNEL}")
                loop.call_soon_threadsafe(self._act, MISSED, {})
                driver = connection.connection.driver_connection
                assert driver is not None
                while not self._silent.is_set():
                    for one in driver.notifies(timeout=_LOOK_SECONDS):
                        about = json.loads(one.payload)
                        loop.call_soon_threadsafe(self._act, about.pop("kind"), about)
            finally:
                connection.invalidate()  # it listens, so it must not serve another purpose

    def _act(self, kind: str, about: dict[str, str]) -> None:
        for act in self._heeders[kind]:
            try:
                act(about)
            except Exception:
                log.exception("A signal could not be heeded")
