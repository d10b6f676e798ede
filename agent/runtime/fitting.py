"""A prompt that is too long for its model's server: the schema is described in fewer words, and the call made again.

In: a call that takes the text of the schema. Out: its reply, and the text that fitted, which the later steps of the run
begin with. The user is told, with the setting that helps. What fits is remembered for the model.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from agent.knowledge.privacy import privacy_of
from agent.models.protocol import Bounded, PromptTooLong, Usage
from agent.state import AgentState, with_evidence
from agent.strategies import SHORT_TOKENS
from eval.threads import in_turn

if TYPE_CHECKING:
    from agent.knowledge.model_view import ModelView
    from agent.runtime.context import RunContext
    from eval.schema import Schema

T = TypeVar("T")

EARLIER_QUESTIONS = 2
"""Number of earlier questions that also count when part of a large structure is selected."""
_TRIES = 5
_LEAST = 150
"""Tokens of the shortest description that is tried."""
_ROOM = 0.2
"""Share of the context that is left for the reply."""


def view_of(state: AgentState, context: RunContext, schema: Schema, tokens: int | None = None) -> ModelView:
    """What the model sees of the database for this question: at most `tokens` in all, else as the settings allow and
    the model's server is known to take."""
    from agent.knowledge.model_view import model_view

    limits, model = context.limits, context.model
    known = model.schema_tokens if isinstance(model, Bounded) else None
    fits = tokens or known
    structure, notes = limits.schema_tokens, limits.note_tokens
    if context.strategy.short:
        structure, notes = min(structure, SHORT_TOKENS), 0
    if fits is not None:
        notes = min(notes, fits // 6)
        structure = min(structure, fits - notes)
    earlier = [turn.question for turn in state.get("history", [])[-EARLIER_QUESTIONS:]]
    return model_view(
        "\n".join([*earlier, with_evidence(state["question"], state.get("evidence", ""))]),
        context.database,
        schema,
        privacy=privacy_of(model),
        schema_tokens=structure,
        note_tokens=notes,
        reads=context.execute and context.strategy.notes,
        as_ddl=context.strategy.short,
    )


async def fitted(ask: Callable[[str], Awaitable[T]], state: AgentState, context: RunContext) -> tuple[T, str]:
    """The reply, and the text of the schema that it was given for. Raises what `ask` raises; a text that fitted is then
    in the context."""
    text = context.shortened or state["schema_context"]
    refused: PromptTooLong | None = None
    for _ in range(_TRIES):
        fits = True
        try:
            return await ask(text), text
        except PromptTooLong as error:
            fits, refused = False, error
            view = await in_turn(_smaller, state, context, await context.schema(), text, error)
            if view is None or view.text == text:
                break
            text = view.text
        finally:
            if fits and refused is not None:
                _tell(refused, text, context)
    assert refused is not None
    raise refused


def _smaller(
    state: AgentState, context: RunContext, schema: Schema, text: str, error: PromptTooLong
) -> ModelView | None:
    from agent.knowledge.schema_context import estimate_tokens

    now = estimate_tokens(text)
    share = 0.5
    if error.sizes is not None:
        has, fits = error.sizes
        excess = has - fits * (1 - _ROOM)
        share = min(0.8, max(0.1, (now - excess) / now))
    tokens = int(now * share)
    return view_of(state, context, schema, tokens) if tokens >= _LEAST else None


def _tell(error: PromptTooLong, text: str, context: RunContext) -> None:
    from agent.knowledge.schema_context import estimate_tokens

    tokens = estimate_tokens(text)
    context.shortened = text
    if isinstance(context.model, Bounded):
        context.model.learn_schema_tokens(tokens)
    sizes = f" ({error.sizes[0]:,} tokens, where {error.sizes[1]:,} fit)" if error.sizes else ""
    warning = (
        f"The prompt was too long for the model's server{sizes}, so the model saw a shorter description of the "
        "database. Raise the context length of the server (llama.cpp: -c; Ollama: OLLAMA_CONTEXT_LENGTH); "
        f"TEXT2SQL_SCHEMA_TOKENS={tokens} begins with what fits."
    )
    context.trouble("the schema was shortened to fit the model's server")
    context.spend(Usage(warnings=(warning,)))
