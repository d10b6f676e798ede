"""Costly statements through the running server, with ordinary questions beside them.

In: the corpus, one statement a line and file. Out: a row per engine: what became of the statements, how late the latest
was, what the server's memory and the temporary files grew to, and how much slower ordinary questions were than without
the statements. Before each statement a trivial one runs, which shows what the machine itself adds to a reply.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from eval.databases.isolation.workers import TEMP_BYTES
from eval.schema import Dialect
from experiments.attacks.serving import QUESTIONS, Served, Usage, fork_server, watched
from experiments.processes import resident_mb

GRACE = 1.0
"""Seconds after the deadline within which a statement has to be released."""
MOST_GROWTH_MB = 300
MOST_TEMPORARY_MB = TEMP_BYTES / 1e6 + 1
"""The cap of a child process, in megabytes of a million bytes."""
MOST_SLOWER = 3.0
Times = dict[str, list[float]]
"""Seconds by question."""
_OWN = Path(__file__).parent / "statements"
_TESTS = Path(__file__).parents[2] / "tests" / "eval" / "databases" / "costly"


def corpus(dialect: Dialect, part: str = "1/1") -> list[str]:
    """The costly statements of an engine; `2/4` is the second of four parts, which together hold all of them."""
    number, parts = map(int, part.split("/"))
    files = [folder / f"{dialect}.sql" for folder in (_TESTS, _OWN)]
    return [sql for path in files if path.exists() for sql in path.read_text(encoding="utf-8").splitlines()][
        number - 1 :: parts
    ]


@dataclass
class Attack:
    """What an engine's statements did."""

    dialect: Dialect
    memory_before_mb: float
    statuses: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    alone: Times = field(default_factory=dict)
    beside: Times = field(default_factory=dict)
    trivial: list[float] = field(default_factory=list)
    """Seconds of `SELECT 1`, between the statements."""
    unanswered: int = 0
    usage: Usage = field(default_factory=Usage)
    alive: bool = False
    """The server and the process that forks its children are those from before."""

    def ask(self, served: Served, question: str, times: Times) -> None:
        seconds, good = served.ask(question)
        times.setdefault(question, []).append(seconds)
        self.unanswered += not good

    def late(self, deadline: float) -> dict[str, float]:
        return {sql: s for sql, s in self.seconds.items() if s > deadline + GRACE}

    def failures(self, deadline: float) -> list[str]:
        """What the run was not to show."""
        slower = [ratio for ratio in slowdown(self.beside, self.alone) if ratio > MOST_SLOWER]
        checks = {
            f"{len(self.late(deadline))} statements were late": bool(self.late(deadline)),
            f"{self.unanswered} ordinary questions were not answered": self.unanswered > 0,
            f"{len(slower)} ordinary questions were more than {MOST_SLOWER:g} times slower": bool(slower),
            f"the server grew by {self.growth_mb:.0f} MB": self.growth_mb > MOST_GROWTH_MB,
            f"temporary files took {self.usage.temporary_mb:.0f} MB": self.usage.temporary_mb > MOST_TEMPORARY_MB,
            "the server or its fork server ended": not self.alive,
        }
        return [f"{self.dialect}: {words}" for words, failed in checks.items() if failed]

    @property
    def growth_mb(self) -> float:
        return self.usage.resident_mb - self.memory_before_mb


def _timed(seconds: dict[str, float], sql: str, started: float, _: object) -> None:
    """Record how long the statement took; called when it is done."""
    seconds[sql] = time.perf_counter() - started


def attack(
    served: Served, dialect: Dialect, statements: list[str], tell: Callable[[str], None] = lambda _: None
) -> Attack:
    """Run the statements one after another. Ordinary questions run beside each; before each, one question runs alone,
    so that both are measured under the same load of the machine."""
    served.ask(QUESTIONS[0])  # the first question starts the process that forks
    attack = Attack(dialect, resident_mb(served.pid))
    forks, texts = fork_server(served.pid), itertools.cycle(QUESTIONS)
    with watched(served) as attack.usage, ThreadPoolExecutor(1) as thread:
        for sql in statements:
            attack.ask(served, next(texts), attack.alone)
            began = time.perf_counter()
            served.run(dialect, "SELECT 1")
            attack.trivial.append(time.perf_counter() - began)
            running = thread.submit(served.run, dialect, sql)
            started = time.perf_counter()
            running.add_done_callback(partial(_timed, attack.seconds, sql, started))
            while not running.done():
                attack.ask(served, next(texts), attack.beside)
            reply = running.result()
            attack.statuses[str(reply["status"])] += 1
            tell(f"{attack.seconds[sql]:6.2f} s  {reply['status']:<8} {sql[:90]}  {str(reply['error'] or '')[:80]}")
    attack.alive = fork_server(served.pid) == forks
    return attack


def slowdown(times: Times, alone: Times) -> list[float]:
    """The seconds of each question over the median of the same question alone, smallest first."""
    return sorted(s / statistics.median(alone[question]) for question in alone for s in times.get(question, ()))


def row(attack: Attack, deadline: float) -> str:
    """A line of the table."""
    counts = ", ".join(f"{n} {status}" for status, n in sorted(attack.statuses.items()))
    cells = [
        attack.dialect,
        str(len(attack.seconds)),
        counts,
        str(len(attack.late(deadline))),
        f"{max(attack.seconds.values()) - deadline:+.2f} s",
        f"{statistics.median(attack.trivial):.2f} s, {max(attack.trivial):.2f} s",
        f"{attack.growth_mb:+.0f} MB",
        f"{attack.usage.temporary_mb:.0f} MB",
        *(_spread(slowdown(times, attack.alone)) for times in (attack.alone, attack.beside)),
        str(attack.unanswered),
        "yes" if attack.alive else "NO",
    ]
    return "| " + " | ".join(cells) + " |"


def _spread(ratios: list[float]) -> str:
    over = sum(r > 3 for r in ratios)
    return f"{len(ratios)}: p95 {ratios[int(len(ratios) * 0.95)]:.1f} ×, {over} over 3 ×, worst {ratios[-1]:.1f} ×"


HEAD = (
    "| engine | statements | outcomes | late | latest after the deadline | SELECT 1: median, worst | "
    "server's memory | largest temporary files | "
    "questions alone over their median | beside, over the same median | unanswered | processes kept |\n"
    + "|---" * 12
    + "|"
)
