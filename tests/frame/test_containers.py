"""Docker, compose and Kubernetes say what the project has: settings, ports, time to end, and nothing runs as root."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from agent.server.server_process import CLOSE_SECONDS
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


def test_ports_are_open_on_this_machine_only(compose: dict[str, Any]) -> None:
    ports = [port for service in compose["services"].values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def handed_on(service: dict[str, Any]) -> set[str]:
    """The settings that reach a container: by a file of bare names, or by an entry that reads the same name."""
    lines = [line for file in service.get("env_file", []) for line in (ROOT / file).read_text().splitlines()]
    assert not any("=" in line for line in lines if not line.startswith("#"))
    named = service.get("environment", {})
    read = {name for name, value in named.items() if value is None or str(value).startswith(f"${{{name}:")}
    return read | {line for line in lines if line and not line.startswith("#")}


def test_every_setting_reaches_the_server(compose: dict[str, Any], dockerfile: str) -> None:
    server = compose["services"]["server"]
    by_image = set(re.findall(r"(TEXT2SQL_\w+)=/", dockerfile))
    fixed = by_image | {name for name, value in server["environment"].items() if "@state:" in str(value)}

    assert handed_on(server) | fixed == PLACES.keys()
    assert handed_on(server).isdisjoint(fixed)
    assert fixed == {"TEXT2SQL_STATE_DIR", "TEXT2SQL_CACHE_DIR", "TEXT2SQL_PAGE_DIR", "TEXT2SQL_STATE_URL"}
    assert any(volume.endswith(":/config:ro") for volume in server["volumes"])


def test_the_agent_for_benchmarks_gets_the_models_settings_and_no_others_secrets(compose: dict[str, Any]) -> None:
    model = {name for name, (group, _, _) in PLACES.items() if group == "model"} - {"TEXT2SQL_PROMPT_LOG"}

    assert handed_on(compose["services"]["a2a"]) == model | {"TEXT2SQL_PRIVACY"}


def test_nothing_starts_without_tokens_and_passwords_of_ones_own(compose: dict[str, Any]) -> None:
    environment = compose["services"]["server"]["environment"]
    assert environment["TEXT2SQL_TOKENS"].startswith("${TEXT2SQL_TOKENS:?")
    assert "${POSTGRES_PASSWORD:?" in environment["TEXT2SQL_STATE_URL"]
    for name, service in compose["services"].items():
        for key, value in service.get("environment", {}).items():
            if "PASSWORD" in key:
                assert re.fullmatch(r"\$\{\w+(:-)?\}", value), (name, key)
        assert not re.search(r"://\w+:[^$@]+@", str(service)), name


def test_the_reader_of_the_samples_reads_and_does_nothing_else(postgres_url: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    script = "".join(
        line
        for line in (ROOT / "deploy/compose/samples.sql").read_text().splitlines(keepends=True)
        if not line.startswith("\\getenv")
    )
    role = f"reader_{urlsplit(postgres_url).path[1:]}"
    script = re.sub(r"\breader\b", role, script.replace(":'password'", "'secret'"))
    with psycopg.connect(postgres_url, autocommit=True) as owner:
        owner.execute(script.encode())
        owner.execute("CREATE TABLE loaded_later AS SELECT 1 AS n")
        reader = urlsplit(postgres_url)._replace(netloc=f"{role}:secret@127.0.0.1:{owner.info.port}").geturl()
        try:
            with psycopg.connect(reader, autocommit=True) as connection:
                assert connection.execute("SELECT n FROM loaded_later").fetchone() == (1,)
                connection.execute("SET default_transaction_read_only = off")
                for refused in (
                    "INSERT INTO loaded_later VALUES (2)",
                    "CREATE TABLE mine (n int)",
                    "CREATE SCHEMA mine",
                    "CREATE ROLE other",
                    "COPY loaded_later TO PROGRAM 'id'",
                ):
                    with pytest.raises(psycopg.errors.InsufficientPrivilege):
                        connection.execute(refused.encode())
        finally:
            owner.execute(f"DROP OWNED BY {role}; DROP ROLE {role}".encode())


def test_images_run_as_an_ordinary_user_and_leave_secrets_and_data_out(dockerfile: str) -> None:
    base = dockerfile.split(" AS base", 1)[1].split("\nFROM ", 1)[0]
    assert re.search(r"^USER 10001:10001$", base, re.MULTILINE)  # a number: Kubernetes can see that it is not root
    assert "USER root" not in dockerfile
    kept = (ROOT / ".dockerignore").read_text().splitlines()
    assert kept[0] == "*"
    assert not any(line.startswith("!.env") or line == "!tests" for line in kept)


MANIFESTS = ROOT / "deploy/kubernetes/text2sql.yaml"


class _Loader(yaml.SafeLoader):
    """Knows the tag by which a compose file takes back what an earlier one says."""


_Loader.add_constructor("!reset", lambda loader, node: [])


@pytest.fixture(scope="module")
def objects() -> dict[str, dict[str, Any]]:
    return {one["kind"]: one for one in yaml.safe_load_all(MANIFESTS.read_text())}


@pytest.fixture(scope="module")
def pod(objects: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return objects["Deployment"]["spec"]["template"]["spec"]


@pytest.fixture(scope="module")
def scaled() -> dict[str, Any]:
    return yaml.load((ROOT / "docker-compose.scale.yml").read_text(), _Loader)


@pytest.mark.parametrize("version", ["1.31", "1.37"])
def test_the_manifests_fit_the_schemas_of_kubernetes(version: str) -> None:
    validate = pytest.importorskip("kubernetes_validate")
    documents = list(yaml.safe_load_all(MANIFESTS.read_text()))

    for one in documents:
        validate.validate(one, version, strict=True)
    assert len(documents) == 6
    broken = {**documents[2], "spec": {**documents[2]["spec"], "replicas": "three"}}
    with pytest.raises(validate.ValidationError):
        validate.validate(broken, version, strict=True)


def test_the_pods_are_hardened_as_the_image_expects(pod: dict[str, Any]) -> None:
    [server] = pod["containers"]
    uid = int(re.search(r"useradd --uid (\d+)", (ROOT / "Dockerfile").read_text())[1])  # type: ignore[index]
    assert pod["securityContext"]["runAsUser"] == uid
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert server["securityContext"]["readOnlyRootFilesystem"] is True
    assert server["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    writable = {mount["mountPath"] for mount in server["volumeMounts"]}
    assert all(Path(one["value"]).parts[1] in {Path(w).parts[1] for w in writable} for one in server["env"])


def test_a_pod_has_time_to_finish_its_questions(objects: dict[str, dict[str, Any]], pod: dict[str, Any]) -> None:
    drain = float(objects["ConfigMap"]["data"]["TEXT2SQL_DRAIN_SECONDS"])
    [pause] = re.findall(r"sleep\((\d+)\)", str(pod["containers"][0]["lifecycle"]["preStop"]))

    assert pod["terminationGracePeriodSeconds"] >= int(pause) + drain + 2 * CLOSE_SECONDS + 5


def test_three_servers_stand_behind_one_balancer(scaled: dict[str, Any]) -> None:
    server, balancer = scaled["services"]["server"], scaled["services"]["balancer"]

    assert server["deploy"]["replicas"] == 3
    assert server["ports"] == []
    assert all(port.startswith("127.0.0.1:") for port in balancer["ports"])
    assert balancer["read_only"] is True
    assert balancer["cap_drop"] == ["ALL"]
    assert balancer["healthcheck"]["test"]
    file = balancer["volumes"][0].split(":")[0]
    config = (ROOT / file).read_text()
    assert config.count("{") == config.count("}")
    assert {"name server", "port 8000", "flush_interval -1"} <= {line.strip() for line in config.splitlines()}
    drain = int(re.search(r":-(\d+)", server["environment"]["TEXT2SQL_DRAIN_SECONDS"])[1])  # type: ignore[index]
    assert int(server["stop_grace_period"][:-1]) >= drain + 2 * CLOSE_SECONDS
