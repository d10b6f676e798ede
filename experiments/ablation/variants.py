"""The unit of an ablation, `Variant`, and its result, `ItemResult`: one variant on one question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from agent.runtime.strategies import strategy


@dataclass(frozen=True, slots=True)
class Variant:
    """One strategy, with the recorded system that replaces the model, if there is one."""

    strategy: str
    system: str = ""
    """Several are joined by `+`: the first attempt at a question gets the first one's answer, retries get the
    others'."""

    @property
    def systems(self) -> list[str]:
        return [name.strip() for name in self.system.split("+")]

    @property
    def name(self) -> str:
        return f"{self.strategy}={self.system}" if self.system else self.strategy


def read_variants(text: str) -> list[Variant]:
    """`zero-shot,few-shot-3=SYSTEM,full/no-judge`. Raises ValueError for an unknown strategy or a variant named
    twice."""
    variants = []
    for part in filter(None, (word.strip() for word in text.split(","))):
        name, _, system = part.rpartition("=") if _names_a_system(part) else (part, "", "")
        variants.append(Variant(strategy(name).name, system.strip()))
    if not variants:
        raise ValueError("no strategy is named")
    if twice := sorted({r.name for r in variants if variants.count(r) > 1}):
        raise ValueError(f"named twice: {', '.join(twice)}")
    return variants


def _names_a_system(part: str) -> bool:
    """Whether the last `=` precedes a system, and not a change such as `full/candidates=8`."""
    before, equals, after = part.rpartition("=")
    return bool(equals) and not ("/" in before.rpartition("=")[2] and after.strip().isdecimal())


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One variant on one question. The metrics as in `eval.metrics.items.Comparison`."""

    variant: str
    id: str
    db: str
    sql: str
    va: bool
    em: bool
    ex: bool
    """Also False when gold fails; `gold_error` then says so."""
    ts: bool | None
    """None without a test suite, or when gold fails on one of its databases."""
    gold_error: str | None
    error: str | None
    """Why the query does not run, or why there is none."""
    status: str
    """As in `agent.runner.Answer`."""
    attempts: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    seconds: float
    reported_ex: bool | None = None
    """The recording's verdict on its own answer."""

    @property
    def key(self) -> tuple[str, str]:
        return self.variant, self.id

    def record(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> ItemResult:
        """Back from JSON. Raises TypeError for another object."""
        return cls(**record)


def results_of(variant: Variant, ids: Iterable[str], results: Iterable[ItemResult]) -> list[ItemResult]:
    """A variant's results for these questions, in their order."""
    by_key = {result.key: result for result in results}
    return [by_key[variant.name, one] for one in ids if (variant.name, one) in by_key]
