"""What the faithful dialects share: parsers and generators that keep a statement as it was written.

sqlglot is built to translate: it turns `IFNULL` into `COALESCE` and `CAST(x AS DATE)` into `DATE(x)`, and it rewrites
JSON paths. Here, the SQL generated from a tree must mean exactly what the original statement meant, for the same
engine. The names of function calls, types and literals therefore stay as they were written. Only operators, the special
forms of the grammar (`CAST`, `EXTRACT(… FROM …)`) and the five basic aggregates become typed nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sqlglot import exp, generator, parser
from sqlglot.tokenizer_core import Token, TokenType

from eval.sql.bounds import BudgetedParser

WRITTEN_TYPE = "written_type"
"""Key in a `DataType`'s meta that holds the type as written."""

WRITTEN_PREFIX = "written_prefix"
"""Key in a `HexString`'s meta, set when it was written `0x…`: MySQL reads that as a number in a numeric context."""

QUOTE = "quote"
"""Key in an `Identifier`'s meta: its opening quote character, when that was not a double quote."""

TYPED_LITERAL = "typed_literal"
"""Key in a `Cast`'s meta, set when the cast was written as a typed literal: `DATE '2024-02-29'`."""

_SQLITE_TYPE = re.compile(r"[A-Za-z_][\w ]*(\([\d ,+-]+\))?")
SAFE_TYPE = re.compile(r"""[\w\s(),.\[\]"']+""")


def _aggregate(name: str, node: type[exp.Expression]) -> Callable[[list[Any]], exp.Expression]:
    """A call with one argument becomes the typed aggregate; with any other number it stays a plain call for the checks
    to judge."""

    def build(args: list[Any]) -> exp.Expression:
        if len(args) == 1:
            return node(this=args[0])
        return exp.Anonymous(this=name, expressions=args)

    return build


AGGREGATES: dict[str, Callable[..., Any]] = {
    "COUNT": _aggregate("COUNT", exp.Count),
    "SUM": _aggregate("SUM", exp.Sum),
    "AVG": _aggregate("AVG", exp.Avg),
    "MIN": _aggregate("MIN", exp.Min),
    "MAX": _aggregate("MAX", exp.Max),
}


def when_written(name: str, keywords: frozenset[str]) -> Callable[[Any], Any]:
    """Use sqlglot's parser for a special form only when one of its keywords appears inside the parentheses."""
    special: Callable[[Any], Any] = {
        **parser.Parser.FUNCTION_PARSERS,
        "GROUP_CONCAT": lambda self: self._parse_group_concat(),
    }[name]

    def parse(self: Any) -> Any:
        depth, at = 0, self._index
        while at < len(self._tokens):
            token: Token = self._tokens[at]
            if token.token_type == TokenType.L_PAREN:
                depth += 1
            elif token.token_type == TokenType.R_PAREN:
                if depth == 0:
                    break
                depth -= 1
            elif depth == 0 and token.token_type != TokenType.STRING and token.text.upper() in keywords:
                return special(self)
            at += 1
        written = self._tokens[self._index - 2]
        return self.expression(exp.Anonymous(this=written.text, expressions=self._parse_function_args(True)))

    return parse


def sqlite_cast(self: Any) -> exp.Expression:
    """SQLite accepts any words as a type (`UNSIGNED BIG INT`); they determine the affinity, so they are kept."""
    this = self._parse_disjunction()
    if not self._match(TokenType.ALIAS):
        self.raise_error("Expected AS after CAST")
    words: list[str] = []
    depth = 0
    while self._curr and (depth or self._curr.token_type != TokenType.R_PAREN):
        depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(self._curr.token_type, 0)
        words.append(self._curr.text)
        self._advance()
    text = _type_text(words)
    if not _SQLITE_TYPE.fullmatch(text):
        self.raise_error("Expected a type name")
    kind = exp.DataType(this=exp.DType.USERDEFINED, kind=text)
    kind.meta[WRITTEN_TYPE] = text
    cast: exp.Expression = self.expression(exp.Cast(this=this, to=kind))
    return cast


def hex_as_written(self: Any, token: Token) -> exp.Expression:
    node: exp.Expression = self.expression(exp.HexString(this=token.text), token)
    if self.sql[token.start : token.start + 2].lower() == "0x":
        node.meta[WRITTEN_PREFIX] = True
    return node


def quantified(node: type[exp.Expression]) -> Callable[[Any], exp.Expression]:
    """`= ALL (array)`. When the operand is a subquery, sqlglot makes the node itself."""

    def parse(self: Any) -> exp.Expression:
        inner = self._parse_select() or self._parse_disjunction()
        return node(this=exp.Paren(this=inner))

    return parse


