"""Tiers: several models answer the same questions, each without a kit and with each kit, under one or more strategies.

In: options, as of `python -m agent.lab tiers`. Out: `Tiers`, each time one more of them is complete. The folder keeps
every answer, so that a run that was stopped goes on; a kit whose content has changed makes another tier.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any, TextIO

from agent.config import Settings
from agent.knowledge.kit import Kit, read_kit
from agent.knowledge.memory.lines import BadMemory
from agent.models import OFFLINE, closing, shared_model
from agent.models.protocol import Model
from agent.strategies import strategy
from eval.databases.base import Database
from eval.errors import InputError
from eval.metrics.intervals import Rate, percentile
from eval.run_folder import RunFolder
from text2sql_lab.budget import Budget
from text2sql_lab.journal import Journal
from text2sql_lab.measurement import NO_SUMMARY, Outcome, measure
from text2sql_lab.options import databases_named
from text2sql_lab.progress import Progress
from text2sql_lab.proof import Gain, gained
from text2sql_lab.questions import Question, digest_of, read_questions
from text2sql_lab.session import options_of


@dataclass(frozen=True, slots=True)
class TierOptions:
    questions: Path
    db: str = ""
    databases: str = ""
    held_out: Path | None = None
    """The folder of a run, of whose questions only the held-out ones are asked."""
    models: tuple[str, ...] = ()
    strategies: tuple[str, ...] = ()
    kits: tuple[Path, ...] = ()
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Dollars per million input and output tokens, by model."""
    dollars: float | None = None
    calls: int | None = None
    jobs: int = 1


@dataclass(frozen=True, slots=True)
class Tier:
    model: str
    strategy: str = ""
    """Empty: the kit's own, else as the settings say."""
    kit: str = ""
    """Its folder's name; empty without one."""
    digest: str = ""
    """Of the kit's content."""

    @property
    def agent(self) -> str:
        """What the tiers with and without a kit have in common."""
        return f"{self.model} {self.strategy}".rstrip()

    @property
    def name(self) -> str:
        return f"{self.agent} + {self.kit}" if self.kit else self.agent


