"""Cache of profiles, in memory and in the cache folder, keyed by the structure's fingerprint and the data's version.

In: an open `Database`, its `Schema`, the privacy mode. Out: the `Profile`. There is one file per database and mode,
readable only by its owner because it may hold row values. When the data has changed, the next profile starts from the
earlier one. Only one computation per database runs at a time.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from agent.knowledge.privacy import Privacy
from agent.knowledge.profile.builder import PROFILE_SECONDS, compute_profile
from agent.knowledge.profile.facts import Profile, profile_reader
from agent.knowledge.values import data_state, digest
from eval.databases.base import Database
from eval.schema import Schema
from eval.tasks.cache_folder import cache_folder, write_private

_FORMAT = 2
_KEPT = 32
FRESH_SECONDS = 300.0
"""Time for which `profile_soon` reuses a profile without checking whether the data has changed."""


@dataclass(frozen=True, slots=True)
class _Kept:
    key: str
    """Key of the structure and the data version from which the profile was computed."""
    fingerprint: str
    profile: Profile
    since: float = 0.0
    """`time.monotonic()` value at which the profile was last known to be current."""


_lock = threading.Lock()
_memory: OrderedDict[str, _Kept] = OrderedDict()
_under_way: dict[str, Future[Profile]] = {}


def kept_profile(
    database: Database, schema: Schema, *, privacy: Privacy = "full", cache_dir: Path | None = None
) -> Profile:
    """The profile from memory or the cache folder, else computed now. Never raises."""
    return _under_way_or_begun(database, schema, privacy, cache_dir).result()


def profile_soon(
    database: Database, schema: Schema, *, wait: float, privacy: Privacy = "full", cache_dir: Path | None = None
) -> Profile | None:
    """The profile if it is ready within `wait` seconds, else the last one of the same structure, else None. A longer
    computation continues for later callers; the end of the process does not wait for it."""
    with _lock:
        known = _memory.get(_place(database, privacy))
    if known is not None and known.fingerprint != schema.fingerprint:
        known = None
    if known is not None and time.monotonic() - known.since < FRESH_SECONDS:
        return known.profile
    try:
        return _under_way_or_begun(database, schema, privacy, cache_dir).result(timeout=wait)
    except TimeoutError:
        return known.profile if known is not None else None


def _under_way_or_begun(
    database: Database, schema: Schema, privacy: Privacy, cache_dir: Path | None
) -> Future[Profile]:
    place = _place(database, privacy)
    with _lock:
        running = _under_way.get(place)
        if running is not None:
            return running
        begun: Future[Profile] = Future()
        _under_way[place] = begun

    def work() -> None:
        try:
            begun.set_result(_current(database, schema, privacy, cache_dir))
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            begun.set_exception(error)
        finally:
            with _lock:
                _under_way.pop(place, None)

    threading.Thread(target=work, name="profile", daemon=True).start()
    return begun


def _current(database: Database, schema: Schema, privacy: Privacy, cache_dir: Path | None) -> Profile:
    place, key = _place(database, privacy), digest(f"{schema.fingerprint}|{data_state(database)}")
    try:
        path: Path | None = cache_folder(cache_dir) / "profiles" / f"{place}.json"
    except OSError:
        path = None
    with _lock:
        known = _memory.get(place)
    if known is None and path is not None:
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            stored = json.loads(path.read_text(encoding="utf-8"))
            earlier = profile_reader().validate_python(stored["profile"])
            known = _Kept(str(stored["key"]), str(stored["fingerprint"]), earlier)
    before = known.profile if known is not None else None
    if known is not None and known.key == key and known.profile.complete:
        profile = known.profile
    else:
        profile = compute_profile(database, schema, seconds=PROFILE_SECONDS, before=before, privacy=privacy)
        if path is not None:
            with contextlib.suppress(OSError, ValueError):
                written = {"key": key, "fingerprint": schema.fingerprint, "profile": profile.as_json()}
                write_private(path, json.dumps(written, separators=(",", ":")))
    with _lock:
        _memory[place] = _Kept(key, schema.fingerprint, profile, time.monotonic())
        _memory.move_to_end(place)
        while len(_memory) > _KEPT:
            _memory.popitem(last=False)
    return profile


def _place(database: Database, privacy: Privacy) -> str:
    return digest(f"{_FORMAT}|{privacy}|{database.url}")
