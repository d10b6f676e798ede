"""What a query returns, in plain words, without a model.

In: a parsed query. Out: sentences, the steps of its CTEs first. Every table, column and constant of the query is in
them; what has no words of its own stands there as SQL, in backticks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from sqlglot import exp

from eval.schema import NUMERIC, Dialect
from eval.sql.bounds import with_headroom
from eval.sql.dialects import render
from eval.sql.nodes import MATCHES
from eval.sql.traversal import from_items, group_keys
from eval.sql.types import ParsedQuery

_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Sum: "the sum of",
    exp.Avg: "the average of",
    exp.Min: "the smallest",
    exp.Max: "the largest",
}
_OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "is",
    exp.NullSafeEQ: "is",
    exp.NEQ: "is not",
    exp.NullSafeNEQ: "is not",
    exp.GT: "is over",
    exp.GTE: "is at least",
    exp.LT: "is under",
    exp.LTE: "is at most",
    exp.Add: "plus",
    exp.Sub: "minus",
    exp.Mul: "times",
    exp.Div: "divided by",
    exp.IntDiv: "divided in whole numbers by",
    exp.Mod: "modulo",
    exp.DPipe: "followed by",
}
_NEGATED = {"is": "is not", "is not": "is", "is over": "is at most", "is at least": "is under"} | {
    "is under": "is at least",
    "is at most": "is over",
}
_UNITS = {
    "%Y": "year", "%m": "month", "%d": "day", "%H": "hour", "%Y-%m": "year and month", "%w": "weekday",
    "YYYY": "year", "MM": "month", "DD": "day", "HH24": "hour", "YYYY-MM": "year and month", "D": "weekday",
}  # fmt: skip
"""What forms of dates keep: SQLite's, DuckDB's and MySQL's, then PostgreSQL's."""
_DAYS = dict(enumerate(("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")))
"""As `%w` numbers them."""
_PARTS = ("year", "month", "day", "quarter", "hour", "minute", "second", "week", "weekday", "dayname", "monthname")
_RANKS = {"row_number": "the number of the row", "rank": "the rank", "dense_rank": "the rank without gaps"}
_CALLS = {
    "lower": "{} in small letters",
    "upper": "{} in capitals",
    "trim": "{} without spaces around it",
    "length": "the length of {}",
    "char_length": "the length of {}",
    "abs": "{} without its sign",
    "date": "the date of {}",
    "julianday": "the day number of {}",
    "total": "the sum of {}",
    "lag": "the previous {}",
    "lead": "the next {}",
    "median": "the median of {}",
    "stddev": "the standard deviation of {}",
    "group_concat": "all values of {} in one text",
    "string_agg": "all values of {} in one text",
}
_OR_ELSE = " or, where that is missing, "
_SETS: dict[type[exp.Expr], str] = {exp.Intersect: "only what is also in", exp.Except: "without what is in"}


Test = Callable[[exp.Expr], bool]
PieceKind = Literal["step", "shown", "rows", "groups", "set", "order", "limit"]


class Piece(NamedTuple):
    """One clause of a query in words; it begins with words of ours, in small letters."""

    kind: PieceKind
    text: str


@with_headroom
def pieces(parsed: ParsedQuery, by_key: Test = lambda _: False, is_text: Test = lambda _: False) -> list[Piece]:
    """The clauses, in the order in which the query works. Empty for a text that is no query. A join's condition of
    which `by_key` says that it only follows a key is left out; of a name in double quotes `is_text` says whether it is
    none, as SQLite allows."""
    return [] if parsed.tree is None else _Words(parsed.dialect, by_key, is_text).query(parsed.tree)


@with_headroom
def expression_in_words(tree: exp.Expr, dialect: Dialect, *, with_tables: bool = False) -> str:
    """A condition as a clause, any other expression as a noun."""
    return _Words(dialect, lambda _: False, lambda _: False, several=with_tables).said(tree)


def explained(parsed: ParsedQuery) -> list[str]:
    """The clauses as sentences."""
    said = [f"shows {text}" if kind == "shown" else text for kind, text in pieces(parsed)]
    return [text[:1].upper() + text[1:] + "." for text in said]


class _Words:
    """`query` gives clauses, `value` a noun, `condition` a clause."""

    def __init__(self, dialect: Dialect, by_key: Test, is_text: Test, *, several: bool = False) -> None:
        self._dialect = dialect
        self._by_key = by_key
        self._is_text = is_text
        self._tables: list[dict[str, str]] = []
        """What each source of the SELECTs around is called, by its name in the query; the innermost last."""
        self._several = several
        self._inside = 0
        """How many queries are around."""

    def said(self, tree: exp.Expr) -> str:
        stated = isinstance(tree.unnest(), exp.Predicate | exp.Connector | exp.Not)
        return self.condition(tree) if stated else self.value(tree)

    def query(self, tree: exp.Expr) -> list[Piece]:
        steps = tree.args.get("with_")
        lines = [
            Piece("step", f"first {_made(step)} is made: {self._inner(step.this)}")
            for step in (steps.expressions if steps else ())
        ]
        if isinstance(tree, exp.Subquery | exp.Paren):
            return lines + self.query(tree.this) + self._end(tree)
        if isinstance(tree, exp.SetOperation):
            joined = _SETS.get(type(tree)) or ("and, each once," if tree.args.get("distinct") else "and, repeats too,")
            other = Piece("set", f"{joined} {self._inner(tree.expression)}")
            return [*lines, *self.query(tree.this), other, *self._end(tree)]
        if not isinstance(tree, exp.Select):
            return [*lines, Piece("shown", f"`{self._sql(tree)}`")]
        before, joins = self._several, tree.args.get("joins") or []
        self._several = before or bool(joins)
        # The sources of a SELECT by their names in the query: a table's own name, where it stands there and around once
        sources = from_items(tree)
        tables = [one.name.lower() for one in sources if isinstance(one, exp.Table)]
        tables += [name.lower() for around in self._tables for name in around.values()]
        tables += _meant_inside(tree)
        once = {
            one.alias_or_name.lower(): one.name
            for one in sources
            if isinstance(one, exp.Table) and tables.count(one.name.lower()) == 1
        }
        called = {one.alias_or_name.lower(): one.alias_or_name for one in sources} | once
        self._tables.append(called)
        try:
            return lines + self._select(tree, joins) + self._end(tree)
        finally:
            self._tables.pop()
            self._several = before

    def _select(self, tree: exp.Select, joins: Sequence[exp.Join]) -> list[Piece]:
        start = tree.args.get("from_")
        first = "each different " if tree.args.get("distinct") else ""
        first += _listed([self._output(one) for one in tree.expressions])
        first += f" of {self._source(start.this)}" if start else ""
        first += "".join(map(self._join, joins))
        first += "".join(f", with `{self._sql(lateral)}`" for lateral in tree.args.get("laterals") or ())
        lines = [Piece("shown", first)]
        if where := tree.args.get("where"):
            lines.append(Piece("rows", f"only rows where {self.condition(where.this)}"))
        if group := tree.args.get("group"):
            several = [one for kind in ("rollup", "cube", "grouping_sets") for one in group.args.get(kind) or ()]
            keys = [*map(self.value, group_keys(tree)), *(f"`{self._sql(one)}`" for one in several)]
            lines.append(Piece("groups", f"one row for each {_listed(keys)}"))
        if having := tree.args.get("having"):
            lines.append(Piece("rows", f"only groups where {self.condition(having.this)}"))
        if qualify := tree.args.get("qualify"):
            lines.append(Piece("rows", f"of these only rows where {self.condition(qualify.this)}"))
        return lines

    def _end(self, tree: exp.Expr) -> list[Piece]:
        lines = []
        if order := tree.args.get("order"):
            lines.append(Piece("order", "sorted by " + self._ordered(order.expressions)))
        limit, offset = tree.args.get("limit"), tree.args.get("offset")
        if limit is not None:
            count = limit.args.get("count") or limit.args.get("expression")
            number = self.value(count) if count is not None else "1"
            lines.append(Piece("limit", "only the first row" if number == "1" else f"only the first {number} rows"))
        if offset is not None:
            lines.append(Piece("limit", f"the first {self.value(offset.expression)} rows are skipped"))
        return lines

    def _output(self, tree: exp.Expr) -> str:
        if not isinstance(tree, exp.Alias):
            return self.value(tree)
        said = self.value(tree.this)
        known = tree.alias.lower() in said.lower().split() and (not self._inside or said == tree.alias)
        return said if known else f"{said} (called {tree.alias})"

    def _source(self, tree: exp.Expr) -> str:
        if isinstance(tree, exp.Table) and not isinstance(tree.this, exp.Func):
            name = ".".join(part.name for part in tree.parts)
            called = self._tables[-1].get(tree.alias_or_name.lower(), name)
            return name if called == tree.name else f"{name} (as {called})"
        if isinstance(tree, exp.Subquery):
            return f"{tree.alias or 'rows'}, which is {self._inner(tree.this)}"
        return f"`{self._sql(tree)}`"

    def _join(self, tree: exp.Join) -> str:
        side, kind = (tree.side or "").upper(), (tree.kind or "").upper()
        what = f", with {self._source(tree.this)}"
        if kind in ("SEMI", "ANTI"):
            what = f", {'only with' if kind == 'SEMI' else 'without'} a row of {self._source(tree.this)}"
        if on := tree.args.get("on"):
            what += "" if self._by_key(on) else f" where {self.condition(on)}"
        elif using := tree.args.get("using"):
            what += f" of the same {_listed([one.name for one in using])}"
        elif kind == "CROSS" or not tree.method:
            what += " in every combination"
        kept = {"LEFT": "also where there is none", "RIGHT": "also those without a partner", "FULL": "both also alone"}
        return what + (f" ({kept[side]})" if side in kept else "")

    def condition(self, tree: exp.Expr, negated: bool = False, *, inside: bool = False) -> str:
        while isinstance(tree, exp.Paren):
            tree = tree.this
        if isinstance(tree, exp.Not):
            return self.condition(tree.this, not negated, inside=inside)
        if isinstance(tree, exp.And | exp.Or):
            word = "and" if isinstance(tree, exp.And) != negated else "or"
            tests = list(tree.flatten())
            parts = _periods(self, tests) if word == "and" and not negated else []
            parts += [self.condition(part, negated, inside=True) for part in tests]
            inner = f", {word} ".join(parts) if word == "or" else f" {word} ".join(parts)
            return f"({inner})" if inside else inner
        no = "not " if negated else ""
        if isinstance(tree, exp.Between):
            low, high = self.value(tree.args["low"]), self.value(tree.args["high"])
            return f"{self.value(tree.this)} is {no}between {low} and {high}"
        if isinstance(tree, exp.Is):
            negated = negated != bool(tree.args.get("negate"))
            no = "not " if negated else ""
            what = f"is {no}{self.value(tree.expression)}"
            if isinstance(tree.expression, exp.Null):
                what = "is known" if negated else "is missing"
            return f"{self.value(tree.this)} {what}"
        if isinstance(tree, exp.In):
            return self._in(tree, no)
        if isinstance(tree, exp.Exists):
            return f"there is {'no' if negated else 'a'} row of {self._inner(tree.this)}"
        if isinstance(tree, exp.Like | exp.ILike):
            return self._like(tree, negated)
        word = _OPERATORS.get(type(tree), "")
        if isinstance(tree, exp.Binary) and word.startswith("is"):
            word, other = _NEGATED[word] if negated else word, tree.expression
            if isinstance(other, exp.Any | exp.All):
                return f"{self.value(tree.this)} {word} {type(other).__name__.lower()} of {self._inner(other.this)}"
            subject, said = self.value(tree.this), self.value(other)
            if subject.startswith("the weekday of ") and said.strip("'").isdecimal():
                said = _DAYS.get(int(said.strip("'")), said)
            return f"{subject} {word} {said}"
        if isinstance(tree, MATCHES):
            return f"{self.value(tree.this)} {'does not match' if negated else 'matches'} {self.value(tree.expression)}"
        said = f"`{self._sql(tree)}`" if isinstance(tree, exp.Predicate) else self.value(tree)
        return f"{said} is not true" if negated else f"{said} is true"

    def _in(self, tree: exp.In, no: str) -> str:
        subject = self.value(tree.this)
        if query := tree.args.get("query"):
            return f"{subject} is {no}among {self._inner(query)}"
        values = [self.value(one) for one in tree.expressions]
        return f"{subject} is {no}one of {', '.join(values)}"

    def _like(self, tree: exp.Like | exp.ILike, negated: bool) -> str:
        subject, pattern = self.value(tree.this), tree.expression
        text = pattern.name if isinstance(pattern, exp.Literal) else ""
        inner = text.strip("%")
        if text and inner and not any(sign in inner for sign in "%_"):
            starts, ends = text.startswith("%"), text.endswith("%")
            word = "contain" if starts and ends else "end with" if starts else "begin with" if ends else "equal"
            if negated:
                return f"{subject} does not {word} '{inner}'"
            said = {"contain": "contains", "end with": "ends with", "begin with": "begins with", "equal": "is"}[word]
            return f"{subject} {said} '{inner}'"
        return f"{subject} is {'not ' if negated else ''}like {self.value(pattern)}"

    def _inner(self, tree: exp.Expr) -> str:
        inner = tree.this if isinstance(tree, exp.Subquery) and not tree.args.get("with_") else tree
        self._inside += 1
        try:
            return f"({', '.join(text for _, text in self.query(inner))})"
        finally:
            self._inside -= 1

    def value(self, tree: exp.Expr) -> str:
        """An expression as a noun."""
        if isinstance(tree, exp.Paren):
            inner = self.value(tree.this)
            return f"({inner})" if isinstance(tree.this, exp.Binary) else inner
        if isinstance(tree, exp.Subquery | exp.Select | exp.SetOperation):
            return self._inner(tree)
        said = self._named(tree) or self._aggregate(tree) or self._form(tree) or self._call(tree)
        if said:
            return said
        word = _OPERATORS.get(type(tree), "")
        if isinstance(tree, exp.Binary) and word and not word.startswith("is"):
            return f"{self._operand(tree.this)} {word} {self._operand(tree.expression)}"
        if isinstance(tree, exp.Predicate | exp.Connector | exp.Not):
            return f"whether {self.condition(tree)}"
        return f"`{self._sql(tree)}`"

    def _named(self, tree: exp.Expr) -> str:
        if isinstance(tree, exp.Column):
            if self._is_text(tree):
                return f"'{tree.name}'"
            source = next(
                (names[key] for names in self._tables[::-1] if (key := tree.table.lower()) in names), tree.table
            )
            if isinstance(tree.this, exp.Star):
                return f"all columns of {source}" if source else "all columns"
            return f"{source}.{tree.name}" if source and (self._several or len(self._tables) > 1) else tree.name
        if isinstance(tree, exp.Star):
            return "all columns"
        if isinstance(tree, exp.Literal):
            return f"'{tree.name}'" if tree.is_string else tree.name
        if isinstance(tree, exp.Neg) and isinstance(tree.this, exp.Literal):
            return f"-{tree.this.name}"
        if isinstance(tree, exp.Identifier):
            return tree.name
        if isinstance(tree, exp.Null):
            return "nothing"
        return ("true" if tree.this else "false") if isinstance(tree, exp.Boolean) else ""

    def _aggregate(self, tree: exp.Expr) -> str:
        inner = tree.this
        if isinstance(tree, exp.Count):
            if inner is None or isinstance(inner, exp.Star | exp.Literal):
                return "the number of rows"
            if isinstance(inner, exp.Distinct):
                return f"the number of different {_listed([*map(self.value, inner.expressions)])}"
            return f"the number of rows that have {self._whole(inner)}"
        if type(tree) in _AGGREGATES and inner is not None:
            return f"{_AGGREGATES[type(tree)]} {self._whole(inner)}"
        return ""

    def _operand(self, tree: exp.Expr) -> str:
        said = self.value(tree)
        return f"({said})" if _OR_ELSE in said and not said.startswith("(") else said

    def _whole(self, tree: exp.Expr) -> str:
        """A noun behind which other words may follow."""
        said = self.value(tree)
        several = isinstance(tree, exp.Binary | exp.Not | exp.Predicate) or (_OR_ELSE in said and said[0] != "(")
        return f"({said})" if several else said

    def _form(self, tree: exp.Expr) -> str:
        if isinstance(tree, exp.Distinct):
            return "different " + _listed([*map(self.value, tree.expressions)])
        if isinstance(tree, exp.Filter):
            return f"{self.value(tree.this)} among those where ({self.condition(tree.expression.this)})"
        if isinstance(tree, exp.Window):
            said = self.value(tree.this)
            if order := tree.args.get("order"):
                said += f" by {self._ordered(order.expressions)}"
            if parts := tree.args.get("partition_by"):
                said += f" within each {_listed([*map(self.value, parts)])}"
            if not order and not parts:
                said += " over all rows"
            if spec := tree.args.get("spec"):
                said += f" (over `{self._sql(spec)}`)"
            return said
        if isinstance(tree, exp.Case):
            return self._case(tree)
        if isinstance(tree, exp.Cast):
            kind = tree.to.sql().lower()
            if NUMERIC.search(kind):
                kind = "a whole number" if "int" in kind else "a number"
            said = self.value(tree.this)
            return f"{said if ' ' not in said or said.startswith('(') else f'({said})'} as {kind}"
        if isinstance(tree, exp.Extract):
            return f"the {tree.this.name.lower()} of {self._whole(tree.expression)}"
        return ""

    def _call(self, tree: exp.Expr) -> str:
        """A function that has words."""
        if not isinstance(tree, exp.Anonymous):
            return ""
        name, given = tree.name.lower(), tree.expressions
        said = [self._whole(one) for one in given]
        if name in _RANKS:
            return _RANKS[name]
        if len(said) == 1 and name in (*_CALLS, *_PARTS):
            return _CALLS.get(name, f"the {name} of {{}}").format(said[0])
        if name == "round" and said:
            return f"{said[0]} rounded" + (f" to {said[1]} places" if len(said) > 1 else "")
        if name in ("coalesce", "ifnull", "nvl") and len(said) > 1:
            return _OR_ELSE.join(said)
        if name in ("substr", "substring") and len(said) == 3 and said[1] == "1":
            return f"the first {said[2]} letters of {said[0]}"
        if name == "nullif" and len(said) == 2:
            return said[0] if said[1] == "''" else f"{said[0]} (missing where it is {said[1]})"
        if name in ("strftime", "date_format", "to_char") and len(said) == 2:
            text, moment = given if isinstance(given[0], exp.Literal) else given[::-1]  # SQLite names the form first
            return f"the {_UNITS[text.name]} of {self._whole(moment)}" if text.name in _UNITS else ""
        if name == "date_trunc" and len(said) == 2:
            return f"the {given[0].name.lower()} of {said[1]}"
        return ""

    def _case(self, tree: exp.Case) -> str:
        said = []
        for one in tree.args["ifs"]:
            when = f"{self.value(tree.this)} is {self.value(one.this)}" if tree.this else self.condition(one.this)
            said.append(f"{self.value(one.args['true'])} where {when}")
        if (other := tree.args.get("default")) is not None:
            said.append(f"else {self.value(other)}")
        return f"({', '.join(said)})"

    def _ordered(self, keys: Sequence[exp.Expr]) -> str:
        said = []
        for key in keys:
            down = bool(key.args.get("desc"))
            said.append(f"{self.value(key.this)} ({'largest' if down else 'smallest'} first)")
        return ", then ".join(said)

    def _sql(self, tree: exp.Expr) -> str:
        """As SQL, with its sources called as in the words."""
        called = tree.copy()
        for column in called.find_all(exp.Column):
            name = next((names[key] for names in self._tables[::-1] if (key := column.table.lower()) in names), "")
            if name and name != column.table:
                column.set("table", exp.to_identifier(name))
        return render(called, self._dialect)


def _made(step: exp.Expr) -> str:
    columns = [one.name for one in step.args["alias"].args.get("columns") or ()]
    return f"{step.alias} ({', '.join(columns)})" if columns else step.alias


def _meant_inside(tree: exp.Select) -> list[str]:
    """The tables of the queries inside that refer to a source of this one: there, its table's name may be another's."""
    own = {one.alias_or_name.lower() for one in from_items(tree)}
    inside = [one for one in tree.find_all(exp.Select) if one is not tree]
    refer = any(column.table.lower() in own for one in inside for column in one.find_all(exp.Column))
    return [table.name.lower() for one in inside for table in one.find_all(exp.Table)] if refer else []


def _periods(words: _Words, tests: list[exp.Expr]) -> list[str]:
    """The pairs of a lower and an upper bound of one value, said as one condition and taken out of the tests."""
    said = []
    for low in [one for one in tests if isinstance(one, exp.GTE)]:
        high = next((one for one in tests if isinstance(one, exp.LT | exp.LTE) and one.this == low.this), None)
        if high is not None:
            until = "until before" if isinstance(high, exp.LT) else "to"
            bounds = f"{words.value(low.expression)} {until} {words.value(high.expression)}"
            said.append(f"{words.value(low.this)} is from {bounds}")
            tests[:] = [one for one in tests if one is not low and one is not high]
    return said


def _listed(said: Sequence[str]) -> str:
    return ", ".join(said[:-1]) + " and " + said[-1] if len(said) > 1 else "".join(said)
