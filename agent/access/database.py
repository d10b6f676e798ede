"""A database as one person sees it, and the audit log of what that person does with it.

In: an open database, a person, and the policies. Out: a `Database` whose schema shows what the person may see, and
which rewrites every statement before it reaches the engine. Its URL differs for each set of rights, so everything that
is cached by URL (profiles, stored values, kept results) is kept apart. A query of somebody else may be shown to the
person if each of its constants is in rows that the person sees.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from agent.access.policies import Access, BadPolicies, Grant, Person
from agent.access.restriction import NotVisible, Restriction, restrict, restriction, stems
from agent.models.calls import current_run
from eval.databases.base import Database
from eval.databases.statement_run import OpenStatement, StatementRun
from eval.databases.types import DatabaseError, Limits, Value
from eval.engines import ENGINES
from eval.errors import Text2SQLError
from eval.schema import Dialect, Schema, Table
from eval.scoring.intent import read_intent
from eval.sql import ParsedQuery, check, parse, render, resolve
from eval.sql.binding import Binding
from eval.sql.scopes import bind
from eval.sql.sources import quoted_column, table_source
from eval.statement import ReadStatement

if TYPE_CHECKING:
    from agent.config import DatabaseSettings

_KEPT = 512
"""Rewritten statements that are kept, for each person's database."""
PROVEN: frozenset[Dialect] = frozenset({"sqlite", "duckdb", "postgres", "mysql", "spark", "clickhouse"})
"""Engines on which the attempts to get round a policy were tried; others are closed to people with restrictions."""
_LOOK_UP = Limits(seconds=2.0, rows=1)
_PEOPLE = 256
"""People's views of databases that are kept."""
_views: OrderedDict[tuple[int, str], PersonalDatabase] = OrderedDict()
_lock = threading.Lock()