@dataclass(frozen=True, slots=True)
class TierAnswer:
    """One question in one tier."""

    tier: Tier
    id: str
    outcome: Outcome

    @property
    def key(self) -> tuple[str, str]:
        return f"{self.tier.name} {self.tier.digest}", self.id

    def record(self) -> dict[str, Any]:
        return {**asdict(self.tier), "id": self.id, **asdict(self.outcome)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> TierAnswer:
        rest = dict(record)
        tier = Tier(*(rest.pop(name) for name in Tier.__dataclass_fields__))
        return cls(tier, rest.pop("id"), Outcome(**rest))


@dataclass(frozen=True, slots=True)
class Figures:
    """One tier. Amounts are means for one question; pairs are the median and the 95th percentile."""

    tier: Tier
    ex: Rate
    va: Rate
    calls: float
    tokens: float
    dollars: float | None
    """None where a price is unknown, or a server does not report tokens."""
    seconds: tuple[float, float]
    first_word: tuple[float, float] | None
    """Seconds; None where no model was asked."""
    gain: Gain | None
    """None without a kit."""

    def record(self) -> dict[str, Any]:
        """As an object of `tiers.json`."""
        low, high = self.ex.interval
        first = [round(one, 4) for one in self.first_word] if self.first_word else [None, None]
        return {
            **asdict(self.tier),
            "n": self.ex.total,
            "right": self.ex.right,
            "ex": round(self.ex.value, 4),
            "ex_interval": [round(low, 4), round(high, 4)],
            "va": round(self.va.value, 4),
            "calls": round(self.calls, 3),
            "tokens": round(self.tokens, 1),
            "dollars": self.dollars,
            "seconds_p50": round(self.seconds[0], 4),
            "seconds_p95": round(self.seconds[1], 4),
            "first_word_p50": first[0],
            "first_word_p95": first[1],
            "gain": asdict(self.gain) if self.gain else None,
        }


@dataclass(frozen=True, slots=True)
class Tiers:
    """What is measured, and the figures of the tiers that are complete."""

    notes: tuple[str, ...]
    """How it was measured."""
    wanted: int
    figures: tuple[Figures, ...] = ()
    gold_failures: tuple[str, ...] = ()
    """Ids of questions whose verified query fails; no answer to them is right."""

    def record(self) -> dict[str, Any]:
        return {
            "notes": self.notes,
            "wanted": self.wanted,
            "gold_failures": self.gold_failures,
            "tiers": [one.record() for one in self.figures],
        }


@dataclass(frozen=True, slots=True)
class _Planned:
    tier: Tier
    model: Model | str
    config: Settings


async def measured_tiers(
    out: Path,
    options: TierOptions,
    config: Settings,
    on_tier: Callable[[Tiers], None],
    progress: TextIO | None = None,
) -> Tiers:
    """Measure what is missing in the folder; `on_tier` is called after each tier. Raises InputError, DatabaseError, and
    ModelError where a model is away or the budget is spent; the same options then continue."""
    databases = databases_named(options.db, options.databases)
    questions = _questions(options)
    if (out / "journal.jsonl").exists():
        raise InputError(f"{out} holds a run of tune; choose another --out.")
    budget = Budget(options.calls, options.dollars, kept=out / "spent.jsonl")
    planned = _planned(options, config, budget)
    shown = Progress(progress, budget)
    tiers = Tiers(_notes(options, questions, planned), len(planned))
    found: dict[Tier, list[Outcome]] = {}
    async with closing(*(one.model for one in planned)):
        with RunFolder(out, _kept(options, questions, config), TierAnswer) as folder:
            await asyncio.to_thread(_import_all, all(one.model == OFFLINE for one in planned))
            for one in planned:
                found[one.tier] = await _answered(one, questions, databases, folder, budget, options.jobs, shown)
                answers = zip(questions, *found.values(), strict=True)
                failing = tuple(q.id for q, *outcomes in answers if any(o.gold_error for o in outcomes))
                tiers = replace(tiers, figures=tuple(figures(tier, found) for tier in found), gold_failures=failing)
                on_tier(tiers)
                shown.say(f"{one.tier.name}: {tiers.figures[-1].ex}")
    return tiers


async def _answered(
    one: _Planned,
    questions: Sequence[Question],
    databases: Callable[[str], Database],
    folder: RunFolder[TierAnswer],
    budget: Budget,
    jobs: int,
    shown: Progress,
) -> list[Outcome]:
    """The outcomes of a tier, in the order of the questions. Raises BudgetSpent where some are missing."""
    outcomes = {a.id: a.outcome for a in folder.results if a.tier == one.tier}

    def keep(question: str, outcome: Outcome) -> None:
        folder.add(TierAnswer(one.tier, question, outcome))
        outcomes[question] = outcome
        shown.measured(len(outcomes), len(questions))

    left = {q.id: q for q in questions if q.id not in outcomes}
    await measure(left, databases, one.model, one.config, budget, jobs, keep)
    if len(outcomes) < len(questions):
        budget.check()
    return [outcomes[q.id] for q in questions]


def _import_all(offline: bool) -> None:
    """What the first answer would otherwise wait for."""
    import agent.parser  # it also gives a second opinion on a model's query
    from agent.runner import import_nodes

    import_nodes()
    if not offline:
        import agent.models.chat  # noqa: F401


def figures(tier: Tier, found: Mapping[Tier, Sequence[Outcome]]) -> Figures:
    """The figures of a tier. `found`: the outcomes of each tier, in the order of the questions."""
    outcomes, naive = found[tier], found.get(Tier(tier.model, tier.strategy))
    dollars = [o.dollars if o.calls else 0.0 for o in outcomes]
    known = [one for one in dollars if one is not None]
    seconds = [o.seconds for o in outcomes]
    first = [o.first_word_seconds for o in outcomes if o.first_word_seconds is not None]
    return Figures(
        tier,
        ex=Rate(sum(o.right for o in outcomes), len(outcomes)),
        va=Rate(sum(o.runs for o in outcomes), len(outcomes)),
        calls=fmean(o.calls for o in outcomes),
        tokens=fmean(o.tokens for o in outcomes),
        dollars=fmean(known) if len(known) == len(outcomes) else None,
        seconds=(percentile(seconds, 0.5), percentile(seconds, 0.95)),
        first_word=(percentile(first, 0.5), percentile(first, 0.95)) if first else None,
        gain=gained([o.right for o in naive], [o.right for o in outcomes]) if tier.kit and naive else None,
    )


def _questions(options: TierOptions) -> tuple[Question, ...]:
    questions = read_questions(options.questions, options.db)
    if options.held_out is None:
        return questions
    options_of(options.held_out)
    proof = Journal(options.held_out / "journal.jsonl").state.held_out.get("random")
    if proof is None:
        raise InputError(f"The run in {options.held_out} has not read its held-out questions yet.")
    ids = set(proof["ids"])
    if missing := ids - {q.id for q in questions}:
        raise InputError(f"{options.questions.name} lacks {len(missing)} held-out questions, such as {min(missing)}.")
    return tuple(q for q in questions if q.id in ids)


def _kept(options: TierOptions, questions: Sequence[Question], config: Settings) -> dict[str, Any]:
    """What all tiers of one folder have in common."""
    where = options.db or options.databases
    place = str(Path(where).resolve()) if Path(where).exists() else where
    return {
        "questions": digest_of(questions),
        "databases": hashlib.sha256(place.encode()).hexdigest()[:12],  # a URL may hold a password
        "strategy": config.judging.strategy,
        "threshold": config.judging.score_threshold,
        "max_retries": config.judging.max_retries,
    }


def _planned(options: TierOptions, config: Settings, budget: Budget) -> list[_Planned]:
    """The tiers, each with its model and settings. Raises InputError."""
    priced = _priced(options, config)
    models = {name: shared_model(here.model, name or None, budget) for name, here in priced.items()}
    folders = {folder.resolve().name: folder.resolve() for folder in options.kits}
    if len(folders) < len(options.kits):
        raise InputError("Two kits have the same name.")
    kits = {"": Kit()}
    for label, folder in folders.items():
        try:
            kits[label] = read_kit(folder)
        except BadMemory as error:
            raise InputError(f"The kit {folder} cannot be used: {error}") from None
    try:
        strategies = dict.fromkeys(strategy(name).name for name in options.strategies) or {"": None}
    except ValueError as error:
        raise InputError(str(error)) from None
    planned = []
    for name, how, (label, kit) in product(priced, strategies, kits.items()):
        used = strategy(f"{how or kit.strategy or config.judging.strategy}/{NO_SUMMARY}").name
        model = models[name]
        tier = Tier(model if isinstance(model, str) else model.name, how, label, kit.digest)
        here = priced[name].changed(judging={"kit": str(folders[label]) if label else None, "strategy": used})
        planned.append(_Planned(tier, model, here))
    return planned


def _priced(options: TierOptions, config: Settings) -> dict[str, Settings]:
    """The settings for each model, with its price: that of `--price`, else that of the settings, which belongs to the
    configured model or to the only one that is named. Raises InputError."""
    names = tuple(dict.fromkeys(options.models or ("",)))
    if unknown := options.prices.keys() - {*names}:
        raise InputError(f"--price names a model that is not compared: {', '.join(sorted(unknown))}.")
    asked = [name for name in names if name != OFFLINE and (name or not config.model.offline)]
    of_settings = (config.model.price_input, config.model.price_output)
    priced = {}
    for name in names:
        its_own = len(asked) == 1 or name in ("", config.model.name)
        price_in, price_out = options.prices.get(name, of_settings if its_own else (None, None))
        if options.dollars is not None and name in asked and None in (price_in, price_out):
            raise InputError(f"A budget in dollars needs the price of {name or 'the model'}: see --price.")
        priced[name] = config.changed(model={"price_input": price_in, "price_output": price_out})
    return priced


def _notes(options: TierOptions, questions: Sequence[Question], planned: Sequence[_Planned]) -> tuple[str, ...]:
    notes = [f"{len(questions):,} questions of {options.questions.name}, {options.jobs} under way at once."]
    if options.held_out is not None:
        notes.append("Only questions that the run held out are asked: no kit of it was made from them.")
    elif options.kits:
        notes.append("Questions that a kit was made from flatter it; --held-out RUN leaves them out.")
    prices = {p.tier.model: p.config.model for p in planned if p.model != OFFLINE}
    for name, of in prices.items():
        if of.price_input is not None and of.price_output is not None:
            notes.append(f"{name}: {of.price_input:g} and {of.price_output:g} USD a million tokens in and out.")
    return (*notes, "No model puts the answers into words.")
