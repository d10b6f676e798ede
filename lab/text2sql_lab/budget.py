"""The budget of a run in dollars, calls and hours, checked before each call to a model.

In: limits, and the file with what earlier processes of the run spent. Out: `BudgetSpent` from the check that would go
beyond a limit. Dollars are known only after a call, so each call under way is reserved for at the price of the dearest
one so far.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agent.models.protocol import ModelError
from text2sql_lab.record_lines import append_record, records_in


class BudgetSpent(ModelError):
    """The budget allows no further call."""

    final = True


@dataclass(slots=True)
class Budget:
    calls: int | None = None
    dollars: float | None = None
    hours: float | None = None
    spent_calls: int = 0
    spent_dollars: float = 0.0
    spent_seconds: float = 0.0
    """By earlier processes of the same run."""
    dearest: float = 0.0
    """Dollars."""
    under_way: int = 0
    kept: Path | None = None
    """File with a line before each call and one after it, so that a kill loses nothing. Its lines are counted first."""
    exhausted: str = ""
    """The limit that was reached."""
    clock: Callable[[], float] = time.monotonic
    started: float = field(default=0.0)

    def __post_init__(self) -> None:
        self.started = self.started or self.clock()
        for line in records_in(self.kept) if self.kept is not None else ():
            self._count(line)
            self.spent_seconds = max(self.spent_seconds, line.get("seconds", 0.0))

    @property
    def seconds(self) -> float:
        return self.spent_seconds + self.clock() - self.started

    def check(self) -> None:
        """Raise BudgetSpent if the time is up or another call would go beyond a limit."""
        self.exhausted = self.exhausted or self._reached(1)
        if self.exhausted:
            raise BudgetSpent(f"The budget is spent: {self.exhausted}.")

    def affords(self, calls: int) -> bool:
        """Whether so many calls can still be made, at the mean price so far."""
        return not (self.exhausted or self._reached(calls))

    def before_call(self) -> None:
        """Count a call that is about to be made. Raises BudgetSpent."""
        self.check()
        self.under_way += 1
        self._keep({"calls": 1})

    def after_call(self, dollars: float, *, sent: bool = True) -> None:
        """Count what a call cost; one that was given up before it was sent is taken back."""
        self.under_way = max(0, self.under_way - 1)
        self._keep({"dollars": dollars, "seconds": round(self.seconds, 3)} | ({} if sent else {"calls": -1}))

    def spent_elsewhere(self, calls: int, dollars: float) -> None:
        """Count what another process spent on one question."""
        self._keep({"calls": calls, "dollars": dollars, "seconds": round(self.seconds, 3)})

    def _count(self, line: Mapping[str, float]) -> None:
        self.spent_calls += int(line.get("calls", 0))
        self.spent_dollars += line.get("dollars", 0.0)
        self.dearest = max(self.dearest, line.get("dollars", 0.0))

    def _keep(self, line: Mapping[str, float]) -> None:
        self._count(line)
        if self.kept is not None:
            append_record(self.kept, line)

    def _reached(self, calls: int) -> str:
        if self.calls is not None and self.spent_calls + calls > self.calls:
            return f"{self.calls:,} calls"
        price = self.dearest if calls == 1 else self.spent_dollars / max(1, self.spent_calls)
        reserved = self.dearest * self.under_way + price * calls
        if self.dollars is not None and (self.spent_dollars + reserved > self.dollars or self.dollars <= 0):
            return f"{self.dollars:g} dollars"
        if self.hours is not None and self.seconds > self.hours * 3600:
            return f"{self.hours:g} hours"
        return ""
