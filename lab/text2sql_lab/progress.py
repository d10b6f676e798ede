"""The progress of a command on standard error: lines that stay, and on a terminal one line that is written over.

In: what happens. Out: text on the stream, or nothing without one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TextIO

from text2sql_lab.budget import Budget


@dataclass(slots=True)
class Progress:
    stream: TextIO | None
    budget: Budget = field(default_factory=Budget)
    _shown: float = 0.0

    def say(self, text: str, *, passing: bool = False) -> None:
        """Write a line that stays; on a terminal, a passing one is written over by the next."""
        if self.stream is not None:
            over = f"\r\x1b[K{text}" + ("" if passing else "\n")
            self.stream.write(over if self.stream.isatty() else f"{text}\n")
            self.stream.flush()

    def measured(self, done: int, of: int) -> None:
        """Show how far a measurement is, on a terminal."""
        if self.stream is not None and self.stream.isatty() and time.monotonic() - self._shown > 0.2:
            self._shown = time.monotonic()
            b = self.budget
            spent = f"{b.spent_calls:,} calls, {b.spent_dollars:.2f} USD, {b.seconds:.0f} s"
            self.say(f"{done} of {of} questions; {spent}", passing=True)
