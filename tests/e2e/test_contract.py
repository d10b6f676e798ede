"""What the page believes of the server's answers (frontend/src/api/*.ts), held against what the server says of them:
every field that the page reads is there, and may be null exactly where the page expects it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from agent.runner import Answer, Tokens
from agent.server.app import create_app
from agent.state import EvalReport, QueryPlan, QueryResult, QueryTask
from tests.agent.server.running import settings_for
from tests.pairs import rows

API = Path(__file__).resolve().parents[2] / "frontend" / "src" / "api"
EVENTS: dict[str, Any] = {
    "PlanTask": QueryTask,
    "Plan": QueryPlan,
    "EvalReport": EvalReport,
    "Attempt": QueryResult,
    "Tokens": Tokens,
    "Answer": Answer,
}
UNKNOWN = {"value", "min", "max", "Cell"}
"""Fields of any type, NULL included."""


def interfaces(file: str) -> dict[str, dict[str, str]]:
    """The page's types by name: their fields with what stands behind the colon; `?` in front when it may be absent."""
    text = re.sub(r"/\*\*.*?\*/", "", (API / file).read_text(), flags=re.DOTALL)
    by_name: dict[str, dict[str, str]] = {}
    for name, parent, body in re.findall(r"interface (\w+)(?: extends (\w+))? \{\n(.*?)\n\}", text, flags=re.DOTALL):
        fields = dict(by_name.get(parent, {}))
        for field, optional, kind in re.findall(r"^  (\w+)(\??): (.*?)[;{]?$", body, flags=re.MULTILINE):
            fields[field] = f"{optional}{kind}"
        by_name[name] = fields
    return by_name


def problems(fields: dict[str, str], schema: dict[str, Any]) -> list[str]:
    properties = schema["properties"]
    faults = [f"{field} is not there" for field in fields if field not in properties]
    for field, kind in fields.items():
        described = properties.get(field, {})
        nullable = described.get("type") == "null" or any(
            part.get("type") == "null" for part in described.get("anyOf", ())
        )
        anything = not {"type", "anyOf", "$ref", "enum", "const", "allOf"} & set(described)
        if field in properties and nullable and not anything and "null" not in kind and not kind.startswith("?"):
            faults.append(f"{field} may be null")
    return faults


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    described: dict[str, Any] = create_app(settings_for(tmp_path_factory.mktemp("contract"))).openapi()
    schemas: dict[str, Any] = described["components"]["schemas"]
    return schemas


@pytest.mark.parametrize(("ours", "theirs"), rows("page/contract.jsonl"))
def test_the_page_reads_what_the_server_sends(ours: str, theirs: str, schemas: dict[str, Any]) -> None:
    files = ("types.ts", "chartTypes.ts", "boardTypes.ts", "modelTypes.ts", "labTypes.ts", "scheduleTypes.ts")
    fields = {name: found for file in files for name, found in interfaces(file).items()}[ours]
    assert len(fields) >= 2
    assert problems(fields, schemas[theirs]) == []


@pytest.mark.parametrize("name", EVENTS)
def test_the_page_reads_what_a_run_tells(name: str) -> None:
    fields = interfaces("events.ts")[name]
    assert len(fields) > 2
    assert problems(fields, EVENTS[name].model_json_schema(mode="serialization")) == []
