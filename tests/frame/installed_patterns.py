"""Every regular expression of the installed code, and how long each takes on texts on which it may backtrack for long.

The texts feed the loops of a pattern with words that they can divide among themselves in many ways: samples of a loop's
body, drawn with one sign after the other, those of what stands between it and the next loop, and both in a row.

Run as a command in a process of its own (`python -m tests.frame.installed_patterns agent.parser …`), which prints one
line of JSON for each pattern that is too slow; so a pattern that never ends stops no test.
"""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from re import _constants as op
from re import _parser
from types import FrameType, ModuleType
from typing import Any

LENGTH = 2_000
"""Characters of a text; a question has at most as many."""
_SIGNS = "a 5,.-b'“é\n" + "".join(map(chr, range(33, 127)))
_TRIED = 6
"""Of the signs, so many have words of their own."""
_ENDS = ("\n!", "!", "", " zz5\x00")


@dataclass(frozen=True, slots=True)
class Attack:
    """A text of any length: a beginning, a word again and again, and an end at which most patterns fail."""

    start: str
    word: str
    end: str

    def __call__(self, length: int) -> str:
        return (self.start + self.word * (length // len(self.word) + 1))[: length - len(self.end)] + self.end


def _fits(kind: Any, value: Any, char: str, flags: int) -> bool:
    if kind is op.IN:
        negated = value[0][0] is op.NEGATE
        return negated != any(_fits(k, v, char, flags) for k, v in value if k is not op.NEGATE)
    if kind is op.RANGE:
        return bool(value[0] <= ord(char) <= value[1])
    if kind is op.CATEGORY:
        name = str(value).removeprefix("CATEGORY_").removeprefix("UNI_")
        base = {"DIGIT": char.isdigit(), "SPACE": char.isspace(), "WORD": char.isalnum() or char == "_"}
        return base[name.removeprefix("NOT_")] != name.startswith("NOT_")
    if kind in (op.LITERAL, op.NOT_LITERAL):
        return (kind is op.LITERAL) == (ord(char) == value)
    return char != "\n" or bool(flags & re.DOTALL)  # any


def _parts(nodes: Any, whole: bool) -> Iterator[tuple[Any, Any]]:
    """The signs of a short text that fits; `whole`: with all that may be left out, and the last of the branches."""
    for kind, value in nodes:
        if kind is op.BRANCH:
            yield from _parts(value[1][-1 if whole else 0], whole)
        elif kind is op.SUBPATTERN:
            yield from _parts(value[3], whole)
        elif kind is op.ATOMIC_GROUP:
            yield from _parts(value, whole)
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            for _ in range(max(value[0], int(whole))):
                yield from _parts(value[2], whole)
        elif kind in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
            yield kind, value


def _sample(nodes: Any, flags: int, sign: str, whole: bool = False) -> str:
    """A text that fits, of this sign wherever it may stand."""
    return "".join(next((c for c in (sign, *_SIGNS) if _fits(*part, c, flags)), sign) for part in _parts(nodes, whole))


def _loops(nodes: Any, before: list[Any], after: list[Any]) -> Iterator[tuple[list[Any], Any, list[Any]]]:
    """What stands before each loop, its body, and what stands behind it."""
    nodes = list(nodes)
    for at, (kind, value) in enumerate(nodes):
        lead, rest = before + nodes[:at], nodes[at + 1 :] + after
        if kind is op.BRANCH:
            for branch in value[1]:
                yield from _loops(branch, lead, rest)
        elif kind is op.SUBPATTERN:
            yield from _loops(value[3], lead, rest)
        elif kind is op.ATOMIC_GROUP or (kind in (op.ASSERT, op.ASSERT_NOT) and value[0] > 0):
            yield from _loops(value if kind is op.ATOMIC_GROUP else value[1], lead, rest)
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            if value[1] > 1:
                yield lead, value[2], rest
            yield from _loops(value[2], lead, [*value[2], *rest] if value[1] > 1 else rest)


def attacks(pattern: re.Pattern[str]) -> Iterator[Attack]:
    """Texts whose characters the loops of a pattern can divide among themselves in many ways."""
    parsed, flags, seen = _parser.parse(pattern.pattern, pattern.flags), pattern.flags, set()
    for before, body, after in _loops(parsed, [], []):
        start = _sample(before, flags, "a")
        repeats = (at for at, (kind, _) in enumerate(after) if kind in (op.MAX_REPEAT, op.MIN_REPEAT))
        between = after[: next(repeats, len(after))]
        for sign in _SIGNS[:_TRIED]:
            once, full, gap = (
                _sample(body, flags, sign),
                _sample(body, flags, sign, True),
                _sample(between, flags, sign),
            )
            for word in (once, full, gap, once + gap, once + full, start + full):
                key = ("" if word == start + full else start, word)
                if word and key not in seen:
                    seen.add(key)
                    yield from (Attack(*key, end) for end in _ENDS)


ROOT = Path(__file__).resolve().parents[2]
_SQUARE = re.compile(r"\d+x")
"""Its time grows with the square of the digits it reads: what the times of others are compared with."""
TIMES = 30
"""The most that a pattern may take for one text of 2,000 characters, in times of the square: some quarter of a second
on a usual core."""
_SHORT, _QUICK = 400, 0.004
"""A pattern that takes less for so many characters is far from the limit: its time grows with the square at most, or
it is so quick that the cube does no harm."""
_NAMES = ("compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")
_CALLS = {f"re.{name}" for name in _NAMES}
Patterns = dict[tuple[str, int], str]
"""Where each pattern with its flags was found."""


class _TooSlow(Exception):
    pass


def modules(packages: list[str]) -> Iterator[ModuleType]:
    """The modules of packages; those whose libraries are not installed are left out."""
    for name in packages:
        package = importlib.import_module(name)
        yield package
        for found in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{name}."):
            if not found.name.endswith("__main__"):
                try:
                    yield importlib.import_module(found.name)
                except ImportError:
                    continue


def compiled_at_import(packages: list[str]) -> tuple[list[ModuleType], Patterns]:
    """The modules, and the patterns that they compile when they are imported."""
    found: Patterns = {}
    original: Callable[..., re.Pattern[str]] = re._compile

    def noted(pattern: Any, flags: int) -> re.Pattern[str]:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and (place := _place(frame.f_code.co_filename)) is None:
            frame = frame.f_back if "/re/" in frame.f_code.co_filename else None
        if frame is not None and isinstance(pattern, str) and not isinstance(pattern, re.Pattern):
            found.setdefault((pattern, int(flags)), f"{place}:{frame.f_lineno}")
        return original(pattern, flags)

    re._compile = noted
    try:
        return list(modules(packages)), found
    finally:
        re._compile = original


def _place(file: str) -> str | None:
    path = Path(file)
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) and ".venv" not in path.parts else None


def compiled_when_needed(module: ModuleType) -> Iterator[str]:
    """The patterns of a module's rules, which are not compiled before a question needs them."""
    for value in vars(module).values():
        patterns = getattr(value, "patterns", ())
        yield from (p for p in patterns if isinstance(p, str)) if isinstance(patterns, tuple) else ()


def compiled_in_functions(module: ModuleType) -> Patterns:
    """The patterns in the calls of a module, by its syntax tree; a name that only a function knows stands for `x`."""
    found: Patterns = {}
    if not (file := getattr(module, "__file__", None)) or (place := _place(file)) is None:
        return found
    for node in ast.walk(ast.parse(Path(file).read_text())):
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.func) in _CALLS:
            pattern = _value(node.args[0], module)
            values = [_value(arg, module) for arg in (*node.args[1:], *(k.value for k in node.keywords))]
            flags = next((value for value in values if isinstance(value, re.RegexFlag)), re.NOFLAG)
            if isinstance(pattern, str):
                found[pattern, int(flags)] = f"{place}:{node.lineno}"
    return found


