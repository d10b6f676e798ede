"""Bounds: what is large is read quickly or refused quickly, and the answer does not depend on the caller's stack."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlglot import parser

from eval.schema import DIALECTS, Column, Dialect, Schema, Table
from eval.sql import check, facts, parse, resolve
from eval.sql.bounds import MAX_DEPTH, REREAD_TOKENS
from tests.pairs import rows
from tests.samples import ALL, sampled

Reading = tuple[bool, str | None, int]


class Calls:
    """How many Python functions were called."""

    count = 0


@contextmanager
def counted_calls() -> Iterator[Calls]:
    """Count calls, in new threads too: a measure of work that does not depend on how busy the machine is."""
    calls = Calls()

    def event(frame: object, kind: str, argument: object) -> None:
        calls.count += kind == "call"

    threading.setprofile(event)
    sys.setprofile(event)
    try:
        yield calls
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def _schema(dialect: Dialect) -> Schema:
    return Schema(dialect, tuple(Table(t, tuple(Column(c) for c in cs)) for t, cs in (("t", "abcdef"), ("u", "abxyz"))))


def _read(sql: str, dialect: Dialect) -> Reading:
    """Everything that is done with a text before it is sent."""
    parsed = parse(sql, dialect)
    verdict = check(parsed)
    references = resolve(parsed, _schema(dialect))
    facts(parsed, _schema(dialect))
    return verdict.allowed, verdict.reason, len(references.phantoms)


def _calls(action: Callable[[], object]) -> int:
    with counted_calls() as calls:
        action()
    return calls.count


def by_dialect(names: Iterable[str]) -> pytest.MarkDecorator:
    """Each of the texts in two dialects, in turn; in all of them with TEXT2SQL_TEST_ALL."""
    turns = ((name, DIALECTS if ALL else (DIALECTS[n % len(DIALECTS)], DIALECTS[(n + 3) % len(DIALECTS)]))
             for n, name in enumerate(names))  # fmt: skip
    return pytest.mark.parametrize(("name", "dialect"), [(name, one) for name, dialects in turns for one in dialects])


def _chain(part: str, start: str, end: str) -> Callable[[int], str]:
    """A text with as many repetitions as make up so many tokens, roughly."""
    size = max(len(part.replace("(", " ( ").replace(")", " ) ").split()), 1)
    return lambda tokens: start + part * (tokens // size - 10) + end


CHAINS = {name: _chain(part, start, end) for name, part, start, end in rows("guard/chains.jsonl")}

LONG = {
    "nested case": "SELECT " + "CASE WHEN a THEN " * MAX_DEPTH + "1" + " END" * MAX_DEPTH + " FROM t",
    "comments": "SELECT a" + " /* x */" * 12_000 + " FROM t",
    "semicolons": "SELECT a FROM t" + ";" * 50_000,
    "ctes that double": "WITH c0 AS (SELECT * FROM t)"
    + "".join(f", c{i + 1} AS (SELECT * FROM c{i} x, c{i} y)" for i in range(40))
    + " SELECT * FROM c40",
    "unknown columns": "SELECT " + ",".join(f"zz{i}" for i in range(5_500)) + " FROM t",
    "unknown functions": "SELECT " + ",".join(f"zz{i}(a)" for i in range(2_300)) + " FROM t",
    "long name": "SELECT " + "q" * 90_000 + " FROM t",
}

LARGE = {
    "in 5,000": "SELECT a FROM t WHERE a IN (" + ",".join(str(i) for i in range(5_000)) + ")",
    "2,000 columns": "SELECT " + ",".join(f"t.a AS x{i}" for i in range(1_900)) + " FROM t",
    "500 branches": " UNION ALL ".join(["SELECT a FROM t WHERE b = 1"] * 500),
    "1,000 conditions": "SELECT a FROM t WHERE " + " OR ".join(f"(a = {i} AND b = 2)" for i in range(1_000)),
    "60 tables": "SELECT t.a FROM t" + "".join(f" JOIN u AS u{i} ON u{i}.a = t.a" for i in range(60)),
    "25 calls": "SELECT " + "REPLACE(" * 25 + "a" + ", 'x', 'y')" * 25 + " FROM t",
}


@by_dialect(CHAINS)
def test_the_work_grows_in_step_with_the_length_of_a_chain(dialect: Dialect, name: str) -> None:
    work = [_calls(lambda size=size: _read(CHAINS[name](size), dialect)) for size in (200, 400)]
    assert work[1] < 2.7 * work[0] + 2_000


@pytest.mark.parametrize("dialect", sampled(DIALECTS, 2))
def test_the_longest_texts_are_read_without_an_error(dialect: Dialect) -> None:
    for sql in LONG.values():
        _read(sql, dialect)


def _nested(start: str, opened: str, middle: str, closed: str, end: str, times: float) -> Callable[[int], str]:
    """A text that opens something so many times, and closes it as often."""
    return lambda n: start + opened * int(n * times) + middle + closed * int(n * times) + end


NESTED, HOSTILE = (
    {name: _nested(*shape) for kind, name, *shape in rows("guard/nested.jsonl") if kind == wanted}
    for wanted in ("nested", "hostile")
)
HOSTILE["many of them"] = lambda n: "SELECT " + ", ".join(["date(" * n + "1" + ")" * n] * 50)


@by_dialect(HOSTILE)
def test_no_text_keeps_the_parser_busy(dialect: Dialect, name: str) -> None:
    for depth in (18, 26):
        sql = HOSTILE[name](depth)
        assert _calls(lambda sql=sql: parse(sql, dialect)) < 150 * (REREAD_TOKENS + len(sql))


def test_a_few_joins_without_on_and_nested_calls_are_read() -> None:
    for depth in (1, 4, 7):
        for name in ("joins without ON", "date calls", "limits"):
            assert parse(HOSTILE[name](depth), "mysql").error is None


@by_dialect(LARGE)
def test_what_programs_write_passes(dialect: Dialect, name: str) -> None:
    allowed, reason, phantoms = _read(LARGE[name], dialect)
    assert (allowed, reason, phantoms) == (True, None, 0)


@by_dialect(NESTED)
def test_the_verdict_does_not_depend_on_the_stack_of_the_caller(dialect: Dialect, name: str) -> None:
    for levels in (MAX_DEPTH // 2, MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 3 * MAX_DEPTH):
        sql = NESTED[name](levels)
        shallow = _read(sql, dialect)
        for frames in (300, 900):
            assert _called_from(frames, sql, dialect) == shallow


def _called_from(frames: int, sql: str, dialect: Dialect) -> Reading:
    depth, frame = 0, sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    return _descend(frames - depth, sql, dialect)


def _descend(more: int, sql: str, dialect: Dialect) -> Reading:
    return _read(sql, dialect) if more <= 0 else _descend(more - 1, sql, dialect)


def test_one_parse_is_one_run_of_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    original = parser.Parser._parse

    def counted(self: parser.Parser, *args: object, **kwargs: object) -> object:
        runs.append(1)
        return original(self, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(parser.Parser, "_parse", counted)
    parsed = parse("WITH x AS (SELECT a::int, b -> '$.c' FROM t) SELECT CAST(a AS TEXT) FROM x", "postgres")
    check(parsed)
    resolve(parsed, _schema("postgres"))
    facts(parsed, _schema("postgres"))
    assert len(runs) == 1


_VOCABULARY = """
SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT OFFSET JOIN LEFT NATURAL USING ON AS AND OR NOT IN IS NULL LIKE BETWEEN
CASE WHEN THEN ELSE END CAST INTERVAL WITH RECURSIVE UNION ALL EXCEPT VALUES DISTINCT OVER PARTITION FILTER LATERAL
EXISTS ANY ARRAY UNNEST DATE t u a b c x count sum abs ( ) [ ] { } , . ; :: -> ->> || + - * / % ^ ~ = < > <> ! @ # $
? : /* */ -- 1 1.5 0x1F 's' "q" `b` $$x$$ E's'
"""
WORDS = [*_VOCABULARY.split(), "\n"]
bounded = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@bounded
@example("duckdb", "LATERAL .")
@given(st.sampled_from(DIALECTS), st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join))
def test_any_soup_of_words_is_read_without_an_error(dialect: Dialect, soup: str) -> None:
    _read(soup, dialect)
    _read("SELECT " + soup, dialect)
