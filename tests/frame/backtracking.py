"""How long a regular expression may backtrack: its ambiguous loops, and texts that show them.

In: patterns. Out: for each the texts of 2,000 characters on which its loops can divide the same characters among
themselves in many ways. The pattern is taken as an automaton of positions (Glushkov); a loop is dangerous if one word
leads round it in two ways (exponential), or round it, from it into a later loop, and round that one (polynomial).
Assertions of width zero are not looked at, so a text is a suspicion: only the clock says that it is slow.
Source: Weideman et al., "Analyzing Matching Time Behavior of Backtracking Regular Expression Matchers", CIAA 2016.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from re import _constants as op
from re import _parser
from typing import Any

LENGTH = 2_000
"""Characters of a text; a question has at most as many."""
_ALPHABET = [chr(c) for c in range(32, 127)] + ["\n", "\t", "é", "ß", "“"]
_ALL = (1 << len(_ALPHABET)) - 1
_PREFERRED = "a 5,b.-x"
_MANY = 20
"""A repeat of more is taken as one without end."""
_MOST_STEPS = 60_000
_KNOWN: dict[str, int] = {}
"""The letters of each class, as bits."""
_ENDS = ("\n!", "!", " 5", "", " zz5\x00")


@dataclass(frozen=True, slots=True)
class Attack:
    """A text of any length: a beginning, a word again and again, and an end at which most patterns fail."""

    start: str
    word: str
    end: str

    def __call__(self, length: int) -> str:
        return (self.start + self.word * (length // len(self.word) + 1))[: length - len(self.end)] + self.end


@dataclass
class _Part:
    """A part of a pattern: where it may begin and end, and whether it may be empty."""

    first: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    empty: bool = True


class Automaton:
    """The positions of a pattern and which may follow which, once for every way."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.letters: list[int] = []
        self.follow: list[list[int]] = []
        self._ignore_case = bool(pattern.flags & re.IGNORECASE)
        self._dot_all = bool(pattern.flags & re.DOTALL)
        parsed = _parser.parse(pattern.pattern, pattern.flags & ~re.TEMPLATE if hasattr(re, "TEMPLATE") else 0)
        start = self._loop(self._position(_ALL)) if not _anchored(parsed) else _Part()
        self.start = self._then(start, self._sequence(parsed)).first

    def _position(self, letters: int) -> _Part:
        self.letters.append(letters)
        self.follow.append([])
        at = len(self.letters) - 1
        return _Part([at], [at], False)

    def _join(self, ends: Iterable[int], starts: list[int]) -> None:
        for end in ends:
            self.follow[end] += starts

    def _then(self, one: _Part, two: _Part) -> _Part:
        self._join(one.last, two.first)
        return _Part(
            one.first + (two.first if one.empty else []),
            two.last + (one.last if two.empty else []),
            one.empty and two.empty,
        )

    def _loop(self, part: _Part) -> _Part:
        self._join(part.last, part.first)
        return _Part(part.first, part.last, True)

    def _sequence(self, nodes: Iterable[Any]) -> _Part:
        whole = _Part()
        for node in nodes:
            whole = self._then(whole, self._node(*node))
        return whole

    def _node(self, kind: Any, value: Any) -> _Part:
        if kind in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
            return self._position(self._letters(kind, value))
        if kind is op.BRANCH:
            parts = [self._sequence(branch) for branch in value[1]]
            first, last = [p for part in parts for p in part.first], [p for part in parts for p in part.last]
            return _Part(first, last, any(part.empty for part in parts))
        if kind is op.SUBPATTERN:
            return self._sequence(value[3])
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            return self._repeat(*value)
        if kind is op.ATOMIC_GROUP:
            return self._sequence(value)
        if kind in (op.ASSERT, op.ASSERT_NOT) and value[0] > 0:
            ahead = self._sequence(value[1])
            return _Part(ahead.first, [], True)
        if kind is op.GROUPREF:
            return self._position(_ALL)
        return _Part()

    def _repeat(self, least: int, most: int, nodes: Iterable[Any]) -> _Part:
        nodes = list(nodes)
        if most is not op.MAXREPEAT and most <= 1:
            part = self._sequence(nodes)
            return _Part(part.first, part.last, part.empty or least == 0)
        if most is op.MAXREPEAT or most > _MANY:
            part = self._loop(self._sequence(nodes))
            return _Part(part.first, part.last, least == 0)
        once = self._sequence(nodes)
        again = self._sequence(nodes)
        return self._then(_Part(once.first, once.last, once.empty or least == 0), _Part(again.first, again.last, True))

    def _letters(self, kind: Any, value: Any) -> int:
        key = f"{kind} {value} {self._ignore_case} {self._dot_all}"
        if key not in _KNOWN:
            _KNOWN[key] = sum(1 << i for i, c in enumerate(_ALPHABET) if self._fits(kind, value, c))
        return _KNOWN[key]

    def _fits(self, kind: Any, value: Any, char: str) -> bool:
        if kind is op.ANY:
            return self._dot_all or char != "\n"
        if kind is op.IN:
            negated = value[0][0] is op.NEGATE
            return negated != any(_in(item[0], item[1], c) for item in value for c in self._cases(char))
        return (kind is op.LITERAL) == any(ord(c) == value for c in self._cases(char))

    def _cases(self, char: str) -> set[str]:
        return {char, char.lower(), char.upper()[:1]} if self._ignore_case else {char}

    def loops(self) -> list[list[int]]:
        """The strongly connected parts that have a cycle."""
        found = _components(range(len(self.follow)), lambda p: self.follow[p])
        return [part for part in found if len(part) > 1 or part[0] in self.follow[part[0]]]


