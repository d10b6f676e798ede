"""The retry policy for failed calls: exponential backoff with jitter, the server's requested wait, the deadline."""

from __future__ import annotations

import random
from dataclasses import dataclass

from agent.models.failures import Failure
from agent.models.protocol import ModelRateLimited


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    first_wait: float = 0.5
    """Seconds before the second attempt, doubled for each later attempt."""
    longest_wait: float = 8.0
    attempts: int = 5
    """Maximum attempts at a server that fails (5xx, connection cut)."""
    connect_attempts: int = 3
    """Maximum attempts at a server that cannot be reached, usually because the address is wrong."""

    def wait(self, failure: Failure, failures: int, left: float) -> float | None:
        """Seconds to wait before the next attempt, or None when there should be none.

        `failures` counts the failed attempts so far (1 after the first), `left` is the time allowed in seconds. After a
        rate limit, retries continue as long as time allows, whatever the number of attempts.
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
