"""What the process that reads an upload can reach."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path

import pytest

from eval.databases.isolation.workers import Workers


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux confines files")
def test_a_reader_that_was_taken_over_reaches_its_own_files_alone(tmp_path: Path) -> None:
    work, secret = tmp_path / "work", tmp_path / "secret"
    work.mkdir()
    (work / "a.csv").write_text("a\n1\n")
    secret.write_text("s")
    workers = Workers()
    with socket.create_server(("127.0.0.1", 0)) as home:
        job = {
            "files": [[str(work / "a.csv"), "a.csv"]], "kinds": ["delimited"], "out": str(work / "out"),
            "secret": str(secret), "port": home.getsockname()[1],
        }  # fmt: skip
        try:
            with workers.run("tests.agent.sources.taken_over") as child, child.makefile() as told:
                child.sendall(json.dumps(job).encode())
                child.shutdown(socket.SHUT_WR)
                number, could = told.read().splitlines()
        finally:
            workers.close()
    assert int(number) > 0
    assert json.loads(could) == ["reads its file", "writes its folder"]


def test_a_module_that_cannot_be_run_costs_its_own_caller_only() -> None:
    workers = Workers()
    try:
        for name in ("tests.agent.sources.nowhere", "json"):
            with workers.run(name) as child:
                assert child.recv(1) == b""
        with workers.run("agent.sources.upload_child") as child, child.makefile() as told:
            assert int(told.readline()) > 0
    finally:
        workers.close()
