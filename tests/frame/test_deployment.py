"""The manifests for Kubernetes and the compose file of several servers: valid, hardened, in keeping with the server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.server.server_process import CLOSE_SECONDS

ROOT = Path(__file__).resolve().parents[2]
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
