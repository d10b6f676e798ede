"""Garbled, long and hostile questions to a running server, and how long `/health` takes meanwhile.

In: how many questions, how many at once. Out: a `Flood`: how the streams ended, and the times of `/health`. Times are
those of a client on the same machine.
"""

from __future__ import annotations

import http.client
import itertools
import json
import multiprocessing
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Event

from experiments.attacks.serving import Served
from experiments.parser.evaluate import demo_questions
from experiments.parser.hostile_questions import long_questions, questions
from experiments.processes import resident_mb

NAMES = ("customers", "orders", "order items", "products", "city", "unit price", "status", "Berlin", "created at")
WITHIN = 0.05
"""Seconds in which `/health` is to answer."""
_EVERY = 0.02
_OVER = -1.0


@dataclass
class Flood:
    endings: Counter[str] = field(default_factory=Counter)
    """The status of each answer, or the kind of error; `lost` where the stream did not end as it should."""
    lost: list[str] = field(default_factory=list)
    internal: list[str] = field(default_factory=list)
    """Questions at which something went wrong inside."""
    health: list[float] = field(default_factory=list)
    memory_mb: tuple[float, float] = (0.0, 0.0)
    """Of the server before and after."""
    alive: bool = True

    @property
    def asked(self) -> int:
        return self.endings.total()

    @property
    def failures(self) -> list[str]:
        """What no machine's load excuses."""
        failed = {
            f"{len(self.lost)} questions had no ending, the first {self.lost[:1]!r:.200}": bool(self.lost),
            f"{len(self.internal)} questions failed inside: {self.internal[:3]!r:.600}": bool(self.internal),
            "the server ended": not self.alive,
        }
        return [words for words, is_so in failed.items() if is_so]

    def __str__(self) -> str:
        times = sorted(self.health)
        late = sum(seconds > WITHIN for seconds in times)
        counts = ", ".join(f"{n:,} {ending}" for ending, n in self.endings.most_common())
        return (
            f"{self.asked:,} questions: {counts}; /health {len(times):,} times, median {_at(times, 0.5):.1f} ms, "
            f"99.9 % within {_at(times, 0.999):.1f} ms, slowest {_at(times, 1):.1f} ms, {late} over "
            f"{WITHIN * 1000:.0f} ms; memory {self.memory_mb[0]:.0f} to {self.memory_mb[1]:.0f} MB"
        )


def _at(times: list[float], share: float) -> float:
    return times[min(int(len(times) * share), len(times) - 1)] * 1000 if times else 0.0


def hostile(count: int, seed: int) -> Iterator[str]:
    """Nine garbled questions to each long one."""
    garbled = questions([str(q["question"]) for q in demo_questions()[0]], count, seed)
    long = long_questions(NAMES, count, seed)
    return (next(long) if number % 10 == 9 else question for number, question in enumerate(garbled))


def flood(served: Served, count: int, *, seed: int = 7, at_once: int = 4, minutes: float = 60.0) -> Flood:
    """Ask so many questions, or until the time is over."""
    result, own_process = Flood(), multiprocessing.get_context("spawn")
    begun, over, times = own_process.Event(), own_process.Event(), own_process.SimpleQueue()
    served.ask("How many customers are there?")  # what a first question loads is loaded
    before = resident_mb(served.pid)
    watching = own_process.Process(target=_watch, args=(served.port, begun, over, times))
    watching.start()
    begun.wait(60)
    until = time.monotonic() + minutes * 60
    made, lock = hostile(count, seed), threading.Lock()

    def ask() -> Counter[str]:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=120)
        seen: Counter[str] = Counter()
        while time.monotonic() < until:
            with lock:
                question = next(made, None)
            if question is None:
                break
            try:
                ending = _ended(connection, question)
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                ending = "lost"
                result.lost.append(f"{type(error).__name__}: {question}")
            seen[ending] += 1
            if ending == "internal":
                result.internal.append(question)
        connection.close()
        return seen

    with ThreadPoolExecutor(at_once) as threads:
        for seen in threads.map(lambda _: ask(), range(at_once)):
            result.endings += seen
    over.set()
    while (seconds := times.get()) != _OVER:
        if seconds is None:
            result.lost.append("/health")
        else:
            result.health.append(seconds)
    watching.join()
    result.memory_mb = before, resident_mb(served.pid)
    result.alive = result.memory_mb[1] > 0
    return result


def _ended(connection: http.client.HTTPConnection, question: str) -> str:
    """How the stream of a question ended."""
    body = json.dumps({"question": question}).encode("utf-8", "surrogatepass")
    connection.request("POST", "/query", body, {"Content-Type": "application/json"})
    reply = connection.getresponse()
    text = reply.read()
    if reply.status != 200:
        return f"HTTP {reply.status}"
    lines = [line[6:] for line in text.splitlines() if line.startswith(b"data: ")]
    events = [json.loads(line) for line in itertools.islice(reversed(lines), 3)]
    if not events or events[0]["event"] != "done":
        raise http.client.IncompleteRead(text[-200:])
    last: dict[str, object] = next((e["data"] for e in events[1:] if e["event"] in ("answer", "error")), {})
    return str(last.get("status") or last.get("kind") or "no answer")


def _watch(port: int, begun: Event, over: Event, times: SimpleQueue[float | None]) -> None:
    """In a process of its own: what the clients of this one do must not count as the server's delay. `begun` is set
    after the first answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    taken: list[float | None] = []
    while not over.wait(_EVERY):
        sent = time.perf_counter()
        try:
            connection.request("GET", "/health")
            connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            taken.append(None)
            connection.close()
        else:
            taken.append(time.perf_counter() - sent)
        begun.set()
    connection.close()
    for one in (*taken, _OVER):
        times.put(one)