def _in(kind: Any, value: Any, char: str) -> bool:
    if kind is op.LITERAL:
        return bool(ord(char) == value)
    if kind is op.RANGE:
        return bool(value[0] <= ord(char) <= value[1])
    if kind is op.CATEGORY:
        name = str(value).removeprefix("CATEGORY_")
        base = {"DIGIT": char.isdigit(), "SPACE": char.isspace(), "WORD": char.isalnum() or char == "_"}
        return not base[name.removeprefix("NOT_")] if name.startswith("NOT_") else base[name]
    return False


def _anchored(nodes: Any) -> bool:
    """Whether a match can begin only at the beginning of the text."""
    for kind, value in nodes:
        if kind is op.AT and value in (op.AT_BEGINNING, op.AT_BEGINNING_STRING):
            return True
        if kind is op.SUBPATTERN:
            return _anchored(value[3])
        if kind is op.BRANCH:
            return all(_anchored(branch) for branch in value[1])
        if kind not in (op.ASSERT, op.ASSERT_NOT):
            return False
    return False


def _components(nodes: Iterable[Any], follow: Any) -> list[list[Any]]:
    """The strongly connected parts of a graph (Tarjan's algorithm, without recursion)."""
    index: dict[Any, int] = {}
    low: dict[Any, int] = {}
    on: set[Any] = set()
    stack: list[Any] = []
    parts: list[list[Any]] = []
    for root in nodes:
        if root in index:
            continue
        work = [(root, iter(follow(root)))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            node, rest = work[-1]
            for after in rest:
                if after not in index:
                    index[after] = low[after] = len(index)
                    stack.append(after)
                    on.add(after)
                    work.append((after, iter(follow(after))))
                    break
                if after in on:
                    low[node] = min(low[node], index[after])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = []
                    while True:
                        part.append(stack.pop())
                        on.discard(part[-1])
                        if part[-1] == node:
                            break
                    parts.append(part)
    return parts


def _char(letters: int) -> str:
    preferred = (c for c in _PREFERRED if letters >> _ALPHABET.index(c) & 1)
    return next(preferred, None) or _ALPHABET[letters.bit_length() - 1]


def _path(starts: Iterable[tuple[Any, str]], goal: Any, follow: Any) -> str | None:
    """The shortest word that leads from one of the starts to the goal; None where there is none within the budget."""
    waiting = deque(starts)
    seen = {state for state, _ in waiting}
    while waiting and len(seen) < _MOST_STEPS:
        state, word = waiting.popleft()
        if goal(state):
            return word
        for after, char in follow(state):
            if after not in seen:
                seen.add(after)
                waiting.append((after, word + char))
    return None


def _words(a: Automaton) -> Iterator[tuple[int, str]]:
    """For each dangerous loop: a position of it, and the word that goes round in more than one way."""
    loops = a.loops()
    for loop in loops:
        yield from _twice(a, loop)
    inside = {k: set(loop) for k, loop in enumerate(loops)}
    for k, loop in enumerate(loops):
        reached = _reached(a, loop)
        for m, other in enumerate(loops):
            if m == k or other[0] not in reached:
                continue
            yield from _handed_on(a, inside[k], inside[m], reached)


def _reached(a: Automaton, starts: list[int]) -> set[int]:
    found, waiting = set(starts), list(starts)
    while waiting:
        for after in a.follow[waiting.pop()]:
            if after not in found:
                found.add(after)
                waiting.append(after)
    return found


def _twice(a: Automaton, loop: list[int]) -> Iterator[tuple[int, str]]:
    """A word that leads round the loop in two ways."""
    inside = set(loop)
    follow = {p: [q for q in a.follow[p] if q in inside] for p in loop}

    def single(p: int) -> Iterator[tuple[int, str]]:
        return ((q, _char(a.letters[q])) for q in set(follow[p]))

    for p in loop:
        for q in {q for q in follow[p] if follow[p].count(q) > 1}:
            word = _path([(q, _char(a.letters[q]))], lambda s, p=p: s == p, single)
            if word is not None:
                yield p, word
                return

    def pairs(pair: tuple[int, int]) -> Iterator[tuple[int, int]]:
        return ((x, y) for x in set(follow[pair[0]]) for y in set(follow[pair[1]]) if a.letters[x] & a.letters[y])

    if len(loop) > 250:
        return
    for part in _components([(p, p) for p in loop], pairs):
        same = next((p for p, q in part if p == q), None)
        if same is None or all(p == q for p, q in part):
            continue
        allowed = set(part)

        def with_history(state: tuple[int, int, bool], allowed: set[Any] = allowed) -> Iterator[Any]:
            for x, y in pairs(state[:2]):
                if (x, y) in allowed:
                    yield (x, y, state[2] or x != y), _char(a.letters[x] & a.letters[y])

        goal = (same, same, True)
        word = _path([((same, same, False), "")], lambda s, goal=goal: s == goal, with_history)
        if word:
            yield same, word
        return


def _handed_on(a: Automaton, one: set[int], two: set[int], reached: set[int]) -> Iterator[tuple[int, str]]:
    """A word that leads round the first loop, from it into the second, and round the second."""
    for p in sorted(one)[:6]:
        for q in sorted(two)[:6]:

            def follow(state: tuple[int, int, int]) -> Iterator[Any]:
                for x in set(a.follow[state[0]]) & one:
                    for z in set(a.follow[state[2]]) & two:
                        if not (both := a.letters[x] & a.letters[z]):
                            continue
                        for y in set(a.follow[state[1]]):
                            if y in reached and (common := both & a.letters[y]):
                                yield (x, y, z), _char(common)

            word = _path(((s, c) for s, c in follow((p, p, q))), lambda s, p=p, q=q: s == (p, q, q), follow)
            if word:
                yield p, word
                return


def attacks(pattern: re.Pattern[str]) -> Iterator[Attack]:
    """Texts whose characters the loops of a pattern can divide among themselves in many ways."""
    automaton = Automaton(pattern)

    def follow(p: int) -> Iterator[tuple[int, str]]:
        return ((q, _char(automaton.letters[q])) for q in set(automaton.follow[p]))

    seen = set()
    for at, word in _words(automaton):
        starts = [(p, _char(automaton.letters[p])) for p in automaton.start]
        start = _path(starts, lambda s, at=at: s == at, follow) or ""
        if (start, word) not in seen:
            seen.add((start, word))
            yield from (Attack(start, word, end) for end in _ENDS)
