"""Builds a profile, and keeps it in memory and in the cache folder.

In: an open `Database` and its `Schema`, and the privacy mode. Out: a `Profile`. Each table is read, then each foreign
key checked, then patterns and pitfalls derived. Time is bounded per table and in total; tables without time are marked
and have no facts. A table whose rows are unchanged keeps the facts of an earlier profile.

A profile is kept by the fingerprint of the structure and the version of the data, in one file per database and mode,
readable only by its owner because it may hold row values. Only one computation per database runs at a time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from agent.knowledge.grouping import grouped
from agent.knowledge.privacy import HIDDEN, Privacy, visible_schema
from agent.knowledge.profile.conclusions import column_facts, patterns, pitfalls, trees
from agent.knowledge.profile.facts import (
    NO_TIME,
    ColumnFacts,
    Counted,
    KeyFacts,
    Pattern,
    Profile,
    TableFacts,
    profile_reader,
)
from agent.knowledge.profile.row_sample import NOT_READ, TABLE_SECONDS, Rows, orphans, pass_over, read_rows
from agent.knowledge.values import data_state, digest
from eval.databases.base import Database
from eval.schema import Schema, Table
from eval.tasks.cache_folder import cache_folder, write_private

PROFILE_SECONDS = 60.0
"""Time limit for all tables together."""


def compute_profile(
    database: Database,
    schema: Schema,
    *,
    seconds: float = PROFILE_SECONDS,
    before: Profile | None = None,
    privacy: Privacy = "full",
) -> Profile:
    """Compute the current profile of a database. Never raises: a table that cannot be read has no facts. `before`:
    an earlier profile in the same privacy mode. `privacy`: with `masked` no value is kept, with `schema` no row is
    read."""
    start = time.monotonic()
    seen = visible_schema(schema, privacy) if privacy != "full" else schema
    earlier = before or Profile(schema.dialect, (), (), (), (), ())
    work = _Work(database, seen, start + seconds, privacy, earlier)
    for table in work.schema.tables:
        work.table(table)
    work.patterns += trees(work.schema)
    keys = tuple(work.keys())
    return Profile(
        dialect=schema.dialect,
        tables=tuple(work.tables),
        columns=tuple(work.columns),
        keys=keys,
        patterns=tuple(work.patterns),
        guidance=tuple(pitfalls(work.schema, work.tables, work.columns, keys)),
        seconds=round(time.monotonic() - start, 3),
    )


class _Work:
    """A profile under construction, which takes over the facts of unchanged tables from an earlier one."""

    def __init__(self, database: Database, schema: Schema, deadline: float, privacy: Privacy, before: Profile) -> None:
        self.schema = schema
        self.tables: list[TableFacts] = []
        self.columns: list[ColumnFacts] = []
        self.patterns: list[Pattern] = []
        self._database = database
        self._deadline = deadline
        self._masked = privacy == "masked"
        self._reads = database.holds_rows and privacy != "schema"
        self._unchanged: set[str] = set()
        times = Counter(t.name for t in before.tables)  # a name may occur in several namespaces
        self._before = {t.name: t for t in before.tables if t.sign and times[t.name] == 1}
        self._keys_before = {(k.table, k.columns, k.ref_table): k for k in before.keys}
        self._facts_before = grouped((c.table, c) for c in before.columns)
        self._patterns_before = grouped((p.table, p) for p in before.patterns if p.kind != "hierarchy")

    def table(self, table: Table) -> None:
        """Read a table and derive the facts that concern only this table."""
        until = min(self._deadline, time.monotonic() + TABLE_SECONDS)
        read = NOT_READ
        if self._reads:
            in_time = time.monotonic() < self._deadline
            read = read_rows(self._database, table, until=until) if in_time else Rows((), (), NO_TIME, True)
        signed = hashlib.sha256(repr(asdict(table)).encode("utf-8", "surrogatepass"))
        for row in read.cells:
            signed.update(repr(row).encode("utf-8", "surrogatepass"))
        sign = signed.hexdigest()[:32] if read.columns else ""
        self.tables.append(
            TableFacts(
                name=table.name,
                kind=table.kind,
                rows=table.row_count,
                estimated=table.row_count_estimated,
                columns=len(table.columns),
                looked_at=len(read.cells),
                sampled=read.sampled,
                how=read.how,
                sign=sign,
            )
        )
        earlier = self._before.get(table.name)
        if sign and earlier is not None and earlier.sign == sign:
            self._unchanged.add(table.name)
            self.columns += self._facts_before.get(table.name, ())
            self.patterns += self._patterns_before.get(table.name, ())
            return
        totals = pass_over(self._database, table, read, until=until) if read.columns else {}
        keyed = {c.casefold() for k in table.foreign_keys for c in k.columns}
        keyed |= {c.casefold() for c in table.primary_key}
        for place, column in enumerate(read.columns):
            cells = [row[place] for row in read.cells]
            named = column.name.casefold() in keyed
            facts = column_facts(table.name, column, cells, totals.get(column.name), key=named)
            self.columns.append(_without_values(facts) if self._masked else facts)
        self.patterns += patterns(table, read)

    def keys(self) -> Iterator[KeyFacts]:
        """Every foreign key, checked against the referenced rows if there is time."""
        for table in self.schema.tables:
            for key in table.foreign_keys:
                earlier = self._keys_before.get((table.name, key.columns, key.ref_table))
                if earlier and earlier.checked is not None and {table.name, key.ref_table} <= self._unchanged:
                    yield replace(earlier, inferred=key.inferred)
                    continue
                ref = self.schema.table(key.ref_table)
                now = time.monotonic()
                looked = None
                if ref is not None and self._reads and now < self._deadline:
                    until = min(self._deadline, now + TABLE_SECONDS / 2)
                    looked = orphans(self._database, table, key, ref, until=until)
                # Whether the database guarantees that this key is unique
                wanted = {c.casefold() for c in key.columns}
                promised = [table.primary_key, *(i.columns for i in table.indexes if i.unique)]
                is_unique = any(p and {c.casefold() for c in p} <= wanted for p in promised)
                yield KeyFacts(
                    table=table.name,
                    columns=key.columns,
                    ref_table=key.ref_table,
                    ref_columns=key.ref_columns,
                    inferred=key.inferred,
                    cardinality="1:1" if is_unique else "n:1",
                    checked=looked[0] if looked else None,
                    orphans=looked[1] if looked else 0,
                )


def _without_values(facts: ColumnFacts) -> ColumnFacts:
    """The facts without row values and without anything computed from single rows."""
    missing = sum(v.rows for v in facts.null_likes)
    return replace(
        facts,
        samples=(),
        values=(),
        low=None,
        high=None,
        mean=None,
        formats=tuple(replace(f, example=HIDDEN) for f in facts.formats),
        null_likes=(Counted(HIDDEN, missing),) if missing else (),
    )


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


def kept_profile(database: Database, schema: Schema, *, privacy: Privacy = "full") -> Profile:
    """The profile from memory or the cache folder, else computed now. Never raises."""
    return _under_way_or_begun(database, schema, privacy).result()


def profile_soon(database: Database, schema: Schema, *, wait: float, privacy: Privacy = "full") -> Profile | None:
    """The profile if it is ready within `wait` seconds, else the last one of the same structure, else None. A longer
    computation continues for later callers; the end of the process does not wait for it."""
    with _lock:
        known = _memory.get(_place(database, privacy))
    if known is not None and known.fingerprint != schema.fingerprint:
        known = None
    if known is not None and time.monotonic() - known.since < FRESH_SECONDS:
        return known.profile
    try:
        return _under_way_or_begun(database, schema, privacy).result(timeout=wait)
    except TimeoutError:
        return known.profile if known is not None else None


def _under_way_or_begun(database: Database, schema: Schema, privacy: Privacy) -> Future[Profile]:
    place = _place(database, privacy)
    with _lock:
        running = _under_way.get(place)
        if running is not None:
            return running
        begun: Future[Profile] = Future()
        _under_way[place] = begun

    def work() -> None:
        try:
            begun.set_result(_current(database, schema, privacy))
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            begun.set_exception(error)
        finally:
            with _lock:
                _under_way.pop(place, None)

    threading.Thread(target=work, name="profile", daemon=True).start()
    return begun


def _current(database: Database, schema: Schema, privacy: Privacy) -> Profile:
    place, key = _place(database, privacy), digest(f"{schema.fingerprint}|{data_state(database)}")
    try:
        path: Path | None = cache_folder() / "profiles" / f"{place}.json"
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
