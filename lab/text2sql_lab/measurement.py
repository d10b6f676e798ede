"""Measures kits: the whole agent answers questions, and its results are compared with those of the verified queries.

In: a kit and questions. Out: an `Outcome` each. Outcomes are kept in a file, under the question and the parts of the
kit that its answer can depend on: a kit that shows a question nothing new costs nothing.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import shutil
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from agent.config import Settings
from agent.knowledge.kit import Kit, digest, read_kit
from agent.knowledge.memory.retrieval import remembered
from agent.models import OFFLINE
from agent.models.protocol import Model, ModelError
from agent.strategies import strategy
from eval.databases.base import Database
from eval.jsonl import LineError, Record
from eval.metrics.items import compare_items
from eval.schema import Schema
from text2sql_lab.budget import Budget, BudgetSpent
from text2sql_lab.journal import BASE
from text2sql_lab.questions import Question
from text2sql_lab.record_lines import append_record, records_in

if TYPE_CHECKING:
    from agent.models.calls import Replies
    from agent.runner import Answer

Key = TypeVar("Key", bound=Hashable)

ATTEMPTS = 3
"""Attempts at a question while the model is away, or the question's time runs out."""
NO_SUMMARY = "no-summary"


class LabStopped(ModelError):
    """The model does not answer, so the run cannot go on now; the same command continues it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    right: bool
    sql: str
    reply: str = ""
    """The writer's reasoning, or why there is no query."""
    runs: bool = False
    calls: int = 0
    tokens: int = 0
    dollars: float | None = None
    seconds: float = 0.0
    gold_error: str = ""
    """Why the verified query does not run, so that no answer is right."""
    first_word_seconds: float | None = None
    """From the first request to the first word of the reply; None where no model was asked."""


