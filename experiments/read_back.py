"""Whether the line "how this was read" says what its query does: `python -m experiments.read_back --bench DIR …`.

In: golds of several sources and recorded answers of models. Each query that runs is put into words, the words alone
(with the schema's names and keys) are read back into a query by the grammar below, and both are executed. Out: a line
a source: how many of the queries' words were read back, and how many give the same rows. A text in backticks is SQL.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from agent.knowledge.vocabulary import vocabulary
from agent.statements.reading import reading
from eval.databases import open_database
from eval.databases.base import Database
from eval.metrics.comparison import same_result
from eval.metrics.items import executed
from eval.schema import Schema
from eval.sql import orders_rows, parse
from experiments.json_lines import read_lines

T = TypeVar("T")

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

GOLDS = ("spider_dev", "spider_test_third", "geoquery", "real_data", "strangers", "newcomer")
ANSWERS = {
    "spider_dev_samples": "spider_dev",
    "spider_dev_156_runs": "spider_dev",
    "spider_test_third": "spider_test_third",
    "bird_superhero": "bird_superhero",
}


class Unread(Exception):
    """The words at this place are none of the grammar's."""


@dataclass
class _Scope:
    """The sources of one SELECT: what columns are called by, and the names that they can have."""

    tables: dict[str, str] = field(default_factory=dict)
    """Name in words -> table; empty for what a subquery makes."""


_WORDS = {
    "the sum of ": "SUM",
    "the average of ": "AVG",
    "the smallest ": "MIN",
    "the largest ": "MAX",
    "the length of ": "LENGTH",
    "the date of ": "DATE",
    "the day number of ": "JULIANDAY",
    "all values of ": "GROUP_CONCAT",
    "the previous ": "LAG",
    "the next ": "LEAD",
}
_BEHIND = (
    (" in small letters", "LOWER({})"),
    (" in capitals", "UPPER({})"),
    (" without spaces around it", "TRIM({})"),
    (" without its sign", "ABS({})"),
    (" as a whole number", "CAST({} AS INTEGER)"),
    (" as a number", "CAST({} AS REAL)"),
    (" as text", "CAST({} AS TEXT)"),
)
_FORMS = {"year and month": "%Y-%m", "year": "%Y", "month": "%m", "day": "%d", "hour": "%H", "weekday": "%w"}
_DAYS = {day: n for n, day in enumerate(("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"))}
_BINARY = (
    (" divided in whole numbers by ", "//"),
    (" divided by ", "/"),
    (" times ", "*"),
    (" modulo ", "%"),
    (" plus ", "+"),
    (" minus ", "-"),
    (" followed by ", "||"),
)
_COMPARED = (
    (" is at least ", ">="),
    (" is at most ", "<="),
    (" is over ", ">"),
    (" is under ", "<"),
    (" is not ", "<>"),
    (" is ", "="),
)
_JOINED = (
    (", only with a row of ", "semi"),
    (", without a row of ", "anti"),
    (", with ", ""),
)
_RANKS = {
    "the number of the row": "ROW_NUMBER()",
    "the rank without gaps": "DENSE_RANK()",
    "the rank": "RANK()",
}


