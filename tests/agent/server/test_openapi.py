"""The description of the API is true: what it promises is answered, and nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.specs.openapi.schemas import OpenApiSchema

from agent.server.app import create_app
from tests.agent.server.running import Running, settings_for
from tests.pairs import FIXTURES

EXAMPLES = int(os.environ.get("TEXT2SQL_TEST_EXAMPLES", "6"))
"""Requests for each operation; more of them on demand."""


def described(tmp: Any) -> dict[str, Any]:
    return create_app(settings_for(tmp)).openapi()


REJECTED = """[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 414, 415, 422, 428, 429, 431, "5xx"]
"""
"""A list that is too long for its schema may also make a body that is too large."""


def test_schemathesis_finds_nothing_that_differs_from_the_description(server: Running, tmp_path: Any) -> None:
    """All its checks: what is valid is accepted, what is not is refused, and `Allow` names every method. No schema says
    which bytes are a file that can be read, so uploads are left to the next test."""
    (tmp_path / "schemathesis.toml").write_text(REJECTED)
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json", "--checks", "all"]
    options = ["--max-examples", str(EXAMPLES), "--seed", "1", "--phases", "examples,coverage,fuzzing"]
    options += ["--exclude-path", "/databases/upload"]

    done = subprocess.run([*command, *options, "--continue-on-failure"], cwd=tmp_path, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr


PATHS = (FIXTURES / "server/operations.txt").read_text(encoding="utf-8")
"""Each with its methods."""
_WORDS = PATHS.split()
OPERATIONS = [(m, path) for path, methods in zip(_WORDS[::2], _WORDS[1::2], strict=True) for m in methods.split("|")]


def test_every_operation_is_listed_here(tmp_path: Any) -> None:
    operations = {(m.upper(), path) for path, item in described(tmp_path)["paths"].items() for m in item}

    assert operations == set(OPERATIONS)


@pytest.fixture(scope="module")
def schema(server: Running) -> OpenApiSchema:
    return schemathesis.openapi.from_url(f"{server.url}/openapi.json")


@pytest.fixture(scope="module")
def run_id(server: Running) -> str:
    """A run that has ended."""
    return server.ask("How many customers are there?").run_id


OF_WHAT_IS_THERE = [
    (method, path)
    for method, path in OPERATIONS
    if path == "/databases/upload" or any(f"{{{name}}}" in path for name in ("run_id", "preset_id", "table", "column"))
]
"""Operations for which the run above would have to guess an id, and the one that it leaves out."""


@pytest.mark.parametrize(("method", "path"), OF_WHAT_IS_THERE, ids=lambda v: str(v))
def test_no_fault_and_no_status_that_is_not_described(
    server: Running, schema: OpenApiSchema, run_id: str, method: str, path: str
) -> None:
    """Requests that fit the description, and requests that do not, made up at random."""
    known = {"run_id": run_id, "preset_id": "shop", "table": "customers", "column": "city"}

    operation = schema[path][method]
    cases = operation.as_strategy() | operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE)

    @given(case=cases)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
        derandomize=EXAMPLES < 50,
    )
    def check(case: schemathesis.Case[Any]) -> None:
        for attempt in (False, True):  # ids that are made up lead to 404; the second time they are there
            if attempt:
                if not isinstance(case.path_parameters, dict) or not set(case.path_parameters) & set(known):
                    return
                if method == "DELETE":
                    return
                case.path_parameters = {k: known.get(k, v) for k, v in case.path_parameters.items()}
            response = case.call(timeout=60)
            assert response.status_code < 500 or response.status_code in (501, 503), response.text
            case.validate_response(
                response,
                checks=[
                    status_code_conformance,
                    content_type_conformance,
                    response_schema_conformance,
                    response_headers_conformance,
                ],
            )

    check()
    assert httpx.get(f"{server.url}/health").status_code == 200
