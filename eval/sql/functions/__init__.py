"""The functions that a query may call, by dialect: plain lists in `{dialect}.txt` next to this file, read once.

The guard checks whether a name is on the list; references check whether its number of arguments is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from eval.schema import Dialect

__all__ = ["Function", "FunctionKind", "functions"]

FunctionKind = Literal["scalar", "aggregate", "window", "table"]


@dataclass(frozen=True, slots=True)
class Function:
    """One built-in function; `most` is None when any number of arguments is accepted."""

    name: str
    kind: FunctionKind
    fewest: int
    most: int | None

    def accepts(self, count: int) -> bool:
        return self.fewest <= count and (self.most is None or count <= self.most)

    @property
    def form(self) -> str:
        """The form of the call, for people: `round(a[, b])`."""
        names = "abcdefghijklmnopqrstuvwxyz"
        needed = ", ".join(names[: self.fewest])
        if self.most is None:
            return f"{self.name}({needed}{', ' if needed else ''}...)"
        optional = "".join(
            f"[{', ' if i else ''}{names[i]}" for i in range(self.fewest, min(self.most, len(names)))
        ) + "]" * (min(self.most, len(names)) - self.fewest)
        return f"{self.name}({needed}{optional})"


@cache
def functions(dialect: Dialect) -> dict[str, Function]:
    """All functions of a dialect by lower-case name."""
    text = files(__package__).joinpath(f"{dialect}.txt").read_text(encoding="utf-8")
    by_name: dict[str, Function] = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            name, kind, fewest, most = line.split()
            by_name[name] = Function(name, kind, int(fewest), None if most == "*" else int(most))  # type: ignore[arg-type]
    return by_name
