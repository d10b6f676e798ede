"""Find nodes in a syntax tree that is searched many times, and the parts of a query that are asked for often.

In: a tree or a subtree. Out: its nodes of the given types, from the root down, level by level, in the order of
sqlglot's `find_all`; its output SELECT; the sources of a SELECT. Within `unchanging`, what a search finds in the given
tree is kept for the next one, and so is what else is worked out of the whole tree (`once`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar, cast

from sqlglot import exp

Kind = TypeVar("Kind", bound=exp.Expr)
Kept = TypeVar("Kept")


@dataclass(slots=True)
class _Walk:
    """What was found in one tree so far, by the root of the search and the types."""

    tree: exp.Expr
    nodes: dict[int, list[exp.Expr]] = field(default_factory=dict)
    by_type: dict[tuple[int, tuple[type, ...]], list[exp.Expr]] = field(default_factory=dict)
    known: dict[Hashable, object] = field(default_factory=dict)


_walked: ContextVar[_Walk | None] = ContextVar("walked", default=None)


def conjuncts(condition: exp.Expr | None) -> list[exp.Expr]:
    """What a condition joins by AND: itself where it joins nothing, nothing where there is none."""
    if condition is None:
        return []
    return list(condition.flatten()) if isinstance(condition, exp.And) else [condition]


def every(tree: exp.Expr, *kinds: type[Kind]) -> list[Kind]:
    """All nodes of these types, including subclasses."""
    walk = _walked.get()
    if walk is None or tree.root() is not walk.tree:
        return [node for node in _nodes(tree) if isinstance(node, kinds)]
    key = id(tree), kinds
    if key not in walk.by_type:
        if id(tree) not in walk.nodes:
            walk.nodes[id(tree)] = _nodes(tree)
        walk.by_type[key] = [node for node in walk.nodes[id(tree)] if isinstance(node, kinds)]
    return cast("list[Kind]", walk.by_type[key].copy())


@contextmanager
def unchanging(tree: exp.Expr | None) -> Iterator[None]:
    """While this context is open, the tree must not be changed."""
    around = _walked.get()
    if around is not None and around.tree is tree:
        yield
        return
    token = _walked.set(_Walk(tree) if tree is not None else None)
    try:
        yield
    finally:
        _walked.reset(token)


def once(tree: exp.Expr, key: Hashable, work_out: Callable[[], Kept]) -> Kept:
    """What `work_out` returns; within `unchanging` it is called once for the tree and the key."""
    walk = _walked.get()
    if walk is None or walk.tree is not tree:
        return work_out()
    if key not in walk.known:
        walk.known[key] = work_out()
    return cast("Kept", walk.known[key])


def output_select(tree: exp.Expr) -> exp.Select | None:
    """The SELECT that names the output columns: the outermost one, in a set operation the first branch's."""
    tree = unwrapped(tree)
    while isinstance(tree, exp.SetOperation):
        tree = unwrapped(tree.this)
    return tree if isinstance(tree, exp.Select) else None


def unwrapped(tree: exp.Expr) -> exp.Expr:
    """The query inside brackets, and inside any `SELECT * FROM (…)` that only hands its rows on."""
    while True:
        inner = tree if isinstance(tree, exp.Subquery) else _handed_on(tree)
        if inner is None or not isinstance(inner.this, exp.Query):
            return tree
        tree = inner.this


_OF_A_STAR = frozenset({"expressions", "from_", "with_"})


def _handed_on(tree: exp.Expr) -> exp.Subquery | None:
    """The one source of a SELECT that has nothing of its own but the star."""
    if not isinstance(tree, exp.Select) or {key for key, value in tree.args.items() if value} - _OF_A_STAR:
        return None
    source = tree.args["from_"].this if tree.args.get("from_") else None
    if not isinstance(source, exp.Subquery) or {key for key, value in source.args.items() if value} - {"this", "alias"}:
        return None
    star = tree.expressions[0] if len(tree.expressions) == 1 else None
    return source if isinstance(star, exp.Star) and not any(star.args.values()) else None


def from_items(select: exp.Expr) -> list[exp.Expr]:
    """The sources of a SELECT itself, in FROM and JOIN."""
    first = select.args.get("from_")
    return [part.this for part in (*([first] if first is not None else ()), *(select.args.get("joins") or ()))]


def group_keys(tree: exp.Select) -> list[exp.Expr]:
    """What the rows are grouped by; what is given by its place or its name in the SELECT list, as it stands there."""
    group = tree.args.get("group")
    shown = {one.alias.lower(): one.this for one in tree.expressions if isinstance(one, exp.Alias)}
    keys: list[exp.Expr] = []
    for key in group.expressions if group else ():
        place = int(key.name) if isinstance(key, exp.Literal) and key.name.isdecimal() else 0
        if 0 < place <= len(tree.expressions):
            keys.append(tree.expressions[place - 1].unalias())
        else:
            called = isinstance(key, exp.Column) and not key.table
            keys.append(shown.get(key.name.lower(), key) if called else key)
    return keys


def own_nodes(clause: exp.Expr) -> list[exp.Expr]:
    """The nodes of a clause that belong to its own query, not to a subquery or a window."""
    return [
        n for n in clause.walk(prune=lambda n: isinstance(n, exp.Query | exp.Window)) if not isinstance(n, exp.Query)
    ]


def _nodes(tree: exp.Expr) -> list[exp.Expr]:
    """The same nodes as `tree.walk()`, in half the time."""
    nodes = [tree]
    for node in nodes:
        for value in node.args.values():
            if value.__class__ is list:
                nodes.extend([item for item in value if isinstance(item, exp.Expr)])
            elif isinstance(value, exp.Expr):
                nodes.append(value)
    return nodes
