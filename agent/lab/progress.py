"""The progress of a run on standard error: lines that stay, and on a terminal one line that is written over.

In: what happens. Out: text on the stream, or nothing without one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TextIO

from agent.lab.budget import Budget


@dataclass(slots=True)
class Progress:
    stream: TextIO | None
    budget: Budget
    _shown: float = 0.0

    def say(self, text: str) -> None:
        """Write a line that stays."""
        if self.stream is not None:
            self.stream.write(f"\r\x1b[K{text}\n" if self.stream.isatty() else f"{text}\n")
            self.stream.flush()

    def measured(self, done: int, of: int) -> None:
        """Show how far a measurement is, on a terminal."""
        if self.stream is not None and self.stream.isatty() and time.monotonic() - self._shown > 0.2:
            self._shown = time.monotonic()
            spent = (
                f"{self.budget.spent_calls:,} calls, {self.budget.spent_dollars:.2f} USD, {self.budget.seconds:.0f} s"
            )
            self.stream.write(f"\r\x1b[K{done} of {of} questions; {spent}")
            self.stream.flush()
