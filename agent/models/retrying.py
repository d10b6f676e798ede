"""When to try a failed call again: exponential backoff with jitter, what the server asks for, the deadline."""

from __future__ import annotations

import random
from dataclasses import dataclass

from agent.models.failures import Failure
from agent.models.protocol import ModelRateLimited


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    first_wait: float = 0.5
    """Seconds before the second attempt, doubled for each one after it."""
    longest_wait: float = 8.0
    attempts: int = 5
    """For a server that fails (5xx, connection cut)."""
    connect_attempts: int = 3
    """For a server that can't even be reached, which is mostly a wrong address."""

    def wait(self, failure: Failure, failures: int, left: float) -> float | None:
        """Seconds to wait before the next attempt, or None when there should be none.

        `failures` counts the failed attempts so far (1 after the first), `left` is the time allowed in seconds. A rate
        limit is waited for as long as time allows, whatever the number of attempts.
        """
        if not failure.retry:
            return None
        most = self.attempts if failure.connected else self.connect_attempts
        if failures >= most and failure.error is not ModelRateLimited:
            return None
        backoff = min(self.longest_wait, self.first_wait * 2 ** min(failures - 1, 20))
        backoff *= random.uniform(0.75, 1.25)  # noqa: S311 (spreads load, guards nothing)
        seconds = max(backoff, failure.wait or 0.0)
        return seconds if seconds < left else None