class Reader:
    """A recursive descent over the text of one query's pieces."""

    def __init__(self, text: str, schema: Schema) -> None:
        self.text, self.at, self.schema = text, 0, schema
        self.scopes: list[_Scope] = []
        self.of_one = True
        """Whether `all columns of` is followed by the source whose they are."""
        self.made: set[str] = set()
        """Names that the query itself gives: of CTEs, subqueries and columns."""
        self.made.update(re.findall(r"\(called ([^)]+)\)", text))
        self.made.update(re.findall(r"first (\w+)(?: \([^)]*\))? is made: ", text))
        self.made.update(*(names.split(", ") for names in re.findall(r"first \w+ \(([^)]*)\) is made: ", text)))
        columns = {column.name for table in schema.tables for column in table.columns}
        self.columns = sorted({*columns, *self.made}, key=len, reverse=True)
        self.tables = sorted({*(table.name for table in schema.tables), *self.made}, key=len, reverse=True)

    # -- the text --

    def takes(self, words: str) -> bool:
        if self.text.startswith(words, self.at):
            self.at += len(words)
            return True
        return False

    def expect(self, words: str) -> None:
        if not self.takes(words):
            raise Unread(f"{words!r} expected: {self.text[self.at : self.at + 60]!r}")

    def match(self, pattern: str) -> str:
        found = re.compile(pattern).match(self.text, self.at)
        if found is None:
            raise Unread(f"{pattern!r} expected: {self.text[self.at : self.at + 60]!r}")
        self.at = found.end()
        return found[1] if found.groups() else found[0]

    def tries(self, read: Callable[[], T]) -> T | None:
        start = self.at
        try:
            return read()
        except Unread:
            self.at = start
            return None

    def several(self, read: Callable[[], str]) -> list[str]:
        """A list: `a, b and c`."""
        found = [read()]
        while True:
            start = self.at
            if not (self.takes(", ") or self.takes(" and ")):
                return found
            following = self.tries(read)
            if following is None:
                self.at = start
                return found
            found.append(following)

    # -- clauses --

    def whole(self) -> str:
        sql = self.query()
        if self.at != len(self.text):
            raise Unread(f"left over: {self.text[self.at : self.at + 80]!r}")
        return sql

    def query(self) -> str:
        steps = []
        while self.takes("first "):
            name, _, columns = self.match(r"(.+?) is made: ").removesuffix(")").partition(" (")
            listed = f"({', '.join(map(_quoted, columns.split(', ')))})" if columns else ""
            steps.append(f"{_quoted(name)}{listed} AS {self.inner()}")
            self.expect(", ")
        sql = self.select()
        while True:
            if self.takes(", only what is also in "):
                sql += f" INTERSECT {self.bare_inner()}"
            elif self.takes(", without what is in "):
                sql += f" EXCEPT {self.bare_inner()}"
            elif self.takes(", and, each once, "):
                sql += f" UNION {self.bare_inner()}"
            elif self.takes(", and, repeats too, "):
                sql += f" UNION ALL {self.bare_inner()}"
            else:
                break
        sql += self.end()
        return f"WITH RECURSIVE {', '.join(steps)} {sql}" if steps else sql

    def inner(self) -> str:
        self.expect("(")
        sql = self.query()
        self.expect(")")
        return f"({sql})"

    def bare_inner(self) -> str:
        return self.inner()[1:-1]

    def select(self) -> str:
        start = self.at
        distinct = "DISTINCT " if self.takes("each different ") else ""
        # what is shown refers to sources that are named behind it: they are read first
        body = self.at
        places = [m.start() for m in re.compile(r" of ").finditer(self.text, body)] + [-1]
        for of_one, place in itertools.product((True, False), places):  # `all columns of t of t`, `all columns of t`
            scope = _Scope()
            self.scopes.append(scope)
            try:
                source = ""
                if place >= 0:
                    self.at = place
                    self.expect(" of ")
                    source = self.tries(lambda scope=scope: self.source(scope) + self.joins(scope)) or ""  # type: ignore[misc]
                    if not source:
                        continue
                behind, self.at = self.at, body
                self.of_one = of_one
                shown = self.tries(lambda: self.several(self.output))
                if shown is None or place not in (self.at, -1):
                    continue
                if place >= 0:
                    self.at = behind
                sql = f"SELECT {distinct}{', '.join(shown)}" + (f" FROM {source}" if source else "")
                return sql + self.restrictions()
            finally:
                self.scopes.pop()
        self.at = start
        raise Unread(f"no SELECT: {self.text[start : start + 80]!r}")

    def restrictions(self) -> str:
        sql = ""
        if self.takes(", only rows where "):
            sql += f" WHERE {self.condition()}"
        if self.takes(", one row for each "):
            sql += f" GROUP BY {', '.join(self.several(self.value))}"
        if self.takes(", only groups where "):
            sql += f" HAVING {self.condition()}"
        if self.takes(", of these only rows where "):
            sql += f" QUALIFY {self.condition()}"
        if not self.text.startswith((", and, ", ", only what is also", ", without what is in"), self.at):
            sql += self.end()
        return sql

    def end(self) -> str:
        sql = ""
        if self.takes(", sorted by "):
            sql += f" ORDER BY {self.ordered()}"
        if self.takes(", only the first row"):
            if self.takes("s"):
                raise Unread("rows")
            sql += " LIMIT 1"
        elif self.takes(", only the first "):
            sql += f" LIMIT {self.value()}"
            self.expect(" rows")
        if self.takes(", the first "):
            sql += f" OFFSET {self.value()}"
            self.expect(" rows are skipped")
        return sql

    def ordered(self) -> str:
        terms = []
        while True:
            term = self.value()
            terms.append(term + (" DESC" if self.match(r" \((largest|smallest) first\)") == "largest" else ""))
            if not self.takes(", then "):
                return ", ".join(terms)

    def output(self) -> str:
        said = self.value()
        if self.takes(" (called "):
            name = self.match(r"([^)]*)\)")
            return f"{said} AS {_quoted(name)}"
        return said

    def source(self, scope: _Scope) -> str:
        if self.takes("`"):
            return self.match(r"([^`]*)`")
        if (made := self.tries(lambda: self.match(r"([\w ]+?), which is (?=\()"))) is not None:
            sql = self.inner()
            scope.tables[made] = ""
            return f"{sql} AS {_quoted(made)}"
        name = self.named(self.tables)
        called = self.match(r" \(as ([^)]*)\)") if self.text.startswith(" (as ", self.at) else name
        scope.tables[called] = name
        return f"{_quoted(name)} AS {_quoted(called)}"

    def joins(self, scope: _Scope) -> str:
        sql = ""
        while (join := self.tries(lambda: self.join(scope))) is not None:
            sql += join
        return sql

    def join(self, scope: _Scope) -> str:
        kind = next((kind for words, kind in _JOINED if self.takes(words)), None)
        if kind is None or kind:
            raise Unread("join")
        before = list(scope.tables)
        source = self.source(scope)
        own = list(scope.tables)[-1]
        on = ""
        if self.takes(" where "):
            on = f" ON {self.condition()}"
        elif self.takes(" of the same "):
            on = f" USING ({', '.join(self.several(lambda: _quoted(self.named(self.columns))))})"
        elif self.takes(" in every combination"):
            on = ""
        else:
            on = f" ON {self.by_key(scope, before, own)}"
        sides = {"also where there is none": "LEFT", "also those without a partner": "RIGHT", "both also alone": "FULL"}
        side = next((side for words, side in sides.items() if self.takes(f" ({words})")), "")
        return f" {side} JOIN {source}{on}" if on or side else f" CROSS JOIN {source}"

    def by_key(self, scope: _Scope, before: list[str], own: str) -> str:
        """The join along the only key between a source and those before it."""
        found = set()
        for other in before:
            for child, parent in ((own, other), (other, own)):
                table, other_table = (self.schema.table(scope.tables[one] or "-") for one in (child, parent))
                for key in table.foreign_keys if table and other_table else ():
                    if other_table and key.ref_table == other_table.name and len(key.columns) == 1:
                        ends = (
                            f"{_quoted(child)}.{_quoted(key.columns[0])}",
                            f"{_quoted(parent)}.{_quoted(key.ref_columns[0])}",
                        )
                        found.add(" = ".join(sorted(ends)))
        if len(found) != 1:
            raise Unread(f"{len(found)} keys between {own} and {before}")
        return found.pop()

    # -- conditions --

    def condition(self) -> str:
        first = self.test()
        words = next((w for w in (" and ", ", or ") if self.text.startswith(w, self.at)), "")
        tests = [first]
        while words and self.takes(words):
            tests.append(self.test())
        return (" AND " if words == " and " else " OR ").join(tests)

    def test(self) -> str:
        if self.text.startswith("(", self.at):
            inside = self.tries(self.parenthesized)
            if inside is not None:
                return inside
        if self.takes("there is no row of "):
            return f"NOT EXISTS {self.inner()}"
        if self.takes("there is a row of "):
            return f"EXISTS {self.inner()}"
        return self.compared(self.value())

    def compared(self, left: str) -> str:
        if self.takes(" is from "):
            low = self.value()
            words = self.match(r" (until before|to) ")
            return f"({left} >= {low} AND {left} {'<' if words == 'until before' else '<='} {self.value()})"
        if self.takes(" is missing"):
            return f"{left} IS NULL"
        if self.takes(" is known"):
            return f"{left} IS NOT NULL"
        if self.takes(" is not true"):
            return f"NOT ({left})"
        if self.takes(" is true"):
            return f"({left})"
        if (among := self.among(left) or self.contains(left)) is not None:
            return among
        for words, sign in _COMPARED:
            if self.takes(words):
                if left.startswith("STRFTIME('%w'") and (day := self.tries(lambda: self.match(r"[A-Z][a-z]+day"))):
                    return f"{left} {sign} '{_DAYS[day]}'"
                return f"{left} {sign} {self.value()}"
        raise Unread(f"no test: {self.text[self.at : self.at + 60]!r}")

    def among(self, left: str) -> str | None:
        """`is between`, `is among`, `is one of`, `is like`, and what they deny."""
        negated = "NOT " if self.text.startswith(" is not ", self.at) else ""
        start = self.at
        if self.takes(" is not ") or self.takes(" is "):
            if self.takes("between "):
                low = self.value()
                self.expect(" and ")
                return f"{left} {negated}BETWEEN {low} AND {self.value()}"
            if self.takes("among "):
                return f"{left} {negated}IN {self.inner()}"
            if self.takes("one of "):
                values = [self.value()]
                while (more := self.tries(self.further)) is not None:
                    values.append(more)
                return f"{left} {negated}IN ({', '.join(values)})"
            if self.takes("like "):
                return f"{left} {negated}LIKE {self.value()}"
            self.at = start
        return None

    def contains(self, left: str) -> str | None:
        for words, form in (("contain", "%{}%"), ("begin with", "{}%"), ("end with", "%{}"), ("equal", "{}")):
            third = words.replace("contain", "contains").replace("begin", "begins").replace("end", "ends")
            said = self.takes(f" {third} ") if words != "equal" else False
            denied = not said and self.takes(f" does not {words} ")
            if said or denied:
                text = self.literal()[1:-1]
                return f"{left} {'NOT ' if denied else ''}LIKE '{form.format(text)}'"
        return None

    def further(self) -> str:
        self.expect(", ")
        if self.text.startswith("'", self.at):
            return self.literal()
        if self.text.startswith("(", self.at):
            return self.value()
        return self.match(r"-?\d+(?:\.\d+)?(?![\w.])")

    def parenthesized(self) -> str:
        self.expect("(")
        sql = self.condition()
        self.expect(")")
        return f"({sql})"

    # -- values --

    def value(self) -> str:
        said = self.postfix(self.primary())
        while True:
            sign = next((sign for words, sign in _BINARY if self.takes(words)), None)
            if sign is None:
                break
            other = self.postfix(self.primary())
            said = f"{said} {'/' if sign == '//' else sign} {other}"
        if self.takes(" or, where that is missing, "):
            return f"COALESCE({said}, {self.value()})"
        return said

    def postfix(self, said: str, *, windows: bool = True) -> str:
        while True:
            form = next((form for words, form in _BEHIND if self.takes(words)), None)
            if form is not None:
                said = form.format(said)
            elif self.takes(" rounded to "):
                said = f"ROUND({said}, {self.value()})"
                self.expect(" places")
            elif self.takes(" rounded"):  # the longer words come first
                said = f"ROUND({said})"
            elif self.takes(" (missing where it is "):
                said = f"NULLIF({said}, {self.value()})"
                self.expect(")")
            elif self.takes(" among those where ("):
                said = f"{said} FILTER (WHERE {self.condition()})"
                self.expect(")")
            elif windows and self.takes(" over all rows"):
                said = f"{said} OVER ()"
            elif windows and (window := self.tries(self.window)) is not None:
                said = f"{said} OVER ({window})"
            else:
                return said

    def window(self) -> str:
        order = f"ORDER BY {self.ordered()}" if self.takes(" by ") else ""
        parts = f"PARTITION BY {', '.join(self.several(self.value))}" if self.takes(" within each ") else ""
        if not order and not parts:
            raise Unread("window")
        frame = self.match(r" \(over `([^`]*)`\)") if self.text.startswith(" (over `", self.at) else ""
        return f"{parts} {order} {frame}"

    def primary(self) -> str:
        if self.text.startswith("(", self.at):
            for read in (self.case, self.bracketed, self.inner):
                if (found := self.tries(read)) is not None:
                    return found
            raise Unread("parenthesis")
        if self.takes("`"):
            written = self.match(r"([^`]*)`")
            return written if re.fullmatch(r"\w+\([^()]*\)", written) else f"({written})"
        if self.text.startswith("'", self.at):
            return self.literal()
        if (number := self.tries(lambda: self.match(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])"))) is not None:
            return number
        for words, sql in (("nothing", "NULL"), ("true", "TRUE"), ("false", "FALSE")):
            if self.tries(lambda words=words: self.match(rf"{words}(?!\w)")):  # type: ignore[misc]
                return sql
        return self.tries(self.column) or self.call()

    def call(self) -> str:
        if self.takes("the number of rows that have "):
            return f"COUNT({self.one()})"
        if self.takes("the number of rows"):
            return "COUNT(*)"
        if self.takes("the number of different "):
            return f"COUNT(DISTINCT {self.one()})"
        if self.takes("the first "):
            count = self.match(r"(\d+) letters of ")
            return f"SUBSTR({self.one()}, 1, {count})"
        for words, rank in _RANKS.items():
            if self.takes(words):
                return rank
        for words, function in _WORDS.items():
            if self.takes(words):
                distinct = "DISTINCT " if self.takes("different ") else ""
                said = self.one()
                if function == "GROUP_CONCAT":
                    self.expect(" in one text")
                return f"{function}({distinct}{said})"
        for words, form in _FORMS.items():
            if self.takes(f"the {words} of "):
                return f"STRFTIME('{form}', {self.one()})"
        if self.takes("whether "):
            return f"({self.condition()})"
        raise Unread(f"no value: {self.text[self.at : self.at + 60]!r}")

    def one(self) -> str:
        return self.postfix(self.primary(), windows=False)

    def bracketed(self) -> str:
        self.expect("(")
        said = self.value()
        self.expect(")")
        return f"({said})"

    def case(self) -> str:
        self.expect("(")
        parts: list[str] = []
        while True:
            if parts and self.takes("else "):
                parts.append(f"ELSE {self.value()}")
                break
            then = self.value()
            self.expect(" where ")
            parts.append(f"WHEN {self.condition()} THEN {then}")
            if not self.takes(", "):
                break
        self.expect(")")
        return f"CASE {' '.join(parts)} END"

    def literal(self) -> str:
        text = self.match(r"'((?:[^']|'(?![\s,).]|$))*)'(?=[\s,).]|$)")
        return "'" + text.replace("'", "''") + "'"

    def column(self) -> str:
        if self.of_one and self.takes("all columns of "):
            return f"{_quoted(self.named(self.sources()))}.*"
        if self.takes("all columns"):
            return "*"
        for source in self.sources():
            start = self.at
            if self.takes(f"{source}."):
                return f"{_quoted(source)}.{_quoted(self.named(self.columns))}"
            self.at = start
        return _quoted(self.named(self.columns))

    def sources(self) -> list[str]:
        return sorted({name for scope in self.scopes for name in scope.tables}, key=len, reverse=True)

    def named(self, names: Iterable[str]) -> str:
        for name in names:
            said = self.text[self.at : self.at + len(name)]
            if said.casefold() == name.casefold() and not re.match(r"\w", self.text[self.at + len(name) :]):
                self.at += len(name)
                return said
        raise Unread(f"no name: {self.text[self.at : self.at + 60]!r}")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def read_back(sql: str, schema: Schema) -> tuple[str, str]:
    """The words of a query, and the query that they say. Raises Unread."""
    words = ", ".join(part.text for part in reading(parse(sql, "sqlite"), schema, vocabulary(schema)))
    return words, Reader(words, schema).whole()


@app.command()
def main(
    bench: Annotated[Path, typer.Option(help="The folder of the benchmarks.")],
    recorded: Annotated[Path, typer.Option(help="The folder of recorded answers.")],
    limit: Annotated[int, typer.Option(min=1, help="Queries of each source.")] = 100,
    show: Annotated[bool, typer.Option(help="Print those that differ.")] = False,
) -> None:
    """Read queries back from their words, and compare the rows."""
    typer.echo("| source | queries | read back | same rows |\n| --- | --- | --- | --- |")
    for name, answers in (*((name, False) for name in GOLDS), *((name, True) for name in ANSWERS)):
        queries = read = same = 0
        with contextlib.ExitStack() as stack:
            for sql, database in _queries(name, bench, recorded if answers else None, stack):
                rows = executed(parse(sql, "sqlite"), database)
                if not rows.ok:
                    continue
                queries += 1
                words = ""
                try:
                    words, again = read_back(sql, database.schema())
                except (Unread, RecursionError) as error:
                    if show:
                        typer.echo(f"UNREAD {name}: {sql}\n   {words}\n   {error}")
                else:
                    read += 1
                    found = executed(parse(again, "sqlite"), database)
                    equal = found.ok and same_result(rows, found, ordered=orders_rows(parse(sql, "sqlite")))
                    same += equal
                    if show and not equal:
                        typer.echo(f"DIFFERS {name}: {sql}\n   {words}\n   {again}\n   {found.error}")
                if queries >= limit:
                    break
        typer.echo(f"| {name}{', answers' if answers else ''} | {queries} | {read} | {same} |")


def _queries(
    name: str, bench: Path, recorded: Path | None, stack: contextlib.ExitStack
) -> Iterator[tuple[str, Database]]:
    """Different queries of a source in random order, each with its database."""
    folder = bench / ANSWERS.get(name, name)
    if recorded is not None:
        lines = list(read_lines(recorded / f"{name}.jsonl"))
        lines = [{**line, "sql": sql} for line in lines for sql in line.get("samples") or (line.get("sql"),)]
    else:
        lines = [
            {**line, "sql": line.get("gold_sql") or line.get("sql")} for line in read_lines(folder / "questions.jsonl")
        ]
    random.Random(1).shuffle(lines)
    opened: dict[str, Database] = {}
    seen: set[tuple[str, str]] = set()
    for line in lines:
        key = (line["db"], line.get("sql") or "")
        if key in seen or not key[1]:
            continue
        seen.add(key)
        if line["db"] not in opened:
            opened[line["db"]] = stack.enter_context(open_database(folder / "databases" / f"{line['db']}.sqlite"))
        yield key[1], opened[line["db"]]


if __name__ == "__main__":
    app()
