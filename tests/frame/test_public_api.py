"""`text2sql` is the module for programs: it is cheap to import, documented, and starts the same command line."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import text2sql
from text2sql import errors, testing

ROOT = Path(__file__).resolve().parents[2]


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