class _Unknown(dict[str, Any]):
    def __missing__(self, name: str) -> Any:
        return getattr(__builtins__, name, None) if hasattr(__builtins__, name) else "x"


def _value(node: ast.expr, module: ModuleType) -> Any:
    """The value of an expression over the names of a module; None where it cannot be told."""
    try:
        return eval(compile(ast.Expression(node), "<pattern>", "eval"), _Unknown(vars(module)))  # its own source
    except Exception:  # noqa: BLE001 - what an expression may raise is not known
        return None


def collected(packages: list[str]) -> Patterns:
    """All patterns of packages."""
    loaded, found = compiled_at_import(packages)
    for module in loaded:
        for late in compiled_when_needed(module):
            found.setdefault((late, int(re.IGNORECASE)), _place(module.__file__ or "") or module.__name__)
        for key, place in compiled_in_functions(module).items():
            found.setdefault(key, place)
    return found


def slow(pattern: re.Pattern[str]) -> tuple[float, str] | None:
    """The slowest text's times of the square and its beginning, where they are too many."""
    worst = (0.0, "")
    for text in attacks(pattern):
        if _seconds(pattern, text(_SHORT)) >= _QUICK:
            square = min(_seconds(_SQUARE, "5" * LENGTH) for _ in range(2))
            worst = max(worst, (_seconds(pattern, text(LENGTH)) / square, text(80)))
    return worst if worst[0] > TIMES else None


def _seconds(pattern: re.Pattern[str], text: str) -> float:
    """Processor seconds of one search; it is stopped after two."""
    begun = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, 2.0)
    try:
        pattern.search(text)
    except _TooSlow:
        pass
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.process_time() - begun


def _stop(number: int, frame: FrameType | None) -> None:
    raise _TooSlow


def main(packages: list[str]) -> None:
    signal.signal(signal.SIGVTALRM, _stop)
    found = collected(packages)
    for (text, flags), place in sorted(found.items(), key=lambda item: item[1]):
        try:
            pattern = re.compile(text, flags)
        except re.error:
            continue
        if (worst := slow(pattern)) is not None:
            print(json.dumps({"at": place, "times": round(worst[0], 2), "text": worst[1]}), flush=True)
    print(json.dumps({"patterns": len(found)}))


if __name__ == "__main__":
    main(sys.argv[1:])
