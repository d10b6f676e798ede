"""What may be in a request to a model."""

from __future__ import annotations

import dataclasses
import inspect
import typing

import pytest

from agent.models import protocol
from eval.databases.base import Database
from eval.databases.types import ExecutionResult

REQUESTS = [
    kind
    for name, kind in vars(protocol).items()
    if inspect.isclass(kind) and name.endswith("Request") and dataclasses.is_dataclass(kind)
]


def test_there_is_a_request_for_each_call() -> None:
    assert len(REQUESTS) == 6


@pytest.mark.parametrize("request_type", REQUESTS, ids=lambda kind: kind.__name__)
def test_a_request_holds_no_open_database(request_type: type) -> None:
    for name, hint in typing.get_type_hints(request_type, localns={"ExecutionResult": ExecutionResult}).items():
        parts = [hint, *typing.get_args(hint)]
        assert not any(inspect.isclass(part) and issubclass(part, Database) for part in parts), name