class AuditLog:
    """A file that is only appended to and that only its owner may read: a JSON line for each question and statement."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def question(self, person: Person, database: Database, question: str) -> None:
        self._write(person, database, {"event": "question", "question": question})

    def statement(self, person: Person, database: Database, sql: str, rows: int, problem: str) -> None:
        """`sql`: as the engine received it. `problem`: empty if it ran to its end."""
        self._write(person, database, {"event": "statement", "sql": sql, "rows": rows, "problem": problem})

    def _write(self, person: Person, database: Database, entry: dict[str, str | int]) -> None:
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "person": person.name,
            "database": database.name,
            "run": current_run.get(),
            **entry,
        }
        text = json.dumps(line, ensure_ascii=False) + "\n"
        with self._lock:
            file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(file, text.encode("utf-8", "replace"))
            finally:
                os.close(file)


_logs = lru_cache(maxsize=8)(AuditLog)


def audit_of(settings: DatabaseSettings) -> AuditLog | None:
    return _logs(Path(settings.audit_log)) if settings.audit_log else None


@dataclass(frozen=True, slots=True)
class _Rewritten:
    statement: ReadStatement
    partly: tuple[str, ...] = ()
    """The tables of which it reads only some rows."""


def personal(database: Database, person: Person, access: Access | None, audit: AuditLog | None) -> Database:
    """The database as the person sees it; the database itself where there are neither policies nor an audit log."""
    if access is None and audit is None:
        return database
    key = (id(database), f"{person.name} {access.digest(person) if access else ''} {id(audit)}")
    with _lock:
        view = _views.pop(key, None) or PersonalDatabase(database, person, access, audit)
        _views[key] = view  # it holds the database, so no other one gets its id
        if len(_views) > _PEOPLE:
            _views.popitem(last=False)
        return view


class PersonalDatabase(Database):
    def __init__(
        self, database: Database, person: Person, access: Access | None = None, audit: AuditLog | None = None
    ) -> None:
        self._database = database
        self._person = person
        self._grant: Grant | None = access.grant(person, database.name) if access else None
        self._audit = audit
        self._restricted: tuple[Schema, Restriction] | None = None
        self.dialect = database.dialect
        self.name = database.name
        self.holds_rows = database.holds_rows
        self.executes = database.executes
        self.url = f"{database.url}#{access.digest(person)}" if access else database.url
        self._rewritten = lru_cache(maxsize=_KEPT)(self._rewrite)

    def schema(self, *, ttl: float = 300.0) -> Schema:
        """What is visible of the structure. Raises DatabaseError."""
        if self.sees_all:
            return self._database.schema(ttl=ttl)
        return self._restriction(ttl).schema

    def data_version(self) -> str:
        return self._database.data_version()

    def write_privileges(self) -> tuple[str, ...]:
        return self._database.write_privileges()

    def refusal(self, statement: ReadStatement) -> str | None:
        try:
            message = self._database.refusal(self._rewritten(statement).statement)
        except DatabaseError as error:
            return str(error)
        return None if message is None else self._discreet(message)

    def close(self) -> None:
        """The database stays open: others see it too."""

    def log_question(self, question: str) -> None:
        """Keep a question in the audit log."""
        if self._audit is not None:
            self._audit.question(self._person, self._database, question)

    def hidden_names(self, question: str) -> tuple[str, ...]:
        """Tables and columns that the question names and the person may not see. Raises DatabaseError."""
        if self.sees_all:
            return ()
        words = set(stems(question))
        return tuple(name for name, parts in self._restriction().hidden.items() if words.issuperset(parts))

    @property
    def sees_all(self) -> bool:
        return self._grant is None or self._grant.unrestricted

    def may_show(self, parsed: ParsedQuery, text: str = "") -> bool:
        if self.sees_all:
            return True
        try:
            schema = self._restriction().schema
            if parsed.tree is None or not check(parsed, schema).allowed or resolve(parsed, schema).phantoms:
                return False
            if self.hidden_names(text) or not says_only(text, parsed, schema):
                return False
            asked = look_up(parsed, schema)
        except (DatabaseError, Unseen):
            return False
        if asked is None:
            return True
        statement = check(parse(render(asked, self.dialect), self.dialect)).statement
        result = self.execute(statement, limits=_LOOK_UP) if statement is not None else None
        return result is not None and result.ok and all(result.rows[0])

    def partly_visible(self, sql: str) -> tuple[str, ...]:
        """The tables of a query of which the person sees only some rows."""
        if self.sees_all:
            return ()
        try:
            return self._rewritten(ReadStatement(sql, self.dialect)).partly
        except DatabaseError:
            return ()

    @contextmanager
    def _open(self, run: StatementRun) -> Iterator[OpenStatement]:
        asked, rows, error = run.statement, 0, ""

        def counted(batch: Iterator[tuple[Value, ...]]) -> Iterator[tuple[Value, ...]]:
            nonlocal rows
            for row in batch:
                rows += 1
                yield row

        try:
            self._prepare(run)
            with self._database._open(run) as opened:
                yield OpenStatement(opened.columns, counted(opened.rows), opened.truncated)
        except Exception as problem:
            error = type(problem).__name__
            if not self.sees_all:  # the first name that is not visible; the engine's message might tell more
                phantoms = resolve(parse(asked.sql, self.dialect), self._restriction().schema).phantoms
                for phantom in phantoms:
                    if phantom.kind in ("table", "column"):
                        raise NotVisible(phantom.kind, phantom.name) from None
            raise
        finally:
            if self._audit is not None:
                self._audit.statement(self._person, self._database, run.sql, rows, error or run.stopped or "")

    @contextmanager
    def _open_plan(self, run: StatementRun) -> Iterator[OpenStatement]:
        self._prepare(run)
        with self._database._open_plan(run) as opened:
            yield opened

    def _prepare(self, run: StatementRun) -> None:
        """Make the run one of the rewritten statement, for this person. Raises DatabaseError."""
        run.statement = self._rewritten(run.statement).statement
        run.sql = run.statement.sql
        run.settings = self._person.settings()

    def _plan_text(self, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> tuple[str, ...]:
        return self._database._plan_text(columns, rows)

    def _explain(self, message: str) -> str:
        return self._discreet(self._database._explain(message))

    def _restriction(self, ttl: float = 300.0) -> Restriction:
        """Raises DatabaseError."""
        whole = self._database.schema(ttl=ttl)
        if whole.dialect not in PROVEN:
            title = ENGINES[whole.dialect].title
            raise DatabaseError(f"Policies are not enforced on {title}, so it is open only to people who may see all.")
        if self._restricted is None or self._restricted[0] is not whole:
            assert self._grant is not None
            try:
                self._restricted = (whole, restriction(self._grant, whole))
            except BadPolicies as error:
                raise DatabaseError(str(error)) from error
            self._rewritten.cache_clear()
        return self._restricted[1]

    def _rewrite(self, statement: ReadStatement) -> _Rewritten:
        """The statement over what is visible. Raises DatabaseError."""
        if self.sees_all:
            return _Rewritten(statement)
        tree = statement.tree.copy() if statement.tree else parse(statement.sql, statement.dialect).tree
        if tree is None:
            raise DatabaseError("The statement cannot be read.")
        read = restrict(tree, self._restriction())
        partly = dict.fromkeys(view.source.name for view in read if view.rows is not None)
        return _Rewritten(ReadStatement(render(tree, self.dialect), self.dialect, tree), tuple(partly))

    def _discreet(self, message: str) -> str:
        """The engine's message, unless it names something hidden."""
        if self.sees_all or message.endswith(NotVisible.END):
            return message
        words = {word.casefold() for word in re.findall(r"\w+", message)}
        try:
            hidden = self._restriction().hidden
        except DatabaseError as error:  # the policies do not fit, so nothing was sent
            return str(error)
        if any(name.casefold() in words for name in hidden):
            return "The database refused the statement. Its message is not visible to you."
        return message


