"""Participants: other people's servers, called over plain REST (`POST /generate`) or A2A, as their card says.

In: a name, a URL, a task as JSON. Out: always an `Answer`; a server that is down, slow, broken or hostile yields one
with a `failure`. A reply is read up to a size limit, and redirects are not followed. An agent card may say which path
to call, but never which host: only the user chooses the host. Of A2A, protocol 1.0 (JSON-RPC and HTTP+JSON) and 0.3
(JSON-RPC) are spoken.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import quote, urlsplit

import httpx

from eval.assessment.agent_replies import read_answer
from eval.assessment.records import Answer, Failure
from eval.errors import InputError, Text2SQLError

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
    best = min(_interfaces(card), key=lambda one: (one.binding != "JSONRPC", one.version != "1.0"), default=None)
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


def _interfaces(card: Mapping[str, Any]) -> Iterator[Interface]:
    """The entries of 1.0's `supportedInterfaces`, each with its own version, then 0.3's one `url` with its transport
    and the additional ones."""
    first = {"url": card.get("url"), "transport": card.get("preferredTransport", "JSONRPC"), "protocolVersion": "0.3"}
    others = ({**entry, "protocolVersion": "0.3"} for entry in _maps(card.get("additionalInterfaces")))
    for entry in (*_maps(card.get("supportedInterfaces")), first, *others):
        binding = str(entry.get("protocolBinding") or entry.get("transport")).upper()
        old = str(entry.get("protocolVersion") or "1.0").startswith("0.")
        if isinstance(entry.get("url"), str) and binding == "JSONRPC":
            yield Interface(entry["url"], "0.3" if old else "1.0")
        elif isinstance(entry.get("url"), str) and binding == "HTTP+JSON" and not old:
            yield Interface(entry["url"], "1.0", "HTTP+JSON")


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


MAX_REPLY = 4 * 1024 * 1024
"""Size limit of one reply, in bytes."""
CONNECT_SECONDS = 10.0
_CARDS = ("/.well-known/agent-card.json", "/.well-known/agent.json")


class ParticipantUnusable(InputError):
    """The name or URL cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Participant:
    """A participant: name and address. Created by `participant`."""

    name: str
    url: str
    protocol: Literal["auto", "rest", "a2a"] = "auto"
    """`auto`: A2A if there is an agent card that says so, REST otherwise."""


def participant(name: str, url: str, protocol: Literal["auto", "rest", "a2a"] = "auto") -> Participant:
    """A participant, if its URL uses http or https and contains no password. Raises ParticipantUnusable."""
    shown = name.strip()
    if not shown or len(shown) > 100 or not shown.isprintable():
        raise ParticipantUnusable(f"{name[:100]!r} cannot be the name of a participant: 1 to 100 printable characters")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except (ValueError, AttributeError, TypeError):
        raise ParticipantUnusable(f"{shown}: {str(url)[:200]!r} is not a URL") from None
    if parts.scheme not in ("http", "https") or not host or len(url) > 2_000:
        raise ParticipantUnusable(f"{shown}: {url[:200]!r} is not an http:// or https:// URL")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ParticipantUnusable(f"{shown}: the URL must hold no user, password, query or fragment: reports show it")
    return Participant(shown, url.rstrip("/"), protocol)


class _Failed(Text2SQLError):
    """There is no reply to read."""

    def __init__(self, failure: Failure, error: str) -> None:
        super().__init__(error)
        self.answer = Answer(failure=failure, error=error)


class _NoA2A(Text2SQLError):
    """The server that answers does not speak A2A."""


