"""Costly statements through the running server, with ordinary questions beside them.

In: the corpus, one statement a line and file. Out: a row per engine: what became of the statements, how late the latest
was, what the server's memory and the temporary files grew to, and how much slower ordinary questions were than without
the statements.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from eval.schema import Dialect
from experiments.walls.serving import QUESTIONS, Served, Usage, fork_server, resident_mb, watched

GRACE = 1.0
"""Seconds after the deadline within which a statement has to be released."""
_OWN = Path(__file__).parent / "statements"
_TESTS = Path(__file__).parents[2] / "tests" / "eval" / "databases" / "costly"


def corpus(dialect: Dialect, every: int = 1) -> list[str]:
    """The costly statements of an engine, every n-th of them."""
    files = [folder / f"{dialect}.sql" for folder in (_TESTS, _OWN)]
    return [sql for path in files if path.exists() for sql in path.read_text(encoding="utf-8").splitlines()][::every]


@dataclass(frozen=True)
class Attack:
    """What an engine's statements did."""

    dialect: Dialect
    statuses: Counter[str]
    seconds: dict[str, float]
    questions: dict[str, list[float]]
    unanswered: int
    usage: Usage
    memory_before_mb: float
    alive: bool
    """The server and the process that forks its children are those from before."""

    def late(self, deadline: float) -> dict[str, float]:
        return {sql: s for sql, s in self.seconds.items() if s > deadline + GRACE}

    @property
    def growth_mb(self) -> float:
        return self.usage.resident_mb - self.memory_before_mb


class Asking:
    """Ordinary questions, one after another, until `end`."""

    def __init__(self, served: Served) -> None:
        self.seconds: dict[str, list[float]] = {question: [] for question in QUESTIONS}
        self.unanswered = 0
        self._served = served
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def __enter__(self) -> Asking:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _ask(self) -> None:
        while not self._over.is_set():
            for question in QUESTIONS:
                seconds, good = self._served.ask(question)
                self.seconds[question].append(seconds)
                self.unanswered += not good


def quiet(served: Served, rounds: int = 20) -> dict[str, list[float]]:
    """The seconds of each question without any costly statement."""
    served.ask(QUESTIONS[0])
    return {question: [served.ask(question)[0] for _ in range(rounds)] for question in QUESTIONS}


def attack(
    served: Served, dialect: Dialect, statements: list[str], tell: Callable[[str], None] = lambda _: None
) -> Attack:
    """Run the statements one after another, with ordinary questions beside."""
    statuses: Counter[str] = Counter()
    seconds: dict[str, float] = {}
    before, forks = resident_mb(served.pid), fork_server(served.pid)
    with watched(served) as usage, Asking(served) as asking:
        for sql in statements:
            started = time.perf_counter()
            reply = served.run(dialect, sql)
            seconds[sql] = time.perf_counter() - started
            statuses[str(reply["status"])] += 1
            tell(f"{seconds[sql]:6.2f} s  {reply['status']:<8} {sql[:90]}  {str(reply['error'] or '')[:80]}")
    alive = fork_server(served.pid) == forks
    return Attack(dialect, statuses, seconds, asking.seconds, asking.unanswered, usage, before, alive)


def slowdown(found: dict[str, list[float]], alone: dict[str, list[float]]) -> list[float]:
    """The seconds of each question over the median of the same question alone, smallest first."""
    return sorted(s / statistics.median(alone[question]) for question, times in found.items() for s in times)


def row(found: Attack, alone: dict[str, list[float]], deadline: float) -> str:
    """A line of the table."""
    ratios = slowdown(found.questions, alone)
    counts = ", ".join(f"{n} {status}" for status, n in sorted(found.statuses.items()))
    return (
        f"| {found.dialect} | {len(found.seconds)} | {counts} | {len(found.late(deadline))} | "
        f"{max(found.seconds.values()) - deadline:+.2f} s | {found.growth_mb:+.0f} MB | "
        f"{found.usage.temporary_mb:.0f} MB | {len(ratios)} | {statistics.median(ratios):.2f} × | "
        f"{ratios[int(len(ratios) * 0.99)]:.2f} × | {ratios[-1]:.2f} × | {sum(r > 3 for r in ratios)} | "
        f"{found.unanswered} | {'yes' if found.alive else 'NO'} |"
    )


HEAD = (
    "| engine | statements | outcomes | late | latest after the deadline | server's memory | largest temporary files | "
    "questions | slower, median | p99 | worst | over 3 × | unanswered | processes kept |\n" + "|---" * 14 + "|"
)
