"""A run on disk: its folder, its settings, its budget, and the commands that work on it.

`DIR/journal.jsonl` holds the events, `run.json` the options, `answers.jsonl` what was measured, `spent.jsonl` each call
to a model, `kits/` the kits. docs/lab.md describes the folder.
"""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TextIO

from agent.config import Settings, settings
from agent.models import OFFLINE, closing, shared_model
from eval.errors import InputError
from eval.jsonl import Record
from text2sql_lab.budget import Budget
from text2sql_lab.evolvers import evolver
from text2sql_lab.evolvers.protocol import ranked, scores, yields
from text2sql_lab.journal import BASE, Journal
from text2sql_lab.measurement import Elsewhere, Kits, Measurer, outcome_of
from text2sql_lab.options import databases_named
from text2sql_lab.progress import Progress
from text2sql_lab.proof import gained
from text2sql_lab.questions import Question, digest_of, read_questions, splits
from text2sql_lab.ratings import bradley_terry, elo
from text2sql_lab.run import Result, Run, too_few
from text2sql_lab.summary import write_summary


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `tune`."""

    questions: str
    db: str = ""
    databases: str = ""
    evolver: str = "mined"
    approaches: tuple[str, ...] = ()
    deep_focus: int = 1
    candidates: tuple[str, ...] = ()
    model: str = ""
    writer: str = ""
    rounds: int = 8
    seed: int = 0
    hours: float | None = None
    dollars: float | None = None
    calls: int | None = None
    jobs: int = 4
    on: str = ""
    """The cluster that answers; empty: this machine."""


class Session:
    """One run, opened to go on. Raises InputError for options that do not fit together or to the folder."""

    def __init__(self, out: Path, options: Options, config: Settings, progress: TextIO | None = None) -> None:
        self.databases = databases_named(options.db, options.databases)
        self.out, self.options, self.config = out, options, config
        out.mkdir(parents=True, exist_ok=True)
        self.questions = read_questions(Path(options.questions), options.db)
        made = evolver(
            options.evolver,
            approaches=options.approaches,
            deep_focus=options.deep_focus,
            kits=[_files(k) for k in options.candidates],
        )
        dialect = self.databases(self.questions[0].db).dialect
        self.splits = splits(self.questions, options.seed, dialect, choosing=made.chooses)
        self.journal = Journal(out / "journal.jsonl")
        self._begin()
        priced = config.model.price_input is not None and config.model.price_output is not None
        if options.dollars is not None and options.model != OFFLINE and not config.model.offline and not priced:
            raise InputError("A budget in dollars needs TEXT2SQL_PRICE_INPUT and TEXT2SQL_PRICE_OUTPUT.")
        self.budget = Budget(options.calls, options.dollars, options.hours, kept=out / "spent.jsonl")
        self.progress = Progress(progress, self.budget)
        self.model = shared_model(config.model, options.model or None, self.budget)
        self.writer = shared_model(config.model, options.writer, self.budget) if options.writer else self.model
        self.measurer = Measurer(
            self.databases,
            self.model,
            config,
            Kits(out / "kits"),
            self.budget,
            out / "answers.jsonl",
            options.jobs,
            self.progress.measured,
            Elsewhere(options.on, functools.partial(_answering, options), progress) if options.on else None,
        )
        self.run = Run(self.journal, self.splits, made, self.measurer, self.writer, self._on_event)

    def _begin(self) -> None:
        """Write the first event, or refuse a folder of another run."""
        wanted = {
            "event": "start",
            "seed": self.options.seed,
            "evolver": self.options.evolver,
            "approaches": list(self.options.approaches),
            "model": self.options.model or self.config.model.answering or self.config.model.name,
            "questions": digest_of(self.questions),
            "rounds": self.options.rounds,
        }
        if not self.journal.events:
            if (self.out / "results.jsonl").exists():
                raise InputError(f"{self.out} holds results of another command; choose another --out.")
            self.journal.add(wanted)
        differing = [key for key, value in wanted.items() if self.journal.events[0].get(key) != value]
        if differing:
            raise InputError(f"{self.out} holds a run with another {', '.join(differing)}; choose another --out.")
        (self.out / "run.json").write_text(json.dumps(asdict(self.options), indent=2) + "\n", encoding="utf-8")

    def _on_event(self, text: str) -> None:
        self.progress.say(text)
        write_summary(self.out, self.journal.state, self.measurer.kits)

    async def finish(self) -> Result:
        if warning := too_few(len(self.splits[0].held_out)):
            self.progress.say(warning)
        async with closing(self.model, self.writer):
            return await self.run.finish()


@asynccontextmanager
async def _answering(options: Options, config: Settings) -> AsyncIterator[Callable[[Record], Awaitable[Record]]]:
    """Work for a process of a cluster, with databases and a model of its own."""
    databases, model = databases_named(options.db, options.databases), shared_model(config.model, options.model or None)

    async def one(record: Record) -> Record:
        question: Question = record["question"]
        database = await asyncio.to_thread(databases, question.db)
        return {"outcome": await outcome_of(question, database, model, config)}

    async with closing(model):
        yield one


def _files(folder: str) -> dict[str, str]:
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"{folder} is no kit")
    return Kits(place.parent).files(place.name)


def options_of(out: Path) -> Options:
    try:
        options = json.loads((out / "run.json").read_text(encoding="utf-8"))
        lists = {name: tuple(value) for name, value in options.items() if isinstance(value, list)}
        return Options(**{**options, **lists})
    except (OSError, ValueError, TypeError):
        raise InputError(f"{out} is not the folder of a run.") from None


def extended(out: Path, rounds: int, hours: float | None, dollars: float | None, calls: int | None) -> Options:
    """Add rounds to a run, and give its options with the new budget."""
    options, journal = options_of(out), Journal(out / "journal.jsonl")
    journal.add({"event": "extended", "rounds": rounds})
    given: dict[str, Any] = {"hours": hours, "dollars": dollars, "calls": calls}
    return replace(options, **{name: value for name, value in given.items() if value is not None})


def status_of(out: Path) -> dict[str, Any]:
    options_of(out)
    state = Journal(out / "journal.jsonl").state
    status: dict[str, Any] = {"events": state.events, "ended": state.end is not None}
    for split, events in state.played.items():
        rounds = [scores(e) for e in events]
        status[split] = {
            "rounds": f"{len(rounds)} of {state.rounds}",
            "elo": {kit: round(r) for kit, r in elo(rounds).items()},
            "pairs_won": {way: f"{won} of {n}" for way, (won, n) in yields(state, split).items()},
            "bradley_terry": {kit: round(r) for kit, r in bradley_terry(rounds).items()},
        }
    return status | ({"result": state.end["why"]} if state.end else {})


async def compared(out: Path, first: str, second: str) -> dict[str, Any]:
    """Two kits on the questions of the random split that may be looked at."""
    session = Session(out, options_of(out), settings())
    for kit in (first, second):
        if kit != BASE and not session.measurer.kits.path(kit).is_dir():
            raise InputError(f"There is no kit {kit}; there are {', '.join(ranked(session.journal.state, 'random'))}.")
    questions = (*session.splits[0].mine, *session.splits[0].choose)
    mine = await session.measurer.outcomes(first, questions)
    its = await session.measurer.outcomes(second, questions)
    gain = gained([a.right for a in mine], [b.right for b in its])
    return {
        "questions": len(questions),
        first: sum(a.right for a in mine),
        second: sum(b.right for b in its),
        "won": gain.won,
        "lost": gain.lost,
        "p": gain.p,
    }


def accepted(out: Path, env: Path, *, force: bool) -> str:
    """Make the kit of a run the default in a settings file. Raises InputError for a kit that proved nothing."""
    state = Journal(out / "journal.jsonl").state if options_of(out) else None
    if state is None or state.end is None:
        raise InputError("The run has not ended.")
    if state.end["kit"] == BASE or not (state.end["accepted"] or force):
        raise InputError(f"There is nothing to accept: {state.end['why']}")
    place = (out / "kits" / state.end["kit"]).resolve()
    lines = env.read_text(encoding="utf-8").splitlines() if env.exists() else []
    kept = [line for line in lines if not line.startswith("TEXT2SQL_KIT=")]
    env.write_text("\n".join([*kept, f"TEXT2SQL_KIT={place}", ""]), encoding="utf-8")
    return f"TEXT2SQL_KIT={place} is set in {env}."