@dataclass(frozen=True, slots=True)
class Kits:
    """The kits of a run, each in a folder named by its digest."""

    folder: Path

    def add(self, files: Mapping[str, str]) -> str:
        """Keep a kit; its digest, or BASE for one without content. Raises BadMemory for a kit that cannot be used, and
        keeps nothing then."""
        texts = {name: text for name, text in files.items() if text.strip()}
        if not texts:
            return BASE
        name = digest(texts)
        place = self.folder / name
        known = place.is_dir()
        place.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            (place / file).write_text(text, encoding="utf-8")
        try:
            read_kit(place)
        except ValueError:
            if not known:
                shutil.rmtree(place)
            raise
        return name

    def drop(self, name: str) -> None:
        """Forget a kit that was only tried."""
        if name != BASE:
            shutil.rmtree(self.path(name), ignore_errors=True)

    def path(self, name: str) -> Path:
        return self.folder / name

    def files(self, name: str) -> dict[str, str]:
        """The content of a kit; empty for BASE."""
        place = self.path(name)
        return {} if name == BASE else {f.name: f.read_text("utf-8") for f in sorted(place.iterdir()) if f.is_file()}

    def kit(self, name: str) -> Kit:
        return Kit() if name == BASE else read_kit(self.path(name))


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A cluster on which questions are answered."""

    on: str
    opening: Callable[[Settings], AbstractAsyncContextManager[Callable[[Record], Awaitable[Record]]]]
    """Opens databases and model in a process of the cluster; {question} becomes {outcome}. Picklable."""
    progress: TextIO | None = None


async def outcome_of(
    question: Question,
    database: Database,
    model: Model | str,
    config: Settings,
    check: Callable[[], None] = lambda: None,
) -> Outcome:
    """One question answered and compared. One whose time runs out in every attempt counts as wrong. `check` is called
    after each attempt. Raises LabStopped where the model is away."""
    from agent.runner import run

    for left in reversed(range(ATTEMPTS)):
        with _hearing(model) as replies:
            answer = await run(
                question.text, evidence=question.evidence, database=database, model=model, settings=config
            )
        check()
        away = answer.error_kind in ("model", "model_auth")
        if not away and not (answer.error_kind == "timeout" and left):
            first_word = replies.first_word_seconds if replies else None
            return await asyncio.to_thread(_compared, answer, question, database, first_word)
    raise LabStopped(f"The model does not answer: {answer.reason}")


def _hearing(model: Model | str) -> AbstractContextManager[Replies | None]:
    """Hears how long the model takes to its first word."""
    if model == OFFLINE:
        return nullcontext()
    from agent.models.calls import recording

    return recording()


async def measure(
    questions: Mapping[Key, Question],
    databases: Callable[[str], Database],
    model: Model | str,
    config: Settings,
    budget: Budget,
    jobs: int,
    keep: Callable[[Key, Outcome], None],
) -> None:
    """Answer questions, at most `jobs` at once, and `keep` each outcome. Questions that the budget does not allow are
    left out. Raises LabStopped and DatabaseError."""
    turns = asyncio.Semaphore(1 if model == OFFLINE else jobs)

    def check() -> None:
        if budget.exhausted:  # an answer without the calls that it needed says nothing
            budget.check()

    async def one(key: Key, question: Question) -> None:
        async with turns:
            try:
                budget.check()
                database = await asyncio.to_thread(databases, question.db)
                keep(key, await outcome_of(question, database, model, config, check))
            except BudgetSpent:  # what others have under way is paid for, so they are not cancelled
                return

    try:
        async with asyncio.TaskGroup() as group:
            for key, question in questions.items():
                group.create_task(one(key, question))
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None


@dataclass(slots=True)
class Measurer:
    """Answers questions with kits. Everything is measured with one model and one state of the settings."""

    databases: Callable[[str], Database]
    model: Model | str
    config: Settings
    kits: Kits
    budget: Budget
    kept: Path
    jobs: int
    on_progress: Callable[[int, int], None]
    """Called with the progress of each measurement: done, of."""
    elsewhere: Elsewhere | None = None
    _outcomes: dict[tuple[str, str], Outcome] = field(init=False)

    def __post_init__(self) -> None:
        self._outcomes = {(record.pop("id"), record.pop("seen")): Outcome(**record) for record in records_in(self.kept)}

    @property
    def mean_calls(self) -> float:
        """Calls of a model for one question, so far."""
        return sum(o.calls for o in self._outcomes.values()) / max(1, len(self._outcomes))

    def schema(self, db: str) -> Schema:
        return self.databases(db).schema()

    async def outcomes(self, name: str, questions: Sequence[Question]) -> list[Outcome]:
        """How a kit fares, in the order of the questions. Raises BudgetSpent."""
        keys = [(q.id, self._seen(self.kits.kit(name), q)) for q in questions]
        left = {key: q for key, q in zip(keys, questions, strict=True) if key not in self._outcomes}
        done = len(questions) - len(left)

        def keep(key: tuple[str, str], outcome: Outcome) -> None:
            nonlocal done
            self._outcomes[key] = outcome
            append_record(self.kept, {"id": key[0], "seen": key[1], **asdict(outcome)})
            done += 1
            self.on_progress(done, len(questions))

        if self.elsewhere is None:
            await measure(left, self.databases, self.model, self._config(name), self.budget, self.jobs, keep)
        elif left:
            await asyncio.to_thread(self._elsewhere, self.elsewhere, name, left, keep)
        if any(key not in self._outcomes for key in keys):
            self.budget.check()
        return [self._outcomes[key] for key in keys]

    def _elsewhere(
        self,
        elsewhere: Elsewhere,
        name: str,
        left: Mapping[tuple[str, str], Question],
        keep: Callable[[tuple[str, str], Outcome], None],
    ) -> None:
        """In processes of a cluster. Each result's calls are counted when it arrives, so what is under way when the
        budget is spent goes beyond it. Raises LabStopped."""
        from eval.parallel import Lasting, results_in_order

        work = Lasting(functools.partial(elsewhere.opening, self._config(name)))
        records = ({"question": question} for question in left.values() if self.budget.affords(1))
        results = results_in_order(work, records, self.jobs, elsewhere.on, progress=elsewhere.progress)
        try:
            for key, result in zip(left, results, strict=False):
                outcome: Outcome = result["outcome"]
                self.budget.spent_elsewhere(outcome.calls, outcome.dollars or 0.0)
                keep(key, outcome)
        except LineError as error:
            raise LabStopped(str(error)) from None

    def _config(self, name: str) -> Settings:
        kit = None if name == BASE else str(self.kits.path(name))
        how = self.kits.kit(name).strategy or self.config.judging.strategy
        return self.config.changed(judging={"kit": kit, "strategy": strategy(f"{how}/{NO_SUMMARY}").name})

    def _seen(self, kit: Kit, question: Question) -> str:
        """The parts of a kit that the answer to a question can depend on, as a digest."""
        parts: list[Any] = [kit.strategy, kit.knobs]
        offline = self.model == OFFLINE
        if not offline:
            parts += [kit.memory.instructions, kit.memory.analysis]
        if kit.memory.glossary.entries or kit.memory.examples:
            how = strategy(kit.strategy or self.config.judging.strategy)
            schema = self.schema(question.db)
            shown = 0 if offline else how.examples
            notes = remembered(question.text, kit.memory, schema, db=question.db, examples=shown, glossary=how.glossary)
            parts.append(notes.statements if offline else (notes.glossary_text, notes.examples_text))
        texts = [part for part in parts if part]
        return hashlib.sha256(repr(texts).encode()).hexdigest()[:12] if texts else ""


def _compared(answer: Answer, question: Question, database: Database, first_word: float | None) -> Outcome:
    runs, right, gold_error = False, False, ""
    for gold in question.golds if answer.sql else ():
        compared = compare_items(gold, answer.sql, database)
        runs, right, gold_error = compared.va, compared.ex is True, compared.gold_error or ""
        if right or not runs:
            break
    tokens = answer.tokens
    return Outcome(
        right,
        answer.sql,
        answer.reason[:2_000],
        runs,
        tokens.calls,
        tokens.input + tokens.output,
        tokens.cost_usd,
        answer.seconds,
        gold_error,
        first_word,
    )


def bits(outcomes: Sequence[Outcome]) -> str:
    return "".join("01"[o.right] for o in outcomes)
