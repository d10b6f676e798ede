"""The Dockerfile and the compose file say what the project has: stages, settings, ports, and nothing runs as root."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.settings import PLACES

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())


@pytest.fixture(scope="module")
def dockerfile() -> str:
    return (ROOT / "Dockerfile").read_text()


def own(compose: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: service for name, service in compose["services"].items() if "build" in service}


def test_our_containers_are_hardened(compose: dict[str, Any]) -> None:
    assert {"server", "a2a"} <= own(compose).keys()
    for name, service in own(compose).items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name


def test_every_service_that_stays_up_has_a_health_check(compose: dict[str, Any], dockerfile: str) -> None:
    stages = dict(re.findall(r"^FROM \S+ AS (\w+)\n(.*?)(?=^FROM |\Z)", dockerfile, re.MULTILINE | re.DOTALL))
    for name, service in compose["services"].items():
        if service.get("restart") == "no":
            continue
        if "build" in service:
            assert "HEALTHCHECK" in stages[service["build"]["target"]], name
        else:
            assert service["healthcheck"]["test"], name


def test_ports_are_open_on_this_machine_only(compose: dict[str, Any]) -> None:
    ports = [port for service in compose["services"].values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_settings_named_there_exist(compose: dict[str, Any], dockerfile: str) -> None:
    known = PLACES.keys()
    named = set(re.findall(r"^\s+(TEXT2SQL_\w+)=|ENV (TEXT2SQL_\w+)=", dockerfile, re.MULTILINE))
    in_file = {name for pair in named for name in pair if name}
    in_compose = {
        name for service in own(compose).values() for name in service.get("environment", {}) if name.startswith("TEXT2")
    }
    assert in_file >= {"TEXT2SQL_STATE_DIR", "TEXT2SQL_CACHE_DIR", "TEXT2SQL_PAGE_DIR"}
    assert "TEXT2SQL_TOKENS" in in_compose
    assert (in_file | in_compose) <= known


def test_the_server_does_not_start_without_tokens(compose: dict[str, Any]) -> None:
    assert compose["services"]["server"]["environment"]["TEXT2SQL_TOKENS"].startswith("${TEXT2SQL_TOKENS:?")


def test_images_run_as_an_ordinary_user_and_leave_secrets_and_data_out(dockerfile: str) -> None:
    base = dockerfile.split(" AS base", 1)[1].split("\nFROM ", 1)[0]
    assert re.search(r"^USER 10001:10001$", base, re.MULTILINE)  # a number: Kubernetes can see that it is not root
    assert "USER root" not in dockerfile
    kept = (ROOT / ".dockerignore").read_text().splitlines()
    assert kept[0] == "*"
    assert not any(line.startswith("!.env") or line == "!tests" for line in kept)
