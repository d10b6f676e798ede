"""Progress of the commands on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable


def progress(unit: str, quiet: bool) -> Callable[[int, int], None]:
    """Shows how many of how many are done."""

    def shown(done: int, of: int) -> None:
        _show(f"{done} of {of} {unit}", quiet, last=done == of)

    return shown


def losses(name: str, quiet: bool) -> Callable[[int, int, float], None]:
    """Shows steps of training with their loss."""

    def shown(step: int, of: int, loss: float) -> None:
        _show(f"{name}: step {step} of {of}, loss {loss:.4f}", quiet, last=step == of)

    return shown


def _show(text: str, quiet: bool, *, last: bool) -> None:
    """A terminal shows one line that changes; a file gets every line."""
    if quiet:
        return
    terminal = sys.stderr.isatty()
    sys.stderr.write(f"\r\x1b[K{text}" + ("\n" if last else "") if terminal else f"{text}\n")
    sys.stderr.flush()
