"""Injected failures: too many requests, a server error, a truncated text, a truncated reply, a broken connection.

In: shares by kind (`429:0.1,garbled:0.02`) and a seed. Out: for each reply, the same reply or a faulty one. The fault
for the k-th attempt of a request depends only on the seed, the request and k, so a run meets the same failures
regardless of concurrency.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from experiments.recorded.chat import Sent, content_of, failure

KINDS = ("429", "500", "garbled", "broken", "cut")
"""`garbled`: the model's text ends in the middle, but the reply claims to be complete. `broken`: the reply's own JSON
ends in the middle, but HTTP reports it as complete. `cut`: the connection is dropped in the middle."""


def shares(text: str) -> dict[str, float]:
    """Read `KIND:SHARE,…`. Raises ValueError for an unknown kind, a share outside 0..1, or more than 1 together."""
    by_kind: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        kind, _, share = part.partition(":")
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is no kind of failure; there are {', '.join(KINDS)}")
        try:
            by_kind[kind] = float(share)
        except ValueError:
            by_kind[kind] = math.nan
        if not 0 <= by_kind[kind] <= 1:
            raise ValueError(f"{part!r}: expected a share from 0 to 1 behind the colon")
    if sum(by_kind.values()) > 1:
        raise ValueError("the shares add up to more than 1")
    return by_kind


class Faults:
    """Chooses the fault for a reply. `retry_after` (seconds) is the wait that a 429 asks of the client."""

    def __init__(self, shares: Mapping[str, float], *, seed: int = 0, retry_after: float = 1.0) -> None:
        self._shares = dict(shares)
        self._seed = seed
        self._retry_after = retry_after
        self._sendings: Counter[str] = Counter()

    def befall(self, request: bytes, sent: Sent) -> Sent:
        """The reply, faulty or not. `request`: the bytes of the request's body."""
        if not self._shares:
            return sent
        name = hashlib.sha256(request).hexdigest()
        self._sendings[name] += 1
        dice = random.Random(f"{self._seed} {name} {self._sendings[name]}")
        drawn = dice.random()
        for kind, share in self._shares.items():
            drawn -= share
            if drawn < 0:
                return self._fault(kind, sent)
        return sent

    def _fault(self, kind: str, sent: Sent) -> Sent:
        if kind == "429":
            wait = {
                "retry-after": str(math.ceil(self._retry_after)),
                "retry-after-ms": str(round(self._retry_after * 1000)),
            }
            return failure(429, "Too many requests (on purpose).", "rate_limit_exceeded", wait)
        if kind == "500":
            return failure(500, "The server failed (on purpose).", "server_error")
        if kind == "garbled":
            return replace(sent, pieces=_half_the_text(sent.pieces))
        return replace(sent, pieces=_first_half(sent.pieces), cut=kind == "cut")


def _half_the_text(pieces: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """A completion with the first half of its content; a stream with the first half of its deltas that have content."""
    if len(pieces) > 1:
        texts = [i for i, piece in enumerate(pieces) if content_of(piece.removeprefix(b"data: "))]
        dropped = set(texts[len(texts) // 2 :])
        return tuple(piece for i, piece in enumerate(pieces) if i not in dropped)
    text = content_of(pieces[0])
    whole, half = json.dumps(text).encode(), json.dumps(text[: len(text) // 2]).encode()
    return (pieces[0].replace(whole, half, 1),) if text else pieces


def _first_half(pieces: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """The first half of a reply, so that its JSON ends in the middle; of a stream, whole events and then half
    of one."""
    whole, broken = pieces[: len(pieces) // 2], pieces[len(pieces) // 2]
    return (*whole, broken[: len(broken) // 2])
