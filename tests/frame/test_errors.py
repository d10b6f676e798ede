"""Every exception of this project has one root, so that a program can catch all of them by it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType

from eval.errors import Text2SQLError


def exception_classes() -> dict[str, type[BaseException]]:
    """Every exception class that a module of the packages defines, by its full name."""
    return {
        f"{module.__name__}.{name}": value
        for package in map(importlib.import_module, ("text2sql", "agent", "eval"))
        for module in modules(package)
        for name, value in inspect.getmembers(module, inspect.isclass)
        if issubclass(value, BaseException) and value.__module__ == module.__name__
    }


def modules(package: ModuleType) -> list[ModuleType]:
    names = [module.name for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    return [importlib.import_module(name) for name in names if not name.endswith("__main__")]


def test_every_exception_derives_from_the_root() -> None:
    classes = exception_classes()

    assert len(classes) > 20
    assert [name for name, class_ in classes.items() if not issubclass(class_, Text2SQLError)] == []


def test_no_two_exceptions_share_a_name() -> None:
    names = [name.rpartition(".")[2] for name in exception_classes()]

    assert sorted({name for name in names if names.count(name) > 1 and not name.startswith("_")}) == []
