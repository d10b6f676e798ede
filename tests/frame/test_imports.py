"""Who imports whom: no circle of imports anywhere, imports inside functions and for types included."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("text2sql", "text2sql_lab", "agent", "eval", "experiments", "prompts")
AGENT_FILES = {"__init__", "main", "batch", "lab", "runner", "events", "graph", "state", "config"}


def modules() -> dict[str, Path]:
    """Every module of the packages by its dotted name."""
    files = {}
    for package in PACKAGES:
        place = ROOT / "lab" if package == "text2sql_lab" else ROOT
        for file in (place / package).rglob("*.py"):
            parts = file.relative_to(place).with_suffix("").parts
            files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return files


def imported(file: Path, known: dict[str, Path]) -> Iterator[str]:
    """The modules of ours that a file names in an import. `from package import name` names the module `package.name`
    where there is one, and else the package."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = node.module or ""
            names = [f"{base}.{alias.name}" for alias in node.names]
            yield from (name if name in known else base for name in names if name in known or base in known)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_circle_of_imports(package: str) -> None:
    known = modules()
    graph = {
        name: {other for other in imported(file, known) if other != name}
        for name, file in known.items()
        if name.partition(".")[0] == package
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("circle of imports: " + " imports ".join(reversed(error.args[1])))


def test_a_package_above_is_never_imported_below() -> None:
    """Circles among the packages: experiments use text2sql, text2sql and the lab use agent, agent uses eval."""
    order = ("prompts", "eval", "agent", "text2sql", "text2sql_lab", "experiments")
    known = modules()
    wrong = [
        f"{name} imports {other}"
        for name, file in known.items()
        for other in imported(file, known)
        if order.index(other.partition(".")[0]) > order.index(name.partition(".")[0])
    ]

    assert wrong == []


def test_nothing_lies_loose_in_agent() -> None:
    assert {file.stem for file in (ROOT / "agent").glob("*.py")} == AGENT_FILES
