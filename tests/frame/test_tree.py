"""What holds for every file: no circle of imports, no file knows a machine, SQL is parsed in one place; and `text2sql`,
the module for programs, is cheap to import and documented."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import json
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import text2sql
from eval.version import VERSION
from text2sql import errors, testing

ROOT = Path(__file__).resolve().parents[2]


def tracked() -> list[Path]:
    """The files of the project: those that git knows, or all but the ignored ones outside a checkout."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [path for name in listed.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]


def test_no_file_knows_the_machine_it_was_written_on() -> None:
    home = re.compile(rb"(?<![\w.])/(?:home|root|Users|work)/[\w.-]+/")
    own = Path(__file__)

    offences = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked()
        if path != own and path.suffix not in {".png", ".svg", ".ico"}
        for number, line in enumerate(path.read_bytes().splitlines(), 1)
        if home.search(line)
    ]

    assert offences == []


def test_every_dependency_is_pinned() -> None:
    files = (ROOT / "pyproject.toml", ROOT / "lab/pyproject.toml")
    projects = [tomllib.loads(file.read_text())["project"] for file in files]
    pinned = {line.split("==")[0] for line in (ROOT / "constraints.txt").read_text().splitlines()}
    extras = [extra for project in projects for extra in project["optional-dependencies"].values()]
    wanted = [r for several in (*(project["dependencies"] for project in projects), *extras) for r in several]

    names = {re.match(r"[A-Za-z0-9._-]+", requirement)[0] for requirement in wanted}  # type: ignore[index]
    assert {name.lower().replace("_", "-") for name in names} - {"askwell", "askwell-lab"} <= pinned


def test_the_lab_belongs_to_this_version() -> None:
    project = tomllib.loads((ROOT / "lab/pyproject.toml").read_text())["project"]

    assert project["version"] == VERSION
    assert f"askwell=={VERSION}" in project["dependencies"]


def test_sql_is_parsed_in_one_place() -> None:
    """A query that may run is parsed by eval.sql alone; the others named here parse what they do not run: texts to
    compare, and demo schemas."""
    allowed = ("eval/sql/", "eval/metrics/", "eval/tasks/")
    parsers = r"\b(?:parse|parse_one|maybe_parse|transpile|tokenize)\b"
    parsing = re.compile(rf"^from sqlglot\S* import (?:\([^)]*|.*){parsers}|\bsqlglot\.{parsers}\(", re.MULTILINE)
    texts = {
        name: path.read_text()
        for path in tracked()
        if (name := path.relative_to(ROOT).as_posix()).startswith(("agent/", "eval/")) and path.suffix == ".py"
    }

    assert [name for name, text in texts.items() if parsing.search(text) and not name.startswith(allowed)] == []
    assert any(parsing.search(text) for text in texts.values())


def test_langgraph_finds_the_compiled_graph() -> None:
    """As its command line does: the path from langgraph.json, loaded as a file, must hold a compiled graph."""
    from langgraph.pregel import Pregel

    config = json.loads((ROOT / "langgraph.json").read_text())
    assert config["dependencies"] == ["."]
    for name, target in config["graphs"].items():
        file, attribute = target.split(":")
        spec = importlib.util.spec_from_file_location(f"studio_{name}", ROOT / file)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert isinstance(getattr(module, attribute), Pregel)


PACKAGES = ("text2sql", "text2sql_lab", "agent", "eval", "experiments", "prompts")


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


def test_nothing_lies_loose_in_agent() -> None:
    files = {"__init__", "main", "batch", "lab", "runner", "events", "graph", "state", "config"}
    assert {file.stem for file in (ROOT / "agent").glob("*.py")} == files


def test_the_documented_names_are_the_public_ones() -> None:
    page = (ROOT / "docs/python.md").read_text()

    assert sorted(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == sorted(text2sql.__all__)
    assert all(f"`{name}`" in page for name in testing.__all__)
    for name in text2sql.__all__:
        assert getattr(text2sql, name) is not None


def test_importing_it_loads_no_implementation() -> None:
    program = "import sys, text2sql; print(sorted(m for m in sys.modules if m.split('.')[0] in {'agent', 'pydantic'}))"

    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_every_exception_derives_from_the_root_and_no_two_share_a_name() -> None:
    packages = [importlib.import_module(name) for name in ("text2sql", "agent", "eval")]
    found = [module.name for one in packages for module in pkgutil.walk_packages(one.__path__, f"{one.__name__}.")]
    classes = {
        f"{name}.{class_name}": value
        for name in found
        if not name.endswith("__main__")
        for class_name, value in inspect.getmembers(importlib.import_module(name), inspect.isclass)
        if issubclass(value, BaseException) and value.__module__ == name
    }
    assert len(classes) > 20
    assert [name for name, class_ in classes.items() if not issubclass(class_, errors.Text2SQLError)] == []
    names = [name.rpartition(".")[2] for name in classes]
    assert sorted({name for name in names if names.count(name) > 1 and not name.startswith("_")}) == []
