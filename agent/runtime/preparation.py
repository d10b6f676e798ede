"""What a run is made of: the database, the model, and the team's knowledge of the database.

In: what the caller named, and the settings. Out: the opened and loaded values, or `RunFailed` with a sentence for the
user.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from agent.access.database import PersonalDatabase
from agent.config import DatabaseSettings, JudgingSettings, ModelSettings, Settings
from agent.events import Event
from agent.knowledge.privacy import private
from agent.models.protocol import Model
from agent.runtime.context import RunContext, unheard
from agent.state import Term
from agent.strategies import CASCADE
from eval.databases.base import Database
from eval.databases.types import DatabaseError
from eval.errors import Text2SQLError

if TYPE_CHECKING:
    from agent.knowledge.kit import Kit
    from agent.knowledge.memory.retrieval import Memory
    from agent.knowledge.semantics.model import SemanticModel

Taught = Sequence[Term]
Confirmed = Sequence[tuple[str, str]]
"""(question, SQL) pairs."""


class RunFailed(Text2SQLError):
    """A run that ends before it has an answer; `kind` as in an `error` event."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


async def opened(database: str | Database | None, config: DatabaseSettings) -> Database:
    if isinstance(database, Database):
        return database
    from agent.runtime.catalogue import resolve_database

    return await asyncio.to_thread(resolve_database, database, config)


async def chosen_model(
    model: str | Model | None, config: ModelSettings, database: Database, semantics: SemanticModel | None
) -> tuple[Model, Model | None]:
    """The model to use, and the same model again if this run has to close it."""
    if model is not None and not isinstance(model, str):
        return model, None
    from agent.models import OFFLINE, make_model

    if model == OFFLINE and "agent.parser" in sys.modules:
        made = make_model(config, database, model, semantics)
    else:  # its import takes a moment the first time
        made = await asyncio.to_thread(make_model, config, database, model, semantics)
    return made, made


def for_database(judging: JudgingSettings, access: DatabaseSettings, database: Database) -> JudgingSettings:
    """The settings for this database: where there are policies, the files in which the team keeps what it knows are for
    the databases under them, and not for one that somebody brought."""
    if not access.policies or isinstance(database, PersonalDatabase):
        return judging
    return judging.model_copy(update=dict.fromkeys(("examples", "glossary", "semantic_model", "kit")))


async def run_context(
    database: Database,
    model: str | Model | None,
    config: Settings,
    *,
    execute: bool = True,
    confirmed: Confirmed = (),
    taught: Taught = (),
    emit: Callable[[Event], None] = unheard,
    started: float | None = None,
) -> RunContext:
    """The context of one run; whoever asked for it closes it. Raises RunFailed."""
    config = config.model_copy(update={"judging": for_database(config.judging, config.database, database)})
    kit = await asyncio.to_thread(_kit, config.judging.kit) if config.judging.kit else None
    if kit is not None:
        groups = {"judging": config.judging.model_fields_set, "limits": config.limits.model_fields_set}
        config = config.changed(**kit.settings(groups))
    judging = config.judging
    semantics = None
    if judging.semantic_model or judging.glossary or taught or database.dialect == "duckdb":
        semantics = await asyncio.to_thread(_semantics, config, database, taught)
    chosen, owned = await chosen_model(model, config.model, database, semantics)
    if chosen.capabilities.remote:
        judging = await judging_with(config, chosen.name)
    context = RunContext(
        database,
        private(chosen, config.privacy.mode),
        judging,
        config.limits,
        config.privacy,
        schema_ttl=config.database.schema_ttl,
        emit=emit,
        deadline=(time.monotonic() if started is None else started) + config.limits.run_seconds,
        execute=execute and database.executes,
        semantics=semantics,
        owned=owned,
    )
    try:
        if semantics or kit or confirmed or judging.examples or taught:
            context.memory = await asyncio.to_thread(_memory, kit, confirmed, taught, context)
    except BaseException:
        await context.close()
        raise
    return context


async def judging_with(config: Settings, model: str) -> JudgingSettings:
    """How questions are worked on with the model of that name: as set, else as a cascade for a small one, such as the
    one that was fetched."""
    if "strategy" in config.judging.model_fields_set:
        return config.judging
    from agent.models.discovery import small

    is_small = await small(config.model.model_copy(update={"name": model}))
    return config.judging.model_copy(update={"strategy": CASCADE}) if is_small else config.judging


def _kit(folder: str) -> Kit:
    """The kit in a folder. Raises RunFailed."""
    from agent.knowledge.kit import read_kit
    from agent.knowledge.memory.lines import BadMemory

    try:
        return read_kit(folder)
    except BadMemory as error:
        raise RunFailed("settings", f"The kit {folder} cannot be used: {error}") from None


def _semantics(config: Settings, database: Database, taught: Taught) -> SemanticModel | None:
    """What the team says of its business, or an import found of money in and out; as the one for whom the database was
    opened may know it, with the names that a user taught. A structure that cannot be read is told by the run's first
    step. Raises RunFailed, naming what is wrong with the file, and DatabaseError."""
    judging, ttl = config.judging, config.database.schema_ttl
    model: SemanticModel | None = None
    if judging.semantic_model or judging.glossary:
        from agent.knowledge.memory.lines import BadMemory
        from agent.knowledge.semantics.files import semantic_model_of

        try:
            model = semantic_model_of(judging)
        except BadMemory as error:
            raise RunFailed("settings", str(error)) from None
    elif database.dialect == "duckdb":
        from agent.knowledge.semantics.described import flows_of

        with suppress(DatabaseError):
            model = flows_of(database.schema(ttl=ttl))
    if model is not None and not database.sees_all:
        from agent.knowledge.semantics.terms import readable_model

        model = readable_model(model, database)
    if taught:
        from agent.knowledge.semantics.terms import with_taught

        with suppress(DatabaseError):
            model = with_taught(model, taught, database.schema(ttl=ttl))
    return model


def _memory(kit: Kit | None, confirmed: Confirmed, taught: Taught, context: RunContext) -> Memory:
    """The team's knowledge of its database, with what a user taught, which wins. What may say anything
    (instructions, an analysis) is for those who see all of it. Raises RunFailed, naming each bad line and its reason.
    """
    from agent.knowledge.memory.examples import Example
    from agent.knowledge.memory.lines import BadMemory
    from agent.knowledge.memory.retrieval import load_memory

    database, semantics = context.database, context.semantics
    try:
        kept = load_memory(context.judging.examples, context.judging.glossary)
    except BadMemory as error:
        raise RunFailed("settings", str(error)) from None
    if kit is not None:
        kept = kept.joined(kit.memory)
    if semantics is not None:
        instructions = "\n".join(filter(None, (semantics.instructions, kept.instructions)))
        kept = replace(
            kept.with_examples([Example(v.question, v.sql) for v in semantics.verified]), instructions=instructions
        )
    if not database.sees_all:
        kept = replace(kept, instructions="", analysis="")
    kept = kept.with_examples([Example(question, sql) for question, sql in confirmed])
    if taught:
        from agent.knowledge.semantics.terms import glossary_of, model_of

        with suppress(DatabaseError):
            schema = database.schema(ttl=context.schema_ttl)
            said = glossary_of(model_of(taught, schema), schema)
            kept = replace(kept, glossary=said.joined(kept.glossary))
    return kept
