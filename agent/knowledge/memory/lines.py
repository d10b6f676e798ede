"""Files of a team's memory as records with their line numbers: JSON lines and YAML.

In: a path. Out: `(line, record)` pairs, or `BadMemory` that names the file, the line and the reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from eval.errors import InputError

MAX_BYTES = 20_000_000
Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem at one line of a file."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


class BadMemory(InputError):
    """A file of examples or terms cannot be used; the message names the line and the reason of each problem."""

    def __init__(self, path: Path, problems: list[Problem]) -> None:
        super().__init__("\n".join(f"{path.name}, {problem}" for problem in problems[:20]))
        self.problems = problems


def all_good(path: Path, read: Iterable[Read | Problem]) -> list[Read]:
    """What was read of a file. Raises BadMemory with all its problems."""
    good: list[Read] = []
    problems: list[Problem] = []
    for one in read:
        if isinstance(one, Problem):
            problems.append(one)
        else:
            good.append(one)
    if problems:
        raise BadMemory(path, problems)
    return good


def kept_while_unchanged(read: Callable[[Path], Read]) -> Callable[[Path], Read]:
    """The same function, which reads a file again only when it has changed. Raises BadMemory for a file that cannot be
    read."""
    kept = lru_cache(maxsize=64)(lambda path, _: read(path))

    def current(path: Path) -> Read:
        try:
            state = path.stat()
        except OSError as error:
            raise BadMemory(path, [Problem(1, f"the file cannot be read: {error.strerror}")]) from None
        return kept(path, (state.st_size, state.st_mtime_ns))

    return current


def text_of(path: Path) -> str:
    """The file's text. Raises BadMemory for a file that cannot be read, is not UTF-8 or is too long."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadMemory(path, [Problem(1, f"the file is larger than {MAX_BYTES // 1_000_000} MB")])
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadMemory(path, [Problem(1, f"the file cannot be read: {error.strerror}")]) from None
    except UnicodeDecodeError as error:
        raise BadMemory(path, [Problem(1, f"the file is no UTF-8: {error.reason}")]) from None


def json_lines(path: Path) -> list[tuple[int, Any]]:
    """One record per line; empty lines are skipped."""

    def read(number: int, line: str) -> tuple[int, Any] | Problem:
        try:
            return number, json.loads(line)
        except (ValueError, RecursionError) as error:
            return Problem(number, f"no JSON object: {error}")

    lines = enumerate(text_of(path).splitlines(), 1)
    return all_good(path, (read(number, line) for number, line in lines if line.strip()))


@dataclass(frozen=True, slots=True)
class Node:
    """A piece of YAML with the line that it begins on."""

    line: int
    value: str | tuple[Node, ...] | dict[str, Node] | None

    def plain(self) -> Any:
        if isinstance(self.value, tuple):
            return [one.plain() for one in self.value]
        if isinstance(self.value, dict):
            return {name: one.plain() for name, one in self.value.items()}
        return self.value


def yaml_node(path: Path) -> Node:
    """The document of a YAML file. Every scalar stays text, so that `no` does not become a boolean, nor a date a date
    object. Anchors and aliases are refused: a few of them can expand to gigabytes."""
    import yaml

    text = text_of(path)
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise BadMemory(path, [Problem(event.start_mark.line + 1, "aliases (`*name`) are not taken")])
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise BadMemory(path, [Problem(line, f"no YAML: {error.problem}")]) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise BadMemory(path, [Problem(1, f"no YAML: {' '.join(str(error).split())[:200]}")]) from None
    return _node(root, path) if root is not None else Node(1, None)


def _node(node: Any, path: Path) -> Node:
    line = node.start_mark.line + 1
    if node.id == "sequence":
        return Node(line, tuple(_node(one, path) for one in node.value))
    if node.id == "mapping":
        entries: dict[str, Node] = {}
        for key, value in node.value:
            name = str(key.value)
            if key.id != "scalar" or name in entries:
                raise BadMemory(path, [Problem(key.start_mark.line + 1, f"{name!r} appears twice")])
            entries[name] = _node(value, path)
        return Node(line, entries)
    return Node(line, None if node.tag.endswith(":null") else str(node.value))
