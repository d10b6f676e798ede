"""Wrong but plausible queries derived from a right one, such as a model might write by mistake.

In: a query's syntax tree and its schema. Out: changed copies with the name of the change. A mutant may happen to mean
the same as the original, so callers must compare results.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator

from sqlglot import exp

from eval.schema import Schema

Mutation = Callable[[exp.Expr, Schema, random.Random], "exp.Expr | None"]


def mutants(tree: exp.Expr, schema: Schema, dice: random.Random) -> Iterator[tuple[str, exp.Expr]]:
    """Every applicable mutation, once each, as (name, tree). The given tree is not changed."""
    for name, mutate in MUTATIONS.items():
        changed = mutate(tree.copy(), schema, dice)
        if changed is not None and changed != tree:
            yield name, changed


def _pick(dice: random.Random, nodes: Iterable[exp.Expr]) -> exp.Expr | None:
    choices = list(nodes)
    return dice.choice(choices) if choices else None


def _condition_dropped(tree: exp.Expr, _: Schema, dice: random.Random) -> exp.Expr | None:
    both = _pick(dice, [a for a in tree.find_all(exp.And) if a.find_ancestor(exp.Join) is None])
    if both is not None:
        both.replace(dice.choice((both.this, both.expression)))
        return tree
    where = _pick(dice, tree.find_all(exp.Where))
    if where is None:
        return None
    where.pop()
    return tree


def _and_or(tree: exp.Expr, _: Schema, dice: random.Random) -> exp.Expr | None:
    node = _pick(dice, [a for a in tree.find_all(exp.And, exp.Or) if a.find_ancestor(exp.Join) is None])
    if node is None:
        return None
    other = exp.Or if isinstance(node, exp.And) else exp.And
    node.replace(other(this=node.this, expression=node.expression))
    return tree


def _comparison_changed(tree: exp.Expr, _: Schema, dice: random.Random) -> exp.Expr | None:
    changes: dict[type[exp.Expr], type[exp.Binary]] = {
        exp.GT: exp.LT,
        exp.LT: exp.GT,
        exp.GTE: exp.GT,
        exp.LTE: exp.LT,
        exp.NEQ: exp.EQ,
    }
    node = _pick(dice, tree.find_all(*changes))
    if node is None:
        return None
    node.replace(changes[type(node)](this=node.this, expression=node.expression))
    return tree


def _negation_dropped(tree: exp.Expr, _: Schema, dice: random.Random) -> exp.Expr | None:
    node = _pick(dice, tree.find_all(exp.Not))
    if node is not None:
        node.replace(node.this)
        return tree
    return tree.left.copy() if isinstance(tree, exp.Except) else None


def _set_operation_changed(tree: exp.Expr, _: Schema, dice: random.Random) -> exp.Expr | None:
    node = _pick(dice, tree.find_all(exp.Intersect, exp.Except))
    if node is None:
        return None
    node.replace(exp.Union(this=node.this, expression=node.expression, distinct=True))
    return tree if node is not tree else exp.Union(this=tree.this, expression=tree.expression, distinct=True)


def _order_reversed(tree: exp.Expr, _: Schema, dice: random.Random) -> exp.Expr | None:
    node = _pick(dice, tree.find_all(exp.Ordered))
    if node is None:
        return None
    node.set("desc", not node.args.get("desc"))
    return tree


def _without(part: str) -> Mutation:
    def drop(tree: exp.Expr, _: Schema, dice: random.Random) -> exp.Expr | None:
        node = _pick(dice, [s for s in tree.find_all(exp.Select) if s.args.get(part)])
        if node is None:
            return None
        node.set(part, None)
        return tree

    return drop


def _distinct_added(tree: exp.Expr, _: Schema, __: random.Random) -> exp.Expr | None:
    if not isinstance(tree, exp.Select) or tree.args.get("distinct"):
        return None
    return tree.distinct()


def _aggregate_changed(tree: exp.Expr, _: Schema, dice: random.Random) -> exp.Expr | None:
    others: tuple[type[exp.Func], ...] = (exp.Avg, exp.Sum, exp.Max, exp.Min)
    node = _pick(dice, [a for a in tree.find_all(*others) if isinstance(a.this, exp.Column)])
    if node is None:
        return None
    node.replace(dice.choice([o for o in others if not isinstance(node, o)])(this=node.this))
    return tree


def _count_to_columns(tree: exp.Expr, _: Schema, __: random.Random) -> exp.Expr | None:
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1 or not isinstance(tree.expressions[0], exp.Count):
        return None
    return tree.select("*", append=False)


def _column_changed(tree: exp.Expr, schema: Schema, dice: random.Random) -> exp.Expr | None:
    sources = {t.alias_or_name.casefold(): t.name for t in tree.find_all(exp.Table)}
    columns = [c for c in tree.find_all(exp.Column) if c.table or len(sources) == 1]
    if not columns:
        return None
    node = dice.choice(columns)
    alias = node.table.casefold() if node.table else next(iter(sources))
    table = schema.table(sources.get(alias, ""))
    others = [c.name for c in table.columns if c.name.casefold() != node.name.casefold()] if table else []
    if not others:
        return None
    node.set("this", exp.to_identifier(dice.choice(others), quoted=True))
    return tree


def _output_column_added(tree: exp.Expr, schema: Schema, dice: random.Random) -> exp.Expr | None:
    if not isinstance(tree, exp.Select) or tree.args.get("distinct"):
        return None
    source = tree.find(exp.Table)
    table = schema.table(source.name) if source is not None else None
    if source is None or table is None:
        return None
    name = dice.choice(table.columns).name
    return tree.select(exp.column(exp.to_identifier(name, quoted=True), table=source.alias_or_name), copy=False)


def _output_column_dropped(tree: exp.Expr, _: Schema, dice: random.Random) -> exp.Expr | None:
    if not isinstance(tree, exp.Select) or len(tree.expressions) < 2:
        return None
    kept = list(tree.expressions)
    kept.pop(dice.randrange(len(kept)))
    tree.set("expressions", kept)
    return tree


def _limit_changed(tree: exp.Expr, _: Schema, __: random.Random) -> exp.Expr | None:
    limit = tree.args.get("limit")
    if limit is None or not isinstance(limit.expression, exp.Literal):
        return None
    limit.set("expression", exp.Literal.number(int(limit.expression.name) + 2))
    return tree


def _text_changed(tree: exp.Expr, _: Schema, dice: random.Random) -> exp.Expr | None:
    node = _pick(dice, [n for n in tree.find_all(exp.Literal) if n.is_string and n.name.strip("%")])
    if node is None:
        return None
    swapped = node.name.swapcase()
    node.replace(exp.Literal.string(swapped if swapped != node.name and dice.random() < 0.5 else node.name + "s"))
    return tree


def _another_table(tree: exp.Expr, schema: Schema, dice: random.Random) -> exp.Expr | None:
    used = {t.name.casefold() for t in tree.find_all(exp.Table)}
    others = [t for t in schema.tables if t.name.casefold() not in used]
    if not others:
        return None
    table = dice.choice(others)
    column = exp.column(exp.to_identifier(dice.choice(table.columns).name, quoted=True))
    output = exp.Count(this=exp.Star()) if tree.find(exp.Count) is not None else column
    return exp.select(output).from_(exp.Table(this=exp.to_identifier(table.name, quoted=True)))


MUTATIONS: dict[str, Mutation] = {
    "condition_dropped": _condition_dropped,
    "and_or": _and_or,
    "comparison_changed": _comparison_changed,
    "negation_dropped": _negation_dropped,
    "set_operation_changed": _set_operation_changed,
    "order_reversed": _order_reversed,
    "order_dropped": _without("order"),
    "limit_dropped": _without("limit"),
    "having_dropped": _without("having"),
    "group_dropped": _without("group"),
    "distinct_dropped": _without("distinct"),
    "distinct_added": _distinct_added,
    "aggregate_changed": _aggregate_changed,
    "count_to_columns": _count_to_columns,
    "column_changed": _column_changed,
    "output_column_added": _output_column_added,
    "output_column_dropped": _output_column_dropped,
    "limit_changed": _limit_changed,
    "text_changed": _text_changed,
    "another_table": _another_table,
}
"""By name; each returns a changed tree, or None when there is nothing to change."""
