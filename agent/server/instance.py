"""The identity of one serving process among those that share a state."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Instance:
    """What a process is called in the state, where it holds the leases of its runs."""

    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    worker: int | None = None
    """Its number among the workers of one command, from 1; None: it serves alone."""
    replaces: str | None = None
    """The instance that ended without releasing its leases, whose place this one takes."""
