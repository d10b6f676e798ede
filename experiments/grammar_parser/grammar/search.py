"""Search: the best derivations of a question, left to right, with a beam at each word and a budget of counted steps.

In: a context. Out: finished states, the best first. A word with a meaning of its own that no production consumed costs,
and is kept in the state's `missed`.
"""

from __future__ import annotations

from experiments.grammar_parser.grammar.context import Context
from experiments.grammar_parser.grammar.productions import extend
from experiments.grammar_parser.grammar.state import State, initial

BEAM = 24
STEPS = 6000
"""Productions tried for one question; then the beam becomes narrow."""
_MISSED = -1.6


def derivations(context: Context, beam: int = BEAM, start: State | None = None) -> list[State]:
    """Finished states, the best first; with `start`, of words that go on from there."""
    lattice = context.lattice
    size = len(lattice.tokens)
    cells: list[list[State]] = [[] for _ in range(size + 1)]
    cells[0] = [start or initial()]
    steps = 0
    for at in range(size):
        here = _best(cells[at], beam if steps < STEPS else 4)
        items = lattice.at[at]
        content = lattice.content[at]
        for state in here:
            for item in items:
                for new in extend(context, state, item):
                    cells[new.at].append(new)
                    steps += 1
            if content:
                passed = state.but("word passed", at, at + 1, _MISSED, missed=(*state.missed, at))
                cells[at + 1].append(passed)
            else:
                skipped = state.but("function word", at, at + 1, 0.0)
                cells[at + 1].append(skipped)
    return _best(cells[size], beam)


def _best(states: list[State], most: int) -> list[State]:
    """The best states, of equal meanings only the best."""
    states.sort(key=lambda s: -s.score)
    kept: dict[object, State] = {}
    for state in states:
        key = (
            state.show,
            state.where,
            state.group,
            state.order,
            state.having,
            state.waiting,
            state.phase,
            state.head,
            state.absent,
            state.nested,
            state.limit,
            state.tables,
            state.last.key if state.last else None,
            state.share,
            state.sets,
            state.alternatives,
            state.column,
            state.inner,
            state.computed,
            state.offset,
            state.vs,
        )
        if key not in kept:
            kept[key] = state
            if len(kept) >= most:
                break
    return list(kept.values())
