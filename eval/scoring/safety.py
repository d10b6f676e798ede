"""Safety: 1 for what the guard let through, 0 for what it refused.

A text that is no statement at all (empty, unparsable) could do no harm but was not shown to be safe either: 0.5, which
keeps the retry on the parser's message rather than on safety.
"""

from __future__ import annotations

from eval.scoring.types import Case


def safety(case: Case) -> tuple[float, str]:
    """The dimension (0..1) and why it is not 1."""
    if case.verdict.allowed:
        return 1.0, ""
    if case.parsed.tree is None:
        return 0.5, "There is no single statement to judge."
    return 0.0, case.verdict.reason or "The guard refused the statement."
