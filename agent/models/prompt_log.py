"""The prompt log: every request to a model verbatim, one JSON line each, in a file that only its owner can read.

In: the messages of a call, and its result. Out: `{time, run, call, model, messages, tokens, seconds, error}`. At 20 MB
the file is renamed to `….1`, replacing the previous one, so at most 40 MB are kept.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import time
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

MAX_BYTES = 20_000_000

current_run: ContextVar[str] = ContextVar("current_run", default="")
"""The run that the calls of this task belong to."""


@dataclass(frozen=True, slots=True)
class PromptLog:
    path: Path
    max_bytes: int = MAX_BYTES

    def write(
        self,
        call: str,
        model: str,
        messages: Sequence[tuple[str, str]],
        *,
        started: float,
        tokens: tuple[int, int] | None = None,
        error: str | None = None,
    ) -> None:
        """Append a line. `started` is a `time.monotonic()` value; `tokens` (in, out), None where not reported. A file
        that cannot be written is logged, and the call continues."""
        entry: dict[str, Any] = {
            "time": datetime.now(UTC).isoformat(),
            "run": current_run.get(),
            "call": call,
            "model": model,
            "messages": [{"role": role, "content": text} for role, text in messages],
            "tokens": {"input": tokens[0], "output": tokens[1]} if tokens else None,
            "seconds": round(time.monotonic() - started, 3),
            "error": error,
        }
        try:
            line = (json.dumps(entry, ensure_ascii=False) + "\n").encode("utf-8", "replace")
            with contextlib.suppress(FileNotFoundError):
                if self.path.stat().st_size + len(line) > self.max_bytes:
                    self.path.replace(self.path.with_name(self.path.name + ".1"))
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            file = os.open(self.path, flags, 0o600)
            try:
                os.fchmod(file, 0o600)
                os.write(file, line)
            finally:
                os.close(file)
        except OSError as failure:
            log.error("The log of prompts could not be written: %s", failure.strerror)
