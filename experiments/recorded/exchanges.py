"""Recorded exchanges: a server's reply to each request, identified by a digest, so that a run can be replayed.

In: requests and the bytes that a server sent for them. Out: a file of JSON lines (format and version in its first
line), and from such a file the same bytes again. Only a digest of a request is stored. A reply is stored with three of
its headers and without the client's key, so a recording can be shared as far as its replies can.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any

from experiments.recorded.chat import JSON, Sent, completion, content_of, failure

FORMAT = "text2sql-recording"
VERSION = 1
KEPT_HEADERS = ("retry-after", "retry-after-ms")
"""In addition to the content type: the headers that determine what a client does next."""
_HEADER = json.dumps({"format": FORMAT, "version": VERSION}) + "\n"


def digest(body: dict[str, Any]) -> str:
    """The identity of a request: model, messages and the required form of the reply. Sampling parameters and limits do
    not count, so that a client that learns to omit one still finds its replies."""
    identity = [body.get("model"), body.get("messages"), body.get("response_format")]
    canonical = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Exchange:
    digest: str
    stream: bool
    model: str
    status: int
    content_type: str
    headers: dict[str, str]
    body: str
    """As text; bytes that are not UTF-8 are stored as lone surrogates."""
    cut: bool
    """The server broke the connection before the reply was complete."""
    seconds: float
    """From sending the request until the reply was complete."""


@dataclass
class _Due:
    """The replies to one request, in order of arrival."""

    exchanges: list[Exchange] = field(default_factory=list)
    given: int = 0

    def next(self) -> Exchange:
        """The next reply. The last one is repeated, so that a client that asks more often still gets a reply."""
        exchange = self.exchanges[min(self.given, len(self.exchanges) - 1)]
        self.given += 1
        return exchange


class Exchanges:
    """Replies from a recording: the k-th time that a request arrives, it gets the k-th recorded reply. A client whose
    stream broke off may ask for that reply in one piece."""

    def __init__(self, exchanges: list[Exchange]) -> None:
        self._due: dict[tuple[str, bool], _Due] = defaultdict(_Due)
        for exchange in exchanges:
            self._due[exchange.digest, exchange.stream].exchanges.append(exchange)
        self.models: tuple[str, ...] = tuple(sorted({exchange.model for exchange in exchanges}))

    def __len__(self) -> int:
        return sum(len(due.exchanges) for due in self._due.values())

    def reply(self, body: dict[str, Any]) -> Sent:
        """What was recorded for the request, or a failure with 404."""
        name, stream = digest(body), body.get("stream") is True
        if (due := self._due.get((name, stream))) is not None:
            return _sent(due.next())
        streamed = self._due.get((name, True))
        if streamed is None or not streamed.given:
            return failure(404, "This request is not in the recording.", "request_not_recorded")
        again = _sent(streamed.exchanges[min(streamed.given, len(streamed.exchanges)) - 1])
        if again.status != HTTPStatus.OK or again.cut:
            return again
        text = "".join(content_of(piece.removeprefix(b"data: ")) for piece in again.pieces)
        return completion(text, str(body.get("model")), stream=False)


def _sent(exchange: Exchange) -> Sent:
    raw = exchange.body.encode("utf-8", "surrogateescape")
    pieces = tuple(part for part in _events(raw) if part) if exchange.stream else (raw,)
    return Sent(pieces, exchange.status, exchange.content_type, exchange.headers, exchange.cut)


def _events(raw: bytes) -> list[bytes]:
    """Server-sent events, each with the blank line that ends it."""
    *whole, rest = raw.split(b"\n\n")
    return [*(event + b"\n\n" for event in whole), rest]


def load_exchanges(path: Path) -> tuple[list[Exchange], Counter[str]]:
    """The exchanges of a recording, and the number of unusable lines by reason (a killed recorder leaves half a line).
    Raises OSError; ValueError when the file is not a recording or has another version."""
    exchanges: list[Exchange] = []
    skipped: Counter[str] = Counter()
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            value = _parsed(line)
            if value is None:
                skipped["cut short"] += bool(line.strip())
            elif "format" in value:
                _check_version(value, path)
            elif (exchange := _exchange(value)) is not None:
                exchanges.append(exchange)
            else:
                skipped["not an exchange"] += 1
    if not is_recording(path):
        raise ValueError(f"{path.name} does not begin as a recording does")
    return exchanges, +skipped


def is_recording(path: Path) -> bool:
    """Whether a file declares that it holds exchanges. Raises OSError."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        values = (_parsed(line) for line in lines if line.strip())
        return next((v for v in values if v is not None), {}).get("format") == FORMAT


def _check_version(header: dict[str, Any], path: Path) -> None:
    if header.get("format") != FORMAT or header.get("version") != VERSION:
        raise ValueError(f"{path.name} is not a {FORMAT} of version {VERSION}: {json.dumps(header)[:200]}")


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _exchange(value: dict[str, Any]) -> Exchange | None:
    headers = value.get("headers")
    if not isinstance(value.get("digest"), str) or not isinstance(value.get("body"), str):
        return None
    return Exchange(
        digest=value["digest"],
        stream=value.get("stream") is True,
        model=str(value.get("model", "")),
        status=int(value.get("status", 200)),
        content_type=str(value.get("content_type", JSON)),
        headers={str(k): str(v) for k, v in headers.items()} if isinstance(headers, dict) else {},
        body=value["body"],
        cut=value.get("cut") is True,
        seconds=float(value.get("seconds", 0.0)),
    )


class Recorder:
    """Appends exchanges to a file; use with `with`. Each line is written in one call, so that a kill costs at most the
    current line; the next exchange starts on a new line. Raises OSError, ValueError for a file that is something else.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1
        self.written = 0

    def __enter__(self) -> Recorder:
        before = self._path.read_bytes() if self._path.exists() else b""
        if before.strip():
            load_exchanges(self._path)
        self._descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        if not before.strip():
            self._write(_HEADER)
        elif not before.endswith(b"\n"):
            self._write("\n")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._descriptor)

    def add(self, exchange: Exchange) -> None:
        fields = {name: getattr(exchange, name) for name in Exchange.__dataclass_fields__}
        self._write(json.dumps(fields) + "\n")
        self.written += 1

    def _write(self, line: str) -> None:
        left = line.encode()
        while left:
            left = left[os.write(self._descriptor, left) :]
