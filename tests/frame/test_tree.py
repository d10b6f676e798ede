"""What holds for every file: packages export what they say, no file knows a machine, SQL is parsed in one place."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import re
import subprocess
from pathlib import Path

import pytest

from eval.version import VERSION

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
    import tomllib

    files = (ROOT / "pyproject.toml", ROOT / "lab/pyproject.toml")
    projects = [tomllib.loads(file.read_text())["project"] for file in files]
    pinned = {line.split("==")[0] for line in (ROOT / "constraints.txt").read_text().splitlines()}
    extras = [extra for project in projects for extra in project["optional-dependencies"].values()]
    wanted = [r for several in (*(project["dependencies"] for project in projects), *extras) for r in several]

    names = {re.match(r"[A-Za-z0-9._-]+", requirement)[0] for requirement in wanted}  # type: ignore[index]
    assert {name.lower().replace("_", "-") for name in names} - {"askwell", "askwell-lab"} <= pinned


def test_the_lab_belongs_to_this_version() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "lab/pyproject.toml").read_text())["project"]

    assert project["version"] == VERSION
    assert f"askwell=={VERSION}" in project["dependencies"]


def test_sql_is_parsed_in_one_place() -> None:
    """A query that may run is parsed by eval.sql alone; the others named here parse what they do not run: texts to
    compare, demo schemas, and the samples that correctness is fitted on."""
    allowed = {"eval/sql/", "eval/metrics/", "eval/tasks/", "experiments/judge/samples.py"}
    parsers = {"parse", "parse_one", "maybe_parse", "transpile", "tokenize"}
    offences = []
    for path in tracked():
        name = path.relative_to(ROOT).as_posix()
        if path.suffix != ".py" or not name.startswith(("agent/", "eval/")) or name.startswith(tuple(allowed)):
            continue
        tree = ast.parse(path.read_text())
        from_sqlglot = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sqlglot")
            for alias in node.names
        }
        offences += [
            f"{name}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and (
                (isinstance(node.func, ast.Name) and node.func.id in parsers & from_sqlglot)
                or (
                    isinstance(node.func, ast.Attribute)
                    and node.func.attr in parsers
                    and isinstance(node.func.value, ast.Name)
                    and node.func.value.id == "sqlglot"
                )
            )
        ]

    assert offences == []


def test_langgraph_finds_the_compiled_graph() -> None:
    """As its command line does: the path from langgraph.json, loaded as a file, must hold a compiled graph."""
    from langgraph.pregel import Pregel

    config = json.loads((ROOT / "langgraph.json").read_text())
    assert config["dependencies"] == ["."]
    for name, target in config["graphs"].items():
        file, attribute = target.split(":")
        spec = importlib.util.spec_from_file_location(f"studio_{name}", ROOT / file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert isinstance(getattr(module, attribute), Pregel)
