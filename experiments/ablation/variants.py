"""The unit of an ablation, `Variant`, and its result, `ItemResult`: one variant on one question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from agent.strategies import strategy

NO_KIT = "base"
"""Names the agent without a kit among kits."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One strategy, with the recorded system that replaces the model, if there is one."""

    strategy: str
    system: str = ""
    """Several are joined by `+`: the first attempt at a question gets the first one's answer, retries get the
    others'."""
    model: str = ""
    """Empty where all variants have the same."""
    kit: str = ""
    """Its folder."""
    seed: int | None = None
    group: str = ""
    """What its other seeds are called, too; empty for the variant's own name."""

    @property
    def systems(self) -> list[str]:
        return [name.strip() for name in self.system.split("+")]

    @property
    def name(self) -> str:
        parts = (
            self.strategy,
            f"={self.system}" if self.system else "",
            f" @{self.model}" if self.model else "",
            f" +{Path(self.kit).name}" if self.kit else "",
            f" #{self.seed}" if self.seed is not None else "",
        )
        return "".join(parts)


def read_variants(text: str) -> list[Variant]:
    """`zero-shot,few-shot-3=SYSTEM,full/no-judge`; `few-shot-3=A|B` are two runs of one variant that differ in their
    seed. Raises ValueError for an unknown strategy or a variant named twice."""
    variants = []
    for part in filter(None, (word.strip() for word in text.split(","))):
        name, _, systems = part.rpartition("=") if _names_a_system(part) else (part, "", "")
        known = strategy(name).name
        group = f"{known}={systems.strip()}" if "|" in systems else ""
        variants += [Variant(known, system.strip(), group=group) for system in systems.split("|")]
    if not variants:
        raise ValueError("no strategy is named")
    if twice := sorted({r.name for r in variants if variants.count(r) > 1}):
        raise ValueError(f"named twice: {', '.join(twice)}")
    return variants


def crossed(
    variants: Sequence[Variant], models: Sequence[str], kits: Sequence[str], seeds: Sequence[int]
) -> list[Variant]:
    """Each variant with each model, kit and seed. A recorded system has no other model and no other seed. Raises
    ValueError for two kits of one name."""
    if len({Path(kit).name for kit in kits}) < len(kits):
        raise ValueError("two kits have the same name")
    crossings = []
    for one in variants:
        for model in models if len(models) > 1 and not one.system else ("",):
            for kit in kits or ("",):
                here = replace(one, model=model, kit="" if kit == NO_KIT else kit)
                if one.system or not seeds:
                    crossings.append(here)
                else:
                    crossings += [replace(here, seed=seed, group=here.name) for seed in seeds]
    return crossings


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
    question: str = ""
    gold_sql: str = ""
    raw: str = ""
    """The reply with the SQL as it came; for a recorded system, as it was recorded."""
    outcome: str = ""
    """One of `experiments.ablation.outcomes.OUTCOMES`; empty in folders of earlier versions."""
    difficulty: str = ""
    first_word_seconds: float | None = None
    """From the first call of the model to its first word; None where no model was called."""

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
