"""Exit codes, from which a script learns the outcome without reading the output."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.runner import Answer

ANSWERED = 0
NO_ANSWER = 1
USAGE = 2
DATABASE = 3
MODEL = 4
DOUBTFUL = 5
TIMEOUT = 6
INTERNAL = 70
INTERRUPTED = 130

MEANING = {
    ANSWERED: "answered, and the answer passed its checks",
    NO_ANSWER: "no answer: the question was declined, or no query could be run",
    USAGE: "wrong use: no question, an unknown option, a setting that cannot be used",
    DATABASE: "the database is missing, unknown or unreachable",
    MODEL: "the model is unreachable or refused (wrong key, unknown model)",
    DOUBTFUL: "answered, but the answer did not pass its checks: treat it with care",
    TIMEOUT: "time ran out",
    INTERNAL: "a fault of this program",
    INTERRUPTED: "stopped by Ctrl-C",
}

BY_KIND = {
    "question": USAGE,
    "settings": USAGE,
    "database": DATABASE,
    "model": MODEL,
    "model_auth": MODEL,
    "timeout": TIMEOUT,
    "cancelled": INTERRUPTED,
    "internal": INTERNAL,
}


def exit_code(answer: Answer) -> int:
    """The code for an answer, by its status and, for an error, its kind. SQL that was not to be executed has no rows
    to doubt."""
    if answer.status == "success":
        return ANSWERED
    if answer.status == "doubtful":
        from eval.scoring import EVEN_ODDS  # slow to import

        unlikely = answer.confidence is not None and answer.confidence < EVEN_ODDS
        return DOUBTFUL if answer.executed or unlikely else ANSWERED
    if answer.status == "error":
        return BY_KIND.get(answer.error_kind or "", NO_ANSWER)
    return NO_ANSWER