class Caller:
    """Calls one participant. Use as an async context manager; several tasks may run at once."""

    def __init__(self, whom: Participant, *, timeout: float = 300.0, connections: int = 4) -> None:
        self.whom = whom
        self._timeout = timeout
        self._finding = asyncio.Lock()
        self._interface: Interface | None = None
        self._found = whom.protocol == "rest"
        limits = httpx.Limits(max_connections=connections + 1, max_keepalive_connections=connections)
        self._http = httpx.AsyncClient(
            timeout=httpx.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout)),
            limits=limits,
            trust_env=False,
            headers={"accept": "application/json", "accept-encoding": "identity"},
        )

    async def __aenter__(self) -> Caller:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def ask(self, message: Mapping[str, Any]) -> Answer:
        """Send one task. Never raises, except on cancellation."""
        began = time.perf_counter()
        try:
            async with asyncio.timeout(self._timeout):
                answer = await self._asked(message)
        except (TimeoutError, httpx.ReadTimeout, httpx.WriteTimeout):
            answer = Answer(failure="timeout", error=f"No whole reply within {self._timeout:g} seconds.")
        except _Failed as failed:
            answer = failed.answer
        except (httpx.TimeoutException, httpx.ConnectError) as error:
            answer = Answer(failure="unreachable", error=f"Cannot be reached: {_reason(error)}.")
        except httpx.HTTPError as error:
            answer = Answer(failure="unreadable", error=f"The connection broke: {_reason(error)}.")
        except (httpx.InvalidURL, ValueError, RecursionError) as error:
            answer = Answer(failure="unreadable", error=f"The reply cannot be read: {_reason(error)}.")
        return replace(answer, seconds=time.perf_counter() - began)

    async def _asked(self, message: Mapping[str, Any]) -> Answer:
        async with self._finding:
            if not self._found:
                self._interface = await self._find_interface()
                self._found = True
        if self._interface:
            try:
                task = await self._call(self._interface, *self._interface.send(message))
                pause = 0.1
                while state(task) in ("submitted", "working"):  # the server does not wait, although asked to
                    await asyncio.sleep(pause)
                    pause = min(1.0, pause * 1.5)
                    task = await self._call(self._interface, self._interface.get, {"id": task.get("id")})
                contents = parts(task)
                if not contents and state(task) not in ("", "completed"):
                    raise _Failed("no_sql", f"The task ended as {state(task)!r} without a word.")
                return read_answer(contents, str(message["task_id"]))
            except _NoA2A as problem:
                if self.whom.protocol == "a2a":
                    raise _Failed("unreadable", str(problem)) from None
                self._interface = None
        url = self.whom.url if urlsplit(self.whom.url).path.endswith("/generate") else f"{self.whom.url}/generate"
        status, body = await self._exchange("POST", url, message)
        reply = _loaded(body)
        if status >= 300:
            raise _http_error(status, reply, "error", "detail")
        return read_answer(
            [reply if isinstance(reply, Mapping) else body.decode("utf-8", "replace")], str(message["task_id"])
        )

    async def _call(self, interface: Interface, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """The task or the message in a result; protocol 1.0 wraps it in an object."""
        if interface.binding == "JSONRPC":
            request = {"jsonrpc": "2.0", "id": uuid.uuid4().hex, "method": method, "params": params}
            status, body = await self._exchange("POST", interface.url, request, interface.headers)
            if status in (404, 405, 501):
                raise _NoA2A(f"POST {urlsplit(interface.url).path or '/'} answers {status}: there is no JSON-RPC.")
            result = _loaded(body)
            if isinstance(result, Mapping) and ("result" in result or "error" in result):
                if (problem := result.get("error")) is not None:
                    detail = problem.get("message") if isinstance(problem, Mapping) else problem
                    raise _Failed("http_error", f"JSON-RPC error: {str(detail)[:500]}")
                result = result["result"]
            elif status < 300:
                raise _Failed("unreadable", "The reply is no JSON-RPC response.")
            else:
                raise _http_error(status, result)
        else:
            base = interface.url.rstrip("/")
            if method == "GetTask":
                place = f"{base}/tasks/{quote(str(params['id']), safe='')}"
                status, body = await self._exchange("GET", place, None, interface.headers)
            else:
                status, body = await self._exchange("POST", f"{base}/message:send", params, interface.headers)
            result = _loaded(body)
            if status >= 300:
                raise _http_error(status, result, "detail", "error")
        if not isinstance(result, Mapping):
            raise _Failed("unreadable", "The result is neither a task nor a message.")
        return next((result[key] for key in ("task", "message") if isinstance(result.get(key), Mapping)), result)

    async def _find_interface(self) -> Interface | None:
        """What the agent card offers; None without a card, or without an interface that is spoken here."""
        for path in _CARDS:
            status, body = await self._exchange("GET", self.whom.url + path, None)
            card = _loaded(body) if status == 200 else None
            if isinstance(card, Mapping):
                return interface_in(card, self.whom.url)
        return Interface(self.whom.url + "/") if self.whom.protocol == "a2a" else None

    async def _exchange(
        self, method: str, url: str, body: Mapping[str, Any] | None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, bytes]:
        async with self._http.stream(method, url, json=body, headers=headers) as response:
            if response.headers.get("content-encoding", "identity") != "identity":
                raise _Failed("unreadable", "The reply is compressed, which was not asked for.")
            received = bytearray()
            async for block in response.aiter_raw():
                received += block
                if len(received) > MAX_REPLY:
                    raise _Failed("too_large", f"The reply has more than {MAX_REPLY:,} bytes.")
            return response.status_code, bytes(received)


def _loaded(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _http_error(status: int, reply: Any, *keys: str) -> _Failed:
    """`keys`: where a reply may have its reason, the best first."""
    reasons = (reply.get(key) for key in keys) if isinstance(reply, Mapping) else ()
    detail = "redirects are not followed" if status < 400 else next(filter(None, reasons), None)
    return _Failed("http_error", f"HTTP {status}{f': {str(detail)[:500]}' if detail else ''}")


def _reason(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:300].rstrip(".")
