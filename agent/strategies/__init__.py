"""Named strategies: which parts of the pipeline are on, so that the effect of each part can be measured.

In: a name, as in `TEXT2SQL_STRATEGY` and `--strategy`: `standard`, `few-shot-5`, with changes after slashes
(`full/no-judge`, `standard/examples=5/no-plan`). Out: a `Strategy`, which nodes read from their run's context.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from agent.state import RetryCategory

EVERY_CATEGORY: frozenset[RetryCategory] = frozenset(
    ("execution_error", "hallucination", "safety", "relevance", "empty_result", "generic")
)
ADVICE: frozenset[RetryCategory] = frozenset(("relevance", "generic"))
"""Feedback on a query that ran: the evidence against it."""
SHORT_TOKENS = 3_000
"""Maximum tokens of the structure in a short prompt; a small model reads some 40 a second on one core."""
MOST = 20
"""Maximum examples, candidates or rounds."""


@dataclass(frozen=True, slots=True)
class Strategy:
    name: str
    description: str
    """One line of description for users."""
    plan: bool = True
    """A model may split the question into tasks; else it is one task. In a conversation it is always planned, because
    the plan holds the standalone form of a follow-up."""
    plan_sql: bool = True
    """A plan of one task includes its query, which saves the call that writes it."""
    judge: bool = True
    """A model judges whether the result answers the question; else the judge's part of the score is neutral."""
    judge_settled: bool = True
    """A model judges even queries that the evidence already settles."""
    summary_ahead: bool = True
    """The summary is written while the judge works; it is shown after the query has passed the gate."""
    notes: bool = True
    """The prompt describes the rows: formats, pitfalls, stored values that the question may mean."""
    examples: int = 3
    """Maximum verified examples in the prompt, if the team has any."""
    glossary: bool = True
    """The prompt explains the business terms that the question names, if the team has a glossary."""
    clamp_projection: bool = False
    """The columns are cut and ordered as the question lists them (`agent.candidates.clamps`)."""
    clamp_order: bool = False
    """ORDER BY and LIMIT are dropped where the question ranks nothing."""
    clamp_ids: bool = False
    """Identifiers that the question does not name are dropped from the output."""
    constraint_gate: bool = False
    """A query that lacks what the question asks for is not run while a retry is left."""
    summary: bool = True
    """A model writes the answer; else rules do."""
    short: bool = False
    """The prompt is the database's DDL, four rules and the question, and the reply is the query alone. Small models
    follow no long rules: they join what they need not, count what they should list, and decline."""
    cascade: bool = False
    """The built-in engine answers what it surely reads. Else the model writes; its query is repaired, and compared with
    the engine's (`agent.candidates.cascade`). The engine answers where the model fails."""
    engine: bool = True
    """In a cascade the built-in engine reads the question, too; else the model is alone."""
    generator: Literal["query", "react"] = "query"
    """`query`: the model writes the query in one reply. `react`: it works in steps, with tools (`agent.react`)."""
    retries: int | None = None
    """Maximum retries of a query that does not pass; None: as in the settings."""
    retry_on: frozenset[RetryCategory] = EVERY_CATEGORY
    """The kind of feedback on a query that is retried."""
    candidates: int = 1
    """Candidates written for a task before one is chosen; fewer if the first ones leave no doubt."""
    verify_rounds: int = 0
    """Maximum rounds in which the model reviews its result and may revise the query."""

    @property
    def clamps(self) -> bool:
        """Whether any rule may rewrite the query."""
        return self.clamp_projection or self.clamp_order or self.clamp_ids


DEFAULT = "standard"
CASCADE = "cascade"
_ALSO = {"small": CASCADE}
"""Earlier names."""

_PLAIN: dict[str, Any] = dict.fromkeys(("plan", "judge", "notes", "glossary"), False) | {"short": True, "retries": 0}
_STAGE: dict[str, Any] = {"plan": False, "judge": False, "short": True, "examples": 0}

STRATEGIES: dict[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy("zero-shot", "the schema and the question alone, one call, no retry", examples=0, **_PLAIN),
        Strategy("few-shot", "the same with verified examples: few-shot-3 shows three", examples=3, **_PLAIN),
        Strategy(
            "clamped",
            "zero-shot, with the query cut to the question's words by rules",
            examples=0,
            clamp_projection=True,
            clamp_order=True,
            clamp_ids=True,
            **_PLAIN,
        ),
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
        Strategy(
            CASCADE,
            "for small and slow models: the built-in engine first, then one short call, repairs, samples",
            plan=False,
            plan_sql=False,
            judge=False,
            summary=False,
            short=True,
            cascade=True,
            examples=2,
            retries=0,
        ),
        Strategy(DEFAULT, "one query a task, retried with feedback while it scores too low"),
        Strategy("verified", "the model looks at its result and may revise the query, twice at most", verify_rounds=2),
        Strategy("full", "several queries, the best chosen by evidence, then verified", candidates=4, verify_rounds=2),
    )
}

SWITCHES = tuple(field.name for field in fields(Strategy) if isinstance(field.default, bool))
"""The parts that are on or off."""
COUNTS = {"examples": 0, "retries": 0, "candidates": 1, "verify_rounds": 0}
"""The parts that are counted, with the least of each."""
_SHORT = {"verify": "verify_rounds"}
_SHOTS = re.compile(r"few-shot[-: ](\d{1,3})")


@lru_cache(maxsize=256)
def strategy(name: str) -> Strategy:
    """The strategy of that name. Raises ValueError that lists the known names or changes."""
    base, *changes = (part.strip() for part in name.strip().lower().split("/"))
    shots = _SHOTS.fullmatch(base)
    known = STRATEGIES.get("few-shot" if shots else _ALSO.get(base, base))
    if known is None:
        raise ValueError(f"there is no strategy {name!r}; there are: {', '.join(STRATEGIES)}")
    if shots:
        known = replace(known, name=f"few-shot-{int(shots[1])}", examples=_count("examples", shots[1]))
    for change in changes:
        known = replace(known, name=f"{known.name}/{change}", **_changed(change))
    return known


def _changed(change: str) -> dict[str, Any]:
    """The field and value that `no-PART`, `PART` or `PART=N` sets."""
    part, given, number = change.partition("=")
    off = part.startswith("no-")
    part = part.removeprefix("no-").strip().replace("-", "_")
    field = _SHORT.get(part, part)
    if field not in (*SWITCHES, *COUNTS) or (off and given) or (not off and (field in COUNTS) != bool(given)):
        parts = [*(f"no-{name}, {name}" for name in SWITCHES), *(f"no-{name}, {name}=N" for name in COUNTS)]
        raise ValueError(f"{change!r} changes no strategy; what does: {'; '.join(parts)}")
    if off:
        return {field: COUNTS.get(field, False)}
    return {field: _count(part, number.strip()) if given else True}


def _count(part: str, number: str) -> int:
    least = COUNTS.get(part, 0)
    if not number.isdecimal() or not least <= int(number) <= MOST:
        raise ValueError(f"{part} must be a whole number from {least} to {MOST}, not {number!r}")
    return int(number)
