"""The description of the API is true: what it promises is answered, and nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.agent.server.running import Running

EXAMPLES = int(os.environ.get("TEXT2SQL_TEST_EXAMPLES", "6"))
"""Requests for each operation; more of them on demand."""
REJECTED = """[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 414, 415, 422, 428, 429, 431, "5xx"]
"""
"""A list that is too long for its schema may also make a body that is too large."""
KNOWN = """[parameters]
"path.run_id" = "{run_id}"
"path.preset_id" = "shop"
"path.table" = "customers"
"path.column" = "city"
"""
"""Ids that are made up lead to 404."""
CONFORMANCE = ("status_code", "content_type", "response_schema", "response_headers")


def schemathesis(server: Running, folder: Path, *options: str) -> None:
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json", "--continue-on-failure"]
    command += ["--max-examples", str(EXAMPLES), "--seed", "1", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
    assert server.get("/health").status_code == 200


def test_schemathesis_finds_nothing_that_differs_from_the_description(server: Running, tmp_path: Path) -> None:
    """All its checks: what is valid is accepted, what is not is refused, and `Allow` names every method. No schema says
    which bytes are a file that can be read, so uploads are left out."""
    (tmp_path / "schemathesis.toml").write_text(REJECTED)
    phases = "examples,coverage,fuzzing"
    schemathesis(server, tmp_path, "--checks", "all", "--phases", phases, "--exclude-path", "/databases/upload")


def test_of_what_is_there_no_answer_differs_from_the_description(server: Running, tmp_path: Path) -> None:
    (tmp_path / "schemathesis.toml").write_text(KNOWN.format(run_id=server.ask("How many customers are there?").run_id))
    checks = ",".join(["not_a_server_error", *(f"{name}_conformance" for name in CONFORMANCE)])
    paths = ["--include-path-regex", "{(run|preset)_id}"]
    schemathesis(server, tmp_path, "--checks", checks, "--phases", "coverage,fuzzing", *paths)
