"""How a participant wants to be called: what its agent card says, and the messages of each protocol version.

In: an agent card; a task; a reply. Out: an `Interface`; a request; a task's state, id and parts. Protocol 1.0 (JSON-RPC
and HTTP+JSON) and 0.3 (JSON-RPC) are spoken. Pure functions; nothing raises on what a participant said.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

_OUTPUT = ["application/json", "text/plain"]


@dataclass(frozen=True, slots=True)
class Interface:
    url: str
    version: Literal["1.0", "0.3"] = "0.3"
    binding: Literal["JSONRPC", "HTTP+JSON"] = "JSONRPC"

    @property
    def headers(self) -> dict[str, str]:
        return {"A2A-Version": self.version} if self.version == "1.0" else {}

    def send(self, task: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The method that sends a task, and its parameters."""
        text, message_id = json.dumps(task, ensure_ascii=False), uuid.uuid4().hex
        if self.version == "1.0":
            sent: dict[str, Any] = {"messageId": message_id, "role": "ROLE_USER", "parts": [{"text": text}]}
            return "SendMessage", {"message": sent, "configuration": {"acceptedOutputModes": _OUTPUT}}
        part = {"kind": "text", "text": text}
        sent = {"kind": "message", "role": "user", "messageId": message_id, "parts": [part]}
        return "message/send", {"message": sent, "configuration": {"blocking": True, "acceptedOutputModes": _OUTPUT}}

    @property
    def get(self) -> str:
        return "GetTask" if self.version == "1.0" else "tasks/get"


def interface_in(card: Mapping[str, Any], participant_url: str) -> Interface | None:
    """The interface to use, on the host that the user named; None where the card has none that is spoken here.

    1.0 is preferred to 0.3, and JSON-RPC to HTTP+JSON.
    """
    interfaces = [*_of_1_0(card), *_of_0_3(card)]
    best = min(interfaces, key=lambda one: (one.binding != "JSONRPC", one.version != "1.0"), default=None)
    if best is None:
        return None
    # The path that a card says, on the participant's host. A participant that is reached below a path, through
    # a proxy that does not rewrite its card, keeps that path in front
    here = urlsplit(participant_url)
    try:
        there = urlsplit(best.url)
        path, elsewhere = there.path, there.netloc != here.netloc
    except ValueError:
        path, elsewhere = "/", True
    path = path if path.startswith("/") else f"/{path}"
    base = here.path.rstrip("/")
    if elsewhere and base and path != base and not path.startswith(f"{base}/"):
        path = base + path
    return Interface(f"{here.scheme}://{here.netloc}{path}", best.version, best.binding)


def _of_1_0(card: Mapping[str, Any]) -> Iterator[Interface]:
    """The entries of `supportedInterfaces`, each with its own version."""
    for entry in _maps(card.get("supportedInterfaces")):
        binding = str(entry.get("protocolBinding") or entry.get("transport")).upper()
        old = str(entry.get("protocolVersion") or "1.0").startswith("0.")
        if not isinstance(entry.get("url"), str):
            continue
        if binding == "JSONRPC":
            yield Interface(entry["url"], "0.3" if old else "1.0")
        elif binding == "HTTP+JSON" and not old:
            yield Interface(entry["url"], "1.0", "HTTP+JSON")


def _of_0_3(card: Mapping[str, Any]) -> Iterator[Interface]:
    """The one `url` with its transport, and the additional ones."""
    if isinstance(card.get("url"), str) and str(card.get("preferredTransport", "JSONRPC")).upper() == "JSONRPC":
        yield Interface(card["url"])
    for entry in _maps(card.get("additionalInterfaces")):
        if str(entry.get("transport")).upper() == "JSONRPC" and isinstance(entry.get("url"), str):
            yield Interface(entry["url"])


def task_in(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """The task or the message of a result; 1.0 wraps it in an object."""
    return next((result[key] for key in ("task", "message") if isinstance(result.get(key), Mapping)), result)


def state(task: Mapping[str, Any]) -> str:
    """A task's state in the notation of 0.3 (`input-required`); empty for a message."""
    status = task.get("status")
    name = str(status.get("state", "")) if isinstance(status, Mapping) else ""
    return name.removeprefix("TASK_STATE_").lower().replace("_", "-")


def parts(task: Mapping[str, Any]) -> list[Any]:
    """All parts of a task or a message: artifacts first, then the message of its status, then its own."""
    status = task.get("status")
    reply = status.get("message") if isinstance(status, Mapping) else None
    contents: list[Any] = []
    for holder in (*_maps(task.get("artifacts")), *([reply] if isinstance(reply, Mapping) else []), task):
        for part in _maps(holder.get("parts")):
            content = part.get("data", part.get("text"))
            if isinstance(content, Mapping | str):
                contents.append(content)
    return contents


def _maps(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