MOST = 40
"""Constants of one query that are looked up."""
_APART = (exp.Limit, exp.Offset, exp.DataType, exp.Interval, exp.Fetch)
_RANGES = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.In, exp.Like, exp.ILike, *_RANGES)
_WRAPPED = (exp.Neg, exp.Paren, exp.Cast, exp.Tuple)
_FORMAT = re.compile(r"(?:%[A-Za-z]|[\W\d_]|(?:year|quarter|month|week|day|hour|minute|second|start of)s?)*")
"""A text that no value of a row is: a date's format or part."""
_DIGITS = re.compile(r"\d[\d.,]*")
_FEW_DIGITS = 3
"""Significant digits of a number that a query uses for its own reasons."""


class Unseen(Text2SQLError):
    """A constant that no visible row is known to hold."""


def look_up(parsed: ParsedQuery, schema: Schema) -> exp.Select | None:
    """A statement whose one row holds a truth for each constant; None where there is none. Raises Unseen."""
    assert parsed.tree is not None
    binding = bind(parsed.tree, parsed.dialect, schema)
    if any(found.is_string for found in binding.columns.values()) or any(n.comments for n in parsed.tree.walk()):
        raise Unseen  # SQLite's strings in double quotes; remarks
    found = list(dict.fromkeys(_conditions(parsed.tree, binding, schema)))
    if len(found) > MOST:
        raise Unseen
    named = [exp.alias_(exp.Exists(this=one), f"c{number}") for number, one in enumerate(found)]
    return exp.Select(expressions=named) if named else None


def says_only(text: str, parsed: ParsedQuery, schema: Schema) -> bool:
    """Whether all names, quotations and numbers in a text belong to its query or to the names of the schema."""
    assert parsed.tree is not None
    known = [node.name for node in parsed.tree.find_all(exp.Literal, exp.Identifier)]
    known += [name for t in schema.tables for name in (t.name, *(c.name for c in t.columns))]
    has = " ".join(known).casefold()
    intent = read_intent(text)
    said = [*intent.quoted, *(word for name in intent.proper for word in name.split())]
    said += [number for number in _DIGITS.findall(text) if not _is_small(number)]
    return all(one.casefold().strip(".,") in has for one in said)


def _conditions(tree: exp.Expr, binding: Binding, schema: Schema) -> Iterator[exp.Select]:
    for node in tree.dfs(prune=lambda n: isinstance(n, _APART)):
        if not isinstance(node, exp.Literal):
            continue
        child: exp.Expr = node
        while isinstance(child.parent, _WRAPPED):
            child = child.parent
        holder = child.parent
        table = None
        if isinstance(holder, _COMPARISONS):
            other = holder.expression if child.arg_key == "this" and isinstance(holder, exp.Binary) else holder.this
            cell, table = _of_one_table(other, binding, schema)
        if table is not None:
            # a constant of a range need not be stored itself: it has to lie among what is
            same: type[exp.Binary] = type(holder) if isinstance(holder, exp.Like | exp.ILike) else exp.EQ
            for kind in (exp.LTE, exp.GTE) if isinstance(holder, _RANGES) else (same,):
                value = (child if isinstance(child, exp.Neg | exp.Cast) else node).copy()
                found = exp.Where(this=kind(this=cell.copy(), expression=value))
                one = exp.Literal.number(1)
                select = exp.Select(expressions=[one], from_=exp.From(this=table_source(table)), where=found)
                yield select.limit(1, copy=False)
        elif not (_FORMAT.fullmatch(node.name) if node.is_string else _is_small(node.name)):
            raise Unseen


def _of_one_table(node: exp.Expr, binding: Binding, schema: Schema) -> tuple[exp.Expr, Table | None]:
    """The expression over the columns of a table alone, and the table; None where it is of none, or of several."""
    origins = [(c, b.origin if (b := binding.columns.get(id(c))) else None) for c in node.find_all(exp.Column)]
    tables = {origin[0] if origin else None for _, origin in origins}
    name = tables.pop() if len(tables) == 1 else None
    if name is None or node.find(exp.AggFunc, exp.Window, exp.Query):
        return node, None
    columns = [quoted_column(origin[1]) for _, origin in origins if origin]
    if isinstance(node, exp.Column):
        return columns[0], schema.table(name)
    copied = node.copy()
    for column, own in zip(list(copied.find_all(exp.Column)), columns, strict=True):
        column.replace(own)
    return copied, schema.table(name)


def _is_small(number: str) -> bool:
    digits = re.sub(r"\D", "", number).strip("0")
    return len(digits) <= _FEW_DIGITS
