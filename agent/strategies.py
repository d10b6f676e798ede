"""How a question is worked on, by name: which parts of the machine are on, so that each can be measured on its own.

In: a name, as `TEXT2SQL_STRATEGY` and `--strategy` give it: `standard`, `few-shot-5`, and behind slashes what to change
(`full/no-judge`, `standard/examples=5/no-plan`). Out: a `Strategy`, which nodes read from their run's context.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from agent.state import RetryCategory

EVERY_CATEGORY: frozenset[RetryCategory] = frozenset(
    ("execution_error", "hallucination", "safety", "relevance", "empty_result", "generic")
)
ADVICE: frozenset[RetryCategory] = frozenset(("relevance", "generic"))
"""What is said to a query that ran: the evidence that speaks against it."""
MOST = 20
"""Examples, candidates or rounds at most."""


@dataclass(frozen=True, slots=True)
class Strategy:
    name: str
    description: str
    """One line, for people who choose."""
    plan: bool = True
    """A model may take the question apart; else it is one task. In a conversation it is planned always, since the plan
    says what a follow-up means."""
    judge: bool = True
    """A model is asked whether the result answers the question; else its part of the score is neutral."""
    notes: bool = True
    """The model is told what the rows look like: formats, pitfalls, stored values that the question may mean."""
    examples: int = 3
    """Verified examples put before the model at most, where a team keeps any."""
    glossary: bool = True
    """Business terms that the question names are explained to the model, where a team keeps a glossary."""
    summary: bool = True
    """A model puts the answer into words; else rules do."""
    generator: Literal["query", "react"] = "query"
    """`query`: one reply is the query. `react`: the model works in steps, with tools (`agent.react`)."""
    retries: int | None = None
    """How often a query that does not pass is tried again; None: as often as the settings say."""
    retry_on: frozenset[RetryCategory] = EVERY_CATEGORY
    """What is wrong with a query that is tried again."""
    candidates: int = 1
    """Queries written for a task before one is chosen; fewer where the first ones leave no doubt."""
    verify_rounds: int = 0
    """How often the model may look at its result and revise the query."""


DEFAULT = "standard"

_PLAIN: dict[str, Any] = {"plan": False, "judge": False, "notes": False, "glossary": False, "retries": 0}
_STAGE: dict[str, Any] = {"plan": False, "judge": False, "examples": 0}

STRATEGIES: dict[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy("zero-shot", "the schema and the question alone, one call, no retry", examples=0, **_PLAIN),
        Strategy("few-shot", "the same with verified examples: few-shot-3 shows three", examples=3, **_PLAIN),
        Strategy("stage-0", "one query with notes on the data and the glossary, as it is", retries=0, **_STAGE),
        Strategy("stage-1", "and the guards' advice on a query that ran, once", retries=1, retry_on=ADVICE, **_STAGE),
        Strategy(
            "stage-2",
            "and several queries, the best chosen by evidence",
            candidates=4,
            retries=1,
            retry_on=ADVICE,
            **_STAGE,
        ),
        Strategy("stage-3", "and one repair of a query that failed", candidates=4, retries=1, **_STAGE),
        Strategy(
            "react",
            "the model works in steps with tools: schema, constraints, checks, a run, repairs",
            plan=False,
            judge=False,
            generator="react",
            retries=0,
        ),
        Strategy(DEFAULT, "one query a task, retried with feedback while it scores too low"),
        Strategy("verified", "the model looks at its result and may revise the query, twice at most", verify_rounds=2),
        Strategy("full", "several queries, the best chosen by evidence, then verified", candidates=4, verify_rounds=2),
    )
}

SWITCHES = ("plan", "judge", "notes", "glossary", "summary")
COUNTS = ("examples", "retries", "candidates", "verify_rounds")
_OFF: dict[str, Any] = {
    **dict.fromkeys(SWITCHES, False),
    "examples": 0,
    "retries": 0,
    "candidates": 1,
    "verify_rounds": 0,
}
_SHORT = {"verify": "verify_rounds"}
_SHOTS = re.compile(r"few-shot[-: ](\d{1,3})")


@lru_cache(maxsize=256)
def strategy(name: str) -> Strategy:
    """The strategy of that name. Raises ValueError that lists the names, or the changes, there are."""
    base, *changes = (part.strip() for part in name.strip().lower().split("/"))
    shots = _SHOTS.fullmatch(base)
    found = STRATEGIES.get("few-shot" if shots else base)
    if found is None:
        raise ValueError(f"there is no strategy {name!r}; there are: {', '.join(STRATEGIES)}")
    if shots:
        found = replace(found, name=f"few-shot-{int(shots[1])}", examples=_count("examples", shots[1]))
    for change in changes:
        found = replace(found, name=f"{found.name}/{change}", **_changed(change))
    return found


def _changed(change: str) -> dict[str, Any]:
    """The field that `no-PART`, `PART` or `PART=N` stands for."""
    part, given, number = change.partition("=")
    off = part.startswith("no-")
    part = part.removeprefix("no-").strip()
    field = _SHORT.get(part, part)
    if field not in _OFF or (off and given) or (not off and (field in COUNTS) != bool(given)):
        parts = [*(f"no-{name}, {name}" for name in SWITCHES), *(f"no-{name}, {name}=N" for name in COUNTS)]
        raise ValueError(f"{change!r} changes no strategy; what does: {'; '.join(parts)}")
    if off:
        return {field: _OFF[field]}
    return {field: _count(part, number.strip()) if given else True}


def _count(part: str, number: str) -> int:
    least = 1 if part == "candidates" else 0
    if not number.isdecimal() or not least <= int(number) <= MOST:
        raise ValueError(f"{part} must be a whole number from {least} to {MOST}, not {number!r}")
    return int(number)