ARRAY: dict[str, Callable[..., Any]] = {"ARRAY": lambda args: exp.Array(expressions=args)}
SPECIAL_FORMS: dict[str, Callable[..., Any]] = {
    "CAST": parser.Parser.FUNCTION_PARSERS["CAST"],
    "TRY_CAST": parser.Parser.FUNCTION_PARSERS["TRY_CAST"],
    "EXTRACT": parser.Parser.FUNCTION_PARSERS["EXTRACT"],
    "TRIM": when_written("TRIM", frozenset({"LEADING", "TRAILING", "BOTH", "FROM"})),
    "SUBSTRING": when_written("SUBSTRING", frozenset({"FROM", "FOR"})),
    "POSITION": when_written("POSITION", frozenset({"IN"})),
    "OVERLAY": when_written("OVERLAY", frozenset({"PLACING"})),
}
"""The special forms that most servers' grammars have."""


def without(table: dict[Any, Any], *keys: Any) -> dict[Any, Any]:
    return {k: v for k, v in table.items() if k not in keys}


class FaithfulParser(BudgetedParser):
    """The changes shared by all parsers; each dialect mixes it in before sqlglot's own parser."""

    LIMIT_IN_PERCENT = False

    def _warn_unsupported(self) -> None:
        """Emit no warning: the guard refuses what sqlglot could read only as a bare command."""

    def _parse_term(self, parse_mod: bool = True) -> exp.Expr | None:
        """`LIMIT 2 - n % 2` holds a remainder, except where LIMIT may be a percentage."""
        return super()._parse_term(parse_mod or not self.LIMIT_IN_PERCENT)

    def _parse_types(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        start = self._index
        parsed = super()._parse_types(*args, **kwargs)
        if isinstance(parsed, exp.DataType) and self._index > start:
            tokens = self._tokens[start : self._index]
            suffix = tokens[0].text.upper() in self.dialect.tokenizer_class.NUMERIC_LITERALS  # Spark's `1L`
            if not suffix and all(t.token_type not in (TokenType.STRING, TokenType.IDENTIFIER) for t in tokens):
                parsed.meta[WRITTEN_TYPE] = _type_text([t.text for t in tokens])
        return parsed

    def _parse_type(self, parse_interval: bool = True, fallback_to_identifier: bool = False) -> exp.Expr | None:
        literal = self._curr.token_type in self.TYPE_TOKENS and self._next.token_type == TokenType.STRING
        parsed = super()._parse_type(parse_interval, fallback_to_identifier)
        if literal and isinstance(parsed, exp.Cast) and isinstance(parsed.this, exp.Literal):
            parsed.meta[TYPED_LITERAL] = True
        return parsed


def _type_text(words: list[str]) -> str:
    text = " ".join(words)
    return re.sub(r"\s*([(\[\]),.])\s*", lambda m: {",": ", ", ")": ") "}.get(m[1], m[1]), text).strip()


def arrow(operator: str) -> Callable[[Any, Any], str]:
    return lambda self, node: self.binary(node, operator)


class FaithfulGenerator(generator.Generator):
    """Writes SQL as it was read. Function names keep their original case."""

    CAST_OF_DIALECT = False
    """Whether a cast is written by the dialect's own rules."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"normalize_functions": False, "comments": False, **options})

    def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
        if expression.meta.get(TYPED_LITERAL):
            return f"{self.sql(expression, 'to')} {self.sql(expression, 'this')}"
        if self.CAST_OF_DIALECT:
            return super().cast_sql(expression, safe_prefix=safe_prefix)
        return generator.Generator.cast_sql(self, expression, safe_prefix=safe_prefix)

    def withingroup_sql(self, expression: exp.WithinGroup) -> str:
        return generator.Generator.withingroup_sql(self, expression)

    def ignorenulls_sql(self, expression: exp.IgnoreNulls) -> str:
        return generator.Generator.ignorenulls_sql(self, expression)

    def hexstring_sql(self, expression: exp.HexString, binary_function_repr: str | None = None) -> str:
        if expression.meta.get(WRITTEN_PREFIX):
            return f"0x{expression.name}"
        return super().hexstring_sql(expression, binary_function_repr)

    def datatype_sql(self, expression: exp.DataType) -> str:
        written = expression.meta.get(WRITTEN_TYPE)
        if expression.this != exp.DType.CHARACTER_SET and isinstance(written, str) and SAFE_TYPE.fullmatch(written):
            return written
        return super().datatype_sql(expression)


def _clock(name: str) -> Callable[[Any, Any], str]:
    return lambda self, node: f"{name}({self.sql(node, 'this')})" if node.args.get("this") else name


AS_WRITTEN: dict[type[exp.Expr], Callable[..., str]] = {
    exp.JSONExtract: arrow("->"),
    exp.JSONExtractScalar: arrow("->>"),
    exp.CurrentDate: _clock("CURRENT_DATE"),
    exp.CurrentTime: _clock("CURRENT_TIME"),
    exp.CurrentTimestamp: _clock("CURRENT_TIMESTAMP"),
    exp.Localtime: _clock("LOCALTIME"),
    exp.Localtimestamp: _clock("LOCALTIMESTAMP"),
}
