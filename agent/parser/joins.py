"""Join planning: the cheapest tree of foreign keys that links a set of tables.

In: the vocabulary and the tables that a reading needs. Out: a `JoinPlan`. Declared keys are preferred to inferred ones,
short paths to long ones, and among equal paths the one through tables that the question names.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from agent.knowledge.effort import spend
from agent.knowledge.vocabulary import ColumnWord, Vocabulary
from eval.language.inflection import root
from eval.language.lexicon import open_lexicon, word_set


@dataclass(frozen=True, slots=True)
class Edge:
    """One way to join: `left.left_columns = right.right_columns`; `left` holds the foreign key."""

    left: str
    left_columns: tuple[str, ...]
    right: str
    right_columns: tuple[str, ...]
    inferred: bool
    single: bool = False
    """A row of `right` has at most one row of `left`: the foreign key is the whole key of its table."""

    chance: bool = False
    """Only a shared column name links the tables, and it names neither of them (`country_name` of cities and
    rivers)."""

    def other(self, table: str) -> str:
        return self.right if table == self.left else self.left


@dataclass(frozen=True, slots=True)
class JoinPlan:
    """Tables in join order (the first is FROM), each later one with the edge that links it to an earlier one."""

    root: str
    steps: tuple[tuple[str, Edge], ...] = ()

    @property
    def tables(self) -> tuple[str, ...]:
        return (self.root, *(table for table, _ in self.steps))

    @property
    def inferred(self) -> int:
        return sum(edge.inferred for _, edge in self.steps)

    @property
    def by_chance(self) -> int:
        return sum(edge.chance for _, edge in self.steps)

    def branch(self, table: str) -> JoinPlan | None:
        """The part of this plan that leads from its root to one table; None where it does not join it."""
        edges, steps = dict(self.steps), []
        while table in edges:
            steps.append((table, edges[table]))
            table = edges[table].other(table)
        return JoinPlan(self.root, tuple(reversed(steps))) if steps and table == self.root else None

    def fan_outs(self) -> frozenset[str]:
        """Tables that link several of their children: every child row meets every other child row (a chasm trap)."""
        children: dict[str, int] = {}
        for _, edge in self.steps:
            if not edge.single and edge.left != edge.right:
                children[edge.right] = children.get(edge.right, 0) + 1
        return frozenset(t for t, count in children.items() if count > 1)

    def multiplies(self, table: str) -> bool:
        """Whether a row of `table` may appear several times in the join."""
        seen, todo = {table}, [table]
        neighbours: dict[str, list[Edge]] = {}
        for _, edge in self.steps:
            neighbours.setdefault(edge.left, []).append(edge)
            neighbours.setdefault(edge.right, []).append(edge)
        while todo:
            here = todo.pop()
            for edge in neighbours.get(here, ()):
                there = edge.other(here)
                if there in seen:
                    continue
                if edge.right == here:
                    return True
                seen.add(there)
                todo.append(there)
        return False


FAN_OUT = 4.0
"""Cost of going up to a shared parent and down again to another of its children: such a join pairs rows that only share
a parent, which is rarely meant. Any path over real links with up to this many more steps is cheaper."""
_WAYS = (
    (
        word_set("from depart leav originat"),
        word_set("from origin source departure depart start pickup sender home begin"),
    ),
    (word_set("to into arriv land go"), word_set("to destination dest arrival arrive end dropoff receiver target")),
)
"""Roots of words that tell where a thing comes from, or where it goes, and how columns call that end."""


def ends_said(words: Iterable[str]) -> frozenset[str]:
    """Names of the end of a way that these words tell."""
    said = {root(word) for word in words}
    return frozenset(name for way, names in _WAYS for name in names if way & said)


class JoinGraph:
    """The foreign keys of one schema as an undirected graph."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._edges: dict[str, list[Edge]] = {name: [] for name in vocabulary.tables}
        self._between: dict[tuple[str, str], list[Edge]] = {}
        stored = tuple(t.table for t in vocabulary.tables.values())
        some_declared = any(not fk.inferred for table in stored for fk in table.foreign_keys)
        self._words = {name: frozenset(table.words) for name, table in vocabulary.tables.items()}
        self._inferred_cost = 0.4 if some_declared else 0.0  # an engine that keeps no keys declares none
        for table in stored:
            for fk in table.foreign_keys:
                target, paired = vocabulary.schema.table(fk.ref_table), len(fk.columns) == len(fk.ref_columns) > 0
                if target is not None and target.name in vocabulary.tables and paired:
                    single = set(fk.columns) == set(table.primary_key)
                    self._add(Edge(table.name, fk.columns, target.name, fk.ref_columns, fk.inferred, single))
        self._add_shared_keys(vocabulary)
        self._add_shared_names(vocabulary)
        self.distance = lru_cache(maxsize=20_000)(self._distance)
        self.spoken = lru_cache(maxsize=2_000)(self._spoken)

    def _add(self, edge: Edge) -> None:
        for one, other in dict.fromkeys(((edge.left, edge.right), (edge.right, edge.left))):
            self._edges[one].append(edge)
            self._between.setdefault((one, other), []).append(edge)

    def _add_shared_keys(self, vocabulary: Vocabulary) -> None:
        """Treat a column that has the name of another table's only key as a foreign key, if none is declared."""
        keys: dict[str, list[tuple[str, str]]] = {}
        stored = tuple(t.table for t in vocabulary.tables.values())
        for table in stored:
            if len(table.primary_key) == 1 and table.primary_key[0].lower() not in ("id", "name", "key", "code"):
                keys.setdefault(table.primary_key[0].lower(), []).append((table.name, table.primary_key[0]))
        for table in stored:
            tied = {c.lower() for fk in table.foreign_keys for c in fk.columns}
            for column in table.columns:
                owners = keys.get(column.name.lower(), [])
                if column.name.lower() in tied or len(owners) != 1 or owners[0][0] == table.name:
                    continue
                target, key = owners[0]
                if not self.between(table.name, target):
                    self._add(Edge(table.name, (column.name,), target, (key,), True))

    def _add_shared_names(self, vocabulary: Vocabulary) -> None:
        """Tables that no key reaches are linked by a column name they share (`state_name`), as a guess."""
        lonely = {name for name, edges in self._edges.items() if not any(e.left != e.right for e in edges)}
        shared: dict[str, list[tuple[str, str]]] = {}
        for table, columns in list(vocabulary.by_table.items())[:100]:
            for column in columns:
                if len(column.words) > 1 and column.role in ("id", "name", "text"):
                    shared.setdefault(column.name.lower(), []).append((table, column.name))
        for holders in shared.values():
            for k, (one, own) in enumerate(holders[:12]):
                for other, there in holders[k + 1 : 12]:
                    named = set(vocabulary.columns[one, own].words)
                    owned = named & {*vocabulary.tables[one].words, *vocabulary.tables[other].words}
                    if one != other and (one in lonely or other in lonely):
                        owner_first = set(vocabulary.tables[other].words) & set(vocabulary.columns[other, there].words)
                        left, right = ((one, own), (other, there)) if owner_first else ((other, there), (one, own))
                        self._add(Edge(left[0], (left[1],), right[0], (right[1],), True, chance=not owned))

    def edges(self, table: str) -> tuple[Edge, ...]:
        return tuple(self._edges.get(table, ()))

    def between(self, one: str, other: str) -> tuple[Edge, ...]:
        return tuple(self._between.get((one, other), ()))

    def referring(self, table: str, many: bool = False) -> list[str]:
        """The other tables whose rows refer to this one; with `many`, only those that may have several for one row."""
        below = (e.left for e in self.edges(table) if e.right == table != e.left and not (many and e.single))
        return list(dict.fromkeys(below))

    def _distance(self, one: str, other: str) -> float:
        """Cost of the cheapest path; infinity when there is none."""
        path = self._path({one}, other, frozenset(), frozenset())
        return path[0] if path else float("inf")

    def plan(
        self, tables: list[str], named: frozenset[str] = frozenset(), hints: frozenset[str] = frozenset()
    ) -> JoinPlan | None:
        """Link the tables, starting from the first; None when some cannot be reached. `hints` are words of the question
        that may choose between parallel keys (`home team`, `away team`)."""
        root, rest = tables[0], [t for t in dict.fromkeys(tables[1:]) if t != tables[0]]
        joined, steps = {root}, []
        while rest:
            paths = [(path, t) for t in rest if (path := self._path(joined, t, named, hints)) is not None]
            if not paths:
                return None
            (_, legs), target = min(paths, key=lambda p: (p[0][0], rest.index(p[1])))
            for table, edge in legs:
                if table not in joined:
                    joined.add(table)
                    steps.append((table, edge))
            rest = [t for t in rest if t != target and t not in joined]
        return JoinPlan(root, tuple(steps))

    def _spoken(self, edge: Edge, hints: frozenset[str]) -> tuple[int, int]:
        """How many words of a key, other than those of the table and the key that it refers to, the question says
        (`home team`; `received` for `recipient`, `departing` for `departure_airport`), and how many it does not."""
        hinted = hints | {root(w) for w in hints} | ends_said(hints)
        known = {*self._vocabulary.tables[edge.right].words}
        words = [w for c in edge.left_columns for w in self._vocabulary.columns[edge.left, c].words]
        known.update(w for c in edge.right_columns for w in self._vocabulary.columns[edge.right, c].words)
        own = [w for w in words if w not in known]
        said = sum(any(one in hinted or root(one) in hinted for one in (w, *open_lexicon(w))) for w in own)
        return said, len(own) - said

    def _path(
        self, sources: set[str], target: str, named: frozenset[str], hints: frozenset[str]
    ) -> tuple[float, list[tuple[str, Edge]]] | None:
        if target in sources:
            return 0.0, []
        heap: list[tuple[float, int, str, bool, list[tuple[str, Edge]]]] = [
            (0.0, i, source, False, []) for i, source in enumerate(sorted(sources))
        ]
        done: set[tuple[str, bool]] = set()
        count = len(heap)
        while heap:
            cost, _, here, up, path = heapq.heappop(heap)
            if here == target:
                return cost, path
            if (here, up) in done:
                continue
            done.add((here, up))
            edges = self._edges.get(here, ())
            spend(1 + len(edges) // 2)
            for edge in edges:
                there = edge.other(here)
                if there in sources or any(there == passed for passed, _ in path):
                    continue
                count += 1
                rises = edge.left == here and not edge.single
                step = (
                    1.0
                    + (self._inferred_cost if edge.inferred else 0.0)
                    + edge.chance
                    - (0.3 if there in named else 0.0)
                    - (0.05 if any(self._words[t] < self._words[there] for t in sources) else 0.0)  # lines of orders
                )
                if up and edge.right == here and not edge.single and here not in named:
                    step += FAN_OUT
                if len(self.between(here, there)) > 1:
                    said, unsaid = self.spoken(edge, hints)
                    step += -0.1 * min(said, 2) + 0.02 * min(unsaid, 4)
                heapq.heappush(heap, (cost + step, count, there, rises, [*path, (there, edge)]))
        return None


def columns_of_own_rows(vocabulary: Vocabulary) -> list[ColumnWord]:
    """The columns by which rows refer to other rows of their own table (`manager_id`)."""
    keys = [(name, key) for name, table in vocabulary.tables.items() for key in table.table.foreign_keys]
    own = [(name, key.columns[0]) for name, key in keys if key.ref_table == name and len(key.columns) == 1]
    return [vocabulary.columns[place] for place in own if place in vocabulary.columns]


_graphs: dict[int, tuple[Vocabulary, JoinGraph]] = {}


def join_graph(vocabulary: Vocabulary) -> JoinGraph:
    """The join graph of a vocabulary, built once (the last 32 are kept)."""
    known = _graphs.get(id(vocabulary))
    if known is None or known[0] is not vocabulary:
        while len(_graphs) >= 32:
            _graphs.pop(next(iter(list(_graphs)), 0), None)
        known = (vocabulary, JoinGraph(vocabulary))
        _graphs[id(vocabulary)] = known
    return known[1]
