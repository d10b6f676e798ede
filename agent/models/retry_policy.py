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
    limited_attempts: int = 8
    """Maximum attempts at a server that limits requests and does not say for how long: with waits that go on doubling
    they last a little over the minute that most limits count."""
    connect_attempts: int = 3
    """Maximum attempts at a server that cannot be reached, usually because the address is wrong."""

    def wait(self, failure: Failure, failures: int, left: float) -> float | None:
        """Seconds to wait before the next attempt, or None when there should be none.

        `failures` counts the failed attempts so far (1 after the first), `left` is the time allowed in seconds. After a
        rate limit whose end the server tells, and while a model is loading, retries continue as long as time allows,
        whatever the number of attempts.
        """
        if not failure.retry:
            return None
        limited = failure.error is ModelRateLimited
        most = self.attempts if failure.connected else self.connect_attempts
        endures = failure.loading or (limited and failure.wait is not None)
        if failures >= (self.limited_attempts if limited else most) and not endures:
            return None
        longest = self.longest_wait * 4 if limited else self.longest_wait
        backoff = min(longest, self.first_wait * 2 ** min(failures - 1, 20))
        backoff *= random.uniform(0.75, 1.25)  # noqa: S311 (spreads load, guards nothing)
        seconds = max(backoff, failure.wait or 0.0)
        return seconds if seconds < left else None
