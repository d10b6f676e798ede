"""How long the values may become that a statement builds of others: `a || a` in ten subqueries around each other.

First what is known of the functions that make long values: which argument is a length, and how results grow.

`overgrown`, in: a tree. Out: the reason for a refusal, or None. A size is counted in values of the data: a column is 1,
a text of 100 characters is 1, a number 0.01. Sizes are followed through subqueries, CTEs, aliases, lambdas, and up to
60 steps of recursions and folds. A call that is not known here is as long as its longest argument. Only what the
statement builds is judged, not how many rows an aggregate collects.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce

from sqlglot import exp

from eval.errors import Text2SQLError
from eval.language.lexicon import word_set
from eval.schema import Dialect
from eval.sql.nodes import called_name
from eval.sql.traversal import from_items

REPEATING = {
    "arraywithconstant": 0,
    **dict.fromkeys(word_set("repeat array_repeat list_resize array_resize arrayresize bitstring"), 1),
}
"""Functions whose result holds an argument so many times; the position of the number."""
PADDING = {
    **dict.fromkeys(word_set("space zeroblob randomblob randstr"), 0),
    **dict.fromkeys(word_set("lpad rpad leftpad rightpad leftpadutf8 rightpadutf8 tofixedstring"), 1),
    **dict.fromkeys(("to_base", "equi_width_bins"), 2),
    "bar": 3,
}
"""Functions whose result has a given length; the position of the length."""
LENGTHS = REPEATING | PADDING
QUOTING = word_set("hex quote json_quote quote_literal quote_nullable quote_ident to_hex")
ESCAPING = QUOTING | word_set(
    """
    base64 base64encode base64urlencode to_base64 to_json to_jsonb tojsonstring bin url_encode encodeurlcomponent
    encodexmlcomponent base32encode base58encode to_csv quotestring encode row_to_json array_to_json to_base32
    regexp_escape regexpquotemeta
    """
)
"""Functions that write a value in more characters."""
REPLACING = frozenset({"replace", "regexp_replace", "replaceall", "replaceregexpall", "array_replace"})
FORMATS = frozenset({"printf", "format", "format_string"})
SEPARATING = frozenset({"concat_ws", "concatwithseparator"})
JOINING_LISTS = frozenset({"array_to_string", "array_join", "arraystringconcat", "list_string_agg"})
SERIES = frozenset({"generate_series", "generateseries", "range", "sequence"})
FOLDS = frozenset({"aggregate", "reduce", "arrayfold", "list_reduce", "array_reduce"})
MAPPING = word_set(
    """
    transform list_transform list_apply apply array_apply array_transform arraymap zip_with transform_values
    transform_keys map_zip_with mapapply
    """
)
STRUCTS = frozenset({"struct", "named_struct", "struct_pack", "row", "tuple"})
BUILDING = word_set(
    """
    concat array list_value list_pack array_cat array_concat list_concat list_cat insert arrayconcat array_append
    array_prepend list_append list_prepend array_push_back array_insert array_push_front arraypushback
    arraypushfront array_union arrayzip arrays_zip list_zip json_array json_object json_set json_insert json_replace
    json_array_append json_patch json_array_insert json_merge_patch json_merge_preserve json_build_array
    json_build_object jsonb_build_array jsonb_build_object jsonb_set jsonb_set_lax jsonb_insert jsonb_object
    make_set map map_concat mapconcat map_from_arrays mapfromarrays mapupdate struct_insert struct_update
    struct_concat overlay overlayutf8 concatassumeinjective multirange to_variant_object variant_array_append
    variant_insert variant_set json_extract_path
    """
)
"""Functions whose result holds all of their arguments."""
SHORT = word_set(
    """
    length len lengthutf8 char_length character_length octet_length size cardinality count bit_length instr strpos
    position locate ascii unicode md5 sha1 sha2 sha256 hash crc32 xxhash64 cityhash64 array_length json_array_length
    empty notempty sign typeof
    """
)
"""Functions whose result is short, whatever they are given."""
_POSITION = re.compile(r"%(\d+)\$|\{(\d+)")


def argument(call: exp.Expr, place: int) -> exp.Expr | None:
    return call.expressions[place] if isinstance(call, exp.Anonymous) and len(call.expressions) > place else None


def whole_number(node: exp.Expr | None) -> int | None:
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Neg):
        value = whole_number(node.this)
        return None if value is None else -value
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal() and len(node.name) < 20:
        return int(node.name)
    return None


def most_number(node: exp.Expr | None) -> int | None:
    """The largest value that a length can have: a written number, or the smallest one that `least` is given."""
    while isinstance(node, exp.Paren | exp.Cast):
        node = node.this
    if isinstance(node, exp.Anonymous) and node.name.lower() == "least":
        return min((number for a in node.expressions if (number := most_number(a)) is not None), default=None)
    return whole_number(node)


def replacement_factor(call: exp.Expr) -> int:
    """How many times as long a text can become by `replace`."""
    by = argument(call, 2)
    if not isinstance(by, exp.Literal):
        return 1 if by is None else 100
    searched = argument(call, 1)
    literal = str(call.this).lower() in ("replace", "replaceall") and isinstance(searched, exp.Literal)
    wanted = max(len(searched.name), 1) if literal and searched is not None else 1
    return max(-(-len(by.name) // wanted), 1)


def copies_in_template(template: exp.Expr | None) -> int:
    """How often a template puts in the same argument: twice in `%1$s%1$s`."""
    if not isinstance(template, exp.Literal):
        return 1
    return max(Counter(_POSITION.findall(template.name)).values(), default=1)


MOST = 100_000.0
"""About 10 MB, if the values of the data have 100 characters."""
MOST_IN_CLICKHOUSE = 20_000.0
"""ClickHouse builds the values of some thousand rows before it looks at a cancellation."""
_STEPS = 60
_MOST_VISITS = 100_000
_FIELDS = (exp.Struct, exp.Tuple)
_BOOLEAN = (exp.Predicate, exp.Connector, exp.Not)
_LISTING = (exp.DPipe, exp.Concat, exp.Array, exp.Overlay, *_FIELDS)
Outputs = list[tuple[str, float]]
"""The columns of a query with their sizes."""


class _TooLarge(Text2SQLError):
    """Holds the reason for a refusal."""


@dataclass
class _Names:
    """The sizes of what can be named at one place of a statement."""

    columns: dict[tuple[str, str], float] = field(default_factory=dict)
    """By qualifier, or '' for none, and column."""
    queries: dict[str, Outputs] = field(default_factory=dict)
    aliases: dict[str, exp.Expr] = field(default_factory=dict)
    """Expressions of the SELECT that have a name."""

    def copy(self) -> _Names:
        return _Names(dict(self.columns), dict(self.queries), dict(self.aliases))


def overgrown(tree: exp.Expression, dialect: Dialect) -> str | None:
    """The reason why a value of a statement may become too long."""
    try:
        _Sizes(MOST_IN_CLICKHOUSE if dialect == "clickhouse" else MOST).query(tree, _Names())
    except _TooLarge as reason:
        return str(reason)
    return None


class _Sizes:
    def __init__(self, most: float) -> None:
        self._most = most
        self._visits = 0
        self._folds = 0
        self._where = ""

    def query(self, node: exp.Expr, names: _Names) -> Outputs:
        names = names.copy()
        clause = node.args.get("with_")
        for cte in clause.expressions if clause is not None else ():
            self._define(cte, names)
        if isinstance(node, exp.SetOperation):
            first, *others = (self.query(branch, names) for branch in _parts_of_chain(node))
            return reduce(_longest, others, first)
        if isinstance(node, exp.Subquery | exp.Paren):
            return self._source(node.this, names) if isinstance(node.this, exp.Table) else self.query(node.this, names)
        if isinstance(node, exp.Values):
            cells = (row.expressions if isinstance(row, exp.Tuple) else [row] for row in node.expressions)
            rows = [[self.size(value, names) for value in row] for row in cells]
            return [("", max(sizes)) for sizes in zip(*rows, strict=False)]
        return self._select(node, names)

    def _define(self, cte: exp.Expr, names: _Names) -> None:
        name = cte.alias.casefold()
        if cte.args.get("scalar"):
            names.columns["", name] = self.size(cte.this, names)
            return
        body, labels = cte.this, cte.args["alias"].args.get("columns") or []
        names.queries.pop(name, None)
        tables = body.find_all(exp.Table) if isinstance(body, exp.SetOperation) else ()
        if not any(table.name.casefold() == name for table in tables):
            names.queries[name] = _renamed(self.query(body, names), labels)
            return
        outputs = _renamed(self.query(body.this, names), labels)
        for _ in range(_STEPS):
            names.queries[name] = outputs
            before, self._where = self._where, " in each step of a recursion"
            following = _longest(outputs, self.query(body.expression, names))
            self._where = before
            if following == outputs:
                return
            outputs = following
        names.queries[name] = outputs

    def _select(self, select: exp.Expr, names: _Names) -> Outputs:
        sources = [*from_items(select), *(select.args.get("laterals") or ())]
        own: Outputs = []
        while sources:
            source = sources.pop(0)
            sources += [join.this for join in source.args.get("joins") or ()]
            own += self._offered(source, names)
        for node in _within(select):
            if isinstance(node, exp.Alias):
                names.aliases[node.alias.casefold()] = node.this
        outputs: Outputs = []
        for item in select.expressions:
            if item.is_star:
                outputs += own
            else:
                outputs.append((item.alias_or_name.casefold(), self.size(item, names)))
        for part, child in _parts(select):
            if part not in ("expressions", "from_", "laterals", "with_"):
                clause = child.args.get("on") if isinstance(child, exp.Join) else child
                if isinstance(clause, exp.Expr):
                    self.size(clause, names)
        return outputs

    def _offered(self, source: exp.Expr, names: _Names) -> Outputs:
        """The columns of one source of FROM, which can be named from here on."""
        outputs = self._source(source, names)
        alias = source.args.get("alias")
        label = source.alias_or_name.casefold()
        if isinstance(alias, exp.TableAlias) and alias.args.get("columns"):
            outputs = _renamed(outputs or [("", 1.0)] * len(alias.columns), alias.args["columns"])
        for key in [key for key in names.columns if key[0] == label]:
            del names.columns[key]
        for name, size in outputs:
            names.columns[label, name] = size
            names.columns["", name] = max(size, names.columns.get(("", name), 1.0))
        return outputs

    def _source(self, source: exp.Expr, names: _Names) -> Outputs:
        if isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier):
            return [] if source.args.get("db") else list(names.queries.get(source.name.casefold(), ()))
        if isinstance(source, exp.Subquery | exp.Values):
            return self.query(source, names)
        if isinstance(source, exp.Lateral) and isinstance(source.this, exp.Subquery):
            return self.query(source.this, names)
        size = self.size(source.this if isinstance(source, exp.Table | exp.Lateral) else source, names)
        labels = source.args["alias"].columns if isinstance(source.args.get("alias"), exp.TableAlias) else ()
        return [(name.name.casefold(), size) for name in labels] or [(source.alias_or_name.casefold(), size)]

    # The size of an expression

    def size(self, node: exp.Expr, names: _Names) -> float:
        self._visits += 1
        if self._visits > _MOST_VISITS:
            raise _TooLarge("builds values in too many steps to follow")
        size = self._size(node, names)
        if size > self._most:
            raise _TooLarge(
                f"builds values more than {self._most:,.0f} times as long as those of the data{self._where}"
            )
        return size

    def _size(self, node: exp.Expr, names: _Names) -> float:
        if isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier):
            return self._column(node, names)
        if isinstance(node, exp.Identifier | exp.Star | exp.DataType | exp.Var):
            return names.columns.get(("", node.name.casefold()), 1.0) if isinstance(node, exp.Identifier) else 0.01
        if isinstance(node, exp.Literal):
            return max(len(node.name) / 100, 0.01) if node.is_string else 0.01
        if isinstance(node, exp.Query):
            return max((size for _, size in self.query(node, names)), default=1.0)
        if isinstance(node, exp.Comprehension):
            return self._mapped(node.args["iterator"], [node.args["expression"]], node.this, names)
        if isinstance(node, exp.Transform):  # of Spark
            return self._mapped(node.this, node.expression.expressions, node.expression.this, names)
        if isinstance(node, exp.Case | exp.If):
            return self._chosen(node, names)
        name = called_name(node)
        if name is not None and (size := self._call(name, node, names)) is not None:
            return size
        sizes = [self.size(child, names) for child in _parts_of_chain(node)]
        if isinstance(node, _BOOLEAN) or name in SHORT:
            return 0.01
        listing = isinstance(node, _LISTING) or name in BUILDING or name in STRUCTS
        if self._folds and (isinstance(node, _FIELDS) or name in STRUCTS):
            listing = False  # the state of a fold keeps its type, so it cannot be nested in itself
        return sum(sizes) if listing else max(sizes, default=0.01)

    def _column(self, column: exp.Column, names: _Names) -> float:
        name = column.name.casefold()
        if column.table:
            return max(
                names.columns.get((column.table.casefold(), name), 1.0),
                names.columns.get(("", column.table.casefold()), 0.0),
            )
        size = names.columns.get(("", name), 1.0)
        if name in names.aliases:
            inner = names.copy()
            size = max(size, self.size(inner.aliases.pop(name), inner))
            names.columns["", name] = size
            names.aliases.pop(name)
        return size

    def _chosen(self, node: exp.Expr, names: _Names) -> float:
        """The longest result; a condition is no part of it."""
        sizes = [0.01]
        for key, child in _parts(node):
            size = self.size(child, names)
            sizes += [size] if key != "this" else []
        return max(sizes)

    def _call(self, name: str, call: exp.Expr, names: _Names) -> float | None:
        """The size of a call with a rule of its own."""
        if name in REPEATING:
            count = most_number(argument(call, REPEATING[name])) or 1
            rest = [self.size(a, names) for n, a in enumerate(call.expressions) if n != REPEATING[name]]
            return max(count, 1) * (max(rest) if rest else 0.01)
        if name in PADDING:
            return max(*self._arguments(call, names), (most_number(argument(call, PADDING[name])) or 1) / 100)
        if name in REPLACING:
            sizes = self._arguments(call, names)
            return sizes[0] * replacement_factor(call) * max(1.0, *sizes)
        if name in SEPARATING:
            between, *parts = self._arguments(call, names)
            return sum(parts) + between * len(parts)
        if name in ESCAPING:
            return 2 * max(self._arguments(call, names))
        if name in FORMATS:
            return copies_in_template(argument(call, 0)) * sum(self._arguments(call, names))
        if name in JOINING_LISTS:
            sizes = self._arguments(call, names)
            return sizes[0] * max(1.0, *sizes[1:]) if len(sizes) > 1 else sizes[0]
        if name == "export_set":
            return 64 * sum(self._arguments(call, names))
        if name in SERIES:
            ends = [whole_number(end) for end in call.expressions]
            return max(0.01 * max((abs(end) for end in ends if end is not None), default=1), 0.01)
        lambdas = [a for a in call.expressions if isinstance(a, exp.Lambda)]
        if lambdas and name in FOLDS:
            state, *items = lambdas[0].expressions
            size = max(self.size(a, names) for a in call.expressions if not isinstance(a, exp.Lambda))
            inner = names.copy()
            for item in items:
                inner.columns["", item.name.casefold()] = 1.0
            before, self._where = self._where, f" in each step of {call.name}"
            self._folds += 1
            for _ in range(_STEPS):
                inner.columns["", state.name.casefold()] = size
                following = self.size(lambdas[0].this, inner)
                if following <= size:
                    break
                size = following
            self._folds -= 1
            self._where = before
            return size
        if lambdas and name in MAPPING:
            lists = [a for a in call.expressions if not isinstance(a, exp.Lambda)]
            return max(
                self._mapped(one, lambdas[0].expressions, lambdas[0].this, names) for one in lists or [call.this]
            )
        return None

    def _arguments(self, call: exp.Expr, names: _Names) -> list[float]:
        return [self.size(a, names) for a in call.expressions] or [0.01]

    def _mapped(self, items: exp.Expr, parameters: list[exp.Expr], body: exp.Expr, names: _Names) -> float:
        """A list with one value for each item."""
        size, count = self.size(items, names), _count(items)
        inner = names.copy()
        for parameter in parameters:
            inner.columns["", parameter.name.casefold()] = size / count
        return max(size, count * self.size(body, inner))


def _count(items: exp.Expr) -> float:
    """How many items a list has; 2 where that is not written."""
    name = called_name(items)
    if isinstance(items, exp.Array) or name in ("array", "list_value", "list_pack"):
        return max(len(items.expressions), 1)
    if name in SERIES:
        return max([abs(whole_number(end) or 0) for end in items.expressions] + [2])
    if name in REPEATING:
        return max(most_number(argument(items, REPEATING[name])) or 2, 1)
    return 2


def _parts_of_chain(node: exp.Expr) -> list[exp.Expr]:
    """The operands of a chain of operators or set operations, however long it is; the children of any other node."""
    if not isinstance(node, exp.Binary | exp.SetOperation):
        return list(node.iter_expressions())
    parts: list[exp.Expr | None] = []
    kind: type[exp.Expr] = exp.SetOperation if isinstance(node, exp.SetOperation) else exp.Connector
    kind = kind if isinstance(node, kind) else type(node)
    while isinstance(node, kind) and not (parts and node.args.get("with_")):
        parts.append(node.expression)
        node = node.this
    # the parser lets a dot without sides pass (`FROM t, LATERAL .`)
    return [part for part in (node, *reversed(parts)) if part is not None]


def _longest(left: Outputs, right: Outputs) -> Outputs:
    return [(name, max(size, other)) for (name, size), (_, other) in zip(left, right, strict=False)]


def _renamed(outputs: Outputs, labels: list[exp.Expr]) -> Outputs:
    named = [(label.name.casefold(), size) for label, (_, size) in zip(labels, outputs, strict=False)]
    return named + outputs[len(named) :]


def _within(select: exp.Expr) -> Iterator[exp.Expr]:
    """The nodes of a SELECT without those of its subqueries."""
    stack = [child for key, child in _parts(select) if key not in ("from_", "with_")]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, exp.Query):
            stack += node.iter_expressions()


def _parts(node: exp.Expr) -> Iterator[tuple[str, exp.Expr]]:
    for key, value in node.args.items():
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, exp.Expr):
                yield key, child
