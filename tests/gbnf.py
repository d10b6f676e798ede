"""Whether a text is in the language of a GBNF grammar, as llama.cpp defines it: `Grammar(text).accepts("…")`.

It knows what our grammars are written in: literals, character classes, groups, `? * + {m,n}`, and no left recursion.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

_TOKEN = re.compile(
    r"""(?P<literal>"(?:\\.|[^"\\])*") | (?P<chars>\[(?:\\.|[^\]\\])*\]) | (?P<times>[?*+]|\{\d+(?:,\d*)?\}) |
    (?P<name>[A-Za-z][A-Za-z0-9-]*) | (?P<mark>[()|]) | \s+""",
    re.VERBOSE,
)
Node = tuple[Any, ...]
"""("any", nodes), ("all", nodes), ("times", node, least, most), ("rule", name), ("literal", text), ("chars", regex)."""


class Grammar:
    def __init__(self, text: str) -> None:
        """Raises ValueError for what is no GBNF, or names a rule that is not there."""
        self._rules: dict[str, Node] = {}
        for line in text.splitlines():
            name, assigned, body = line.partition(" ::= ")
            if not assigned or name in self._rules:
                raise ValueError(f"not one rule: {line}")
            tokens = _tokens(body)
            self._rules[name] = _alternatives(tokens)
            if tokens:
                raise ValueError(f"left over in {name}: {tokens}")
        if unknown := {n for rule in self._rules.values() for n in _named(rule)} - self._rules.keys():
            raise ValueError(f"no such rules: {unknown}")

    def accepts(self, text: str) -> bool:
        @cache
        def ends(name: str, start: int) -> frozenset[int]:
            return frozenset(after(self._rules[name], start))

        def after(node: Node, start: int) -> set[int]:
            kind, of = node[0], node[1]
            if kind == "rule":
                return set(ends(str(of), start))
            if kind == "literal":
                return {start + len(str(of))} if text.startswith(str(of), start) else set()
            if kind == "chars":
                return {start + 1} if re.compile(str(of)).match(text, start) else set()
            if kind == "any":
                return {end for one in of for end in after(one, start)}
            if kind == "all":
                places = {start}
                for one in of:
                    places = {end for place in places for end in after(one, place)}
                return places
            least, most = int(str(node[2])), int(str(node[3]))
            places, reached = {start}, {start} if least == 0 else set()
            for count in range(1, most + 1):
                places = {end for place in places for end in after(of, place)}
                if not places:
                    break
                if count >= least:
                    reached |= places
            return reached

        return len(text) in ends("root", 0)


def _tokens(body: str) -> list[tuple[str, str]]:
    tokens, place = [], 0
    while place < len(body):
        match = _TOKEN.match(body, place)
        if match is None:
            raise ValueError(f"no GBNF: {body[place:]}")
        if match.lastgroup:
            tokens.append((match.lastgroup, match[match.lastgroup]))
        place = match.end()
    return tokens


def _alternatives(tokens: list[tuple[str, str]]) -> Node:
    several = [_sequence(tokens)]
    while tokens and tokens[0] == ("mark", "|"):
        tokens.pop(0)
        several.append(_sequence(tokens))
    return ("any", several)


def _sequence(tokens: list[tuple[str, str]]) -> Node:
    parts: list[Node] = []
    while tokens and tokens[0] not in (("mark", "|"), ("mark", ")")):
        kind, text = tokens.pop(0)
        if kind == "mark":
            parts.append(_alternatives(tokens))
            if not tokens or tokens.pop(0) != ("mark", ")"):
                raise ValueError("a group is not closed")
        elif kind == "times":
            parts.append(("times", parts.pop(), *_bounds(text)))
        elif kind == "literal":
            parts.append(("literal", re.sub(r"\\(.)", r"\1", text[1:-1])))
        else:
            parts.append((kind if kind == "chars" else "rule", text))
    return ("all", parts)


def _bounds(text: str) -> tuple[int, int]:
    known = {"?": (0, 1), "*": (0, 1_000), "+": (1, 1_000)}
    if text in known:
        return known[text]
    least, comma, most = text[1:-1].partition(",")
    return int(least), int(most or 1_000) if comma else int(least)


def _named(node: Node) -> set[str]:
    if node[0] == "rule":
        return {str(node[1])}
    inner = [node[1]] if node[0] == "times" else node[1] if node[0] in ("any", "all") else []
    return {name for one in inner for name in _named(one)}
