"""Money that is stored in cents, as people speak of it: in whole units.

In: a query, the engine's or a model's, and the question. Out: the query in which amounts of columns called after a
minor unit (`amount_cents`) are shown divided by 100, and the question's numbers that they are compared with are
multiplied by 100. A question that itself speaks of cents is left as it is, and so is what was already reckoned.
"""

from __future__ import annotations

from sqlglot import exp

from agent.knowledge.vocabulary import split_name
from agent.parser.units import apart
from eval.language.inflection import lemma
from eval.language.lexicon import word_set
from eval.language.tokens import tokenize
from eval.schema import Dialect
from eval.sql import parse, render

MINOR = word_set("cent pence centime centavo paise")
"""Singular words of the units that a column's name may end with."""
_FIGURES = (exp.Sum, exp.Avg, exp.Min, exp.Max)
NOTE = "stored in cents, told in whole units"


def in_whole_units(tree: exp.Expression, question: str) -> exp.Expression | None:
    """None where nothing is to be changed."""
    tokens = apart(tokenize(question))
    if any(token.lemma in MINOR for token in tokens):
        return None
    asked = {float(token.number) for token in tokens if token.number is not None}
    changed = tree.copy()
    columns = [column for column in changed.find_all(exp.Column) if _is_minor(column.name)]
    renamed: dict[str, str] = {}
    touched = False
    for column in columns:
        amount: exp.Expr = column.parent if isinstance(column.parent, _FIGURES) else column
        compared = amount.find_ancestor(exp.Predicate, exp.Select)
        if isinstance(compared, exp.Predicate):
            touched = _raised(compared, asked) or touched
        elif _is_shown(amount):
            whole: exp.Expr = exp.Div(this=amount.copy(), expression=exp.Literal.number("100.0"), typed=True)
            if isinstance(amount.parent, exp.Alias):
                alias = amount.parent
                renamed[alias.alias] = _without_unit(alias.alias)
                alias.set("alias", exp.to_identifier(renamed[alias.alias]))
            elif isinstance(amount.parent, exp.Select):
                whole = exp.alias_(whole, _without_unit(column.name))
            amount.replace(whole)
            touched = True
    for column in changed.find_all(exp.Column):
        if not column.table and column.name in renamed and column.find_ancestor(exp.Order):
            column.set("this", exp.to_identifier(renamed[column.name]))
    return changed if touched else None


def sql_in_whole_units(sql: str, dialect: Dialect, question: str) -> str | None:
    """The same for the text of a query; None where nothing is to be changed, or the text does not parse."""
    tree = parse(sql, dialect).tree
    changed = in_whole_units(tree, question) if tree is not None else None
    return render(changed, dialect) if changed is not None else None


def _is_minor(name: str) -> bool:
    parts = split_name(name)
    return any(part in MINOR and parts[max(0, i - 1) : i] != ("per",) for i, part in enumerate(parts))


def _raised(compared: exp.Expr, asked: set[float]) -> bool:
    """Multiply the question's numbers in a comparison by 100; each once, though several amounts may be compared."""
    raised = False
    for number in (compared.expression, compared.args.get("low"), compared.args.get("high")):
        literal = number.this if isinstance(number, exp.Neg) else number
        if not isinstance(literal, exp.Literal) or literal.is_string or literal.args.get("raised"):
            continue
        if float(literal.name) in asked:
            literal.replace(exp.Literal(this=f"{float(literal.name) * 100:.10g}", is_string=False, raised=True))
            raised = True
    return raised


def _is_shown(amount: exp.Expr) -> bool:
    """Whether it stands in the SELECT list of the outermost query, itself or as a factor."""
    node: exp.Expr = amount
    while isinstance(node.parent, (exp.Alias, exp.Mul, exp.Paren, exp.Round, *_FIGURES)):
        node = node.parent
    return node.arg_key == "expressions" and isinstance(node.parent, exp.Select) and node.parent.parent is None


def _without_unit(name: str) -> str:
    kept = [part for part in name.split("_") if lemma(part.lower()) not in MINOR]
    return "_".join(kept) or name
