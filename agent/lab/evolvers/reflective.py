"""A model reads failures and writes kits. Its ways of working are named: cross-pollinate, refine, research,
error-focused, deep-focus.

In: the best kits so far and questions that the best one fails. Out: a kit. An analysis script is tried, sealed off,
before it is proposed; `deep-focus` also tries the kit on the questions of the last round and may refine it once.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent.knowledge.analysis import run_analysis
from agent.knowledge.kit import CONTENT, INSTRUCTION_TOKENS
from agent.knowledge.memory import BadMemory
from agent.knowledge.schema_context import estimate_tokens, schema_context
from agent.lab.budget import BudgetSpent
from agent.lab.evolvers.protocol import Proposal, View, ranked
from agent.lab.journal import BASE
from agent.lab.measurement import LabStopped, Outcome
from agent.lab.questions import Question
from agent.models.openai import OpenAIModel
from agent.models.prompts import Prompt, as_data, fill, template
from agent.models.protocol import ModelError, ModelReplyError
from eval.engines import ENGINES
from eval.errors import InputError, Text2SQLError

__all__ = ["APPROACHES", "Reflective"]

APPROACHES = dict(line.split(": ", 1) for line in template("lab_approaches").system.splitlines())
FAILURES = 12
PARENTS = 3
SHOWN = 8_000
"""Maximum tokens of a kit and of the structure that are shown."""
_FIELDS = {"instructions": "instructions.md", "glossary": "glossary.yaml", "analysis": "analysis.py"}
_TEXT: dict[str, Any] = {"type": "string"}
SCHEMA: dict[str, Any] = {
    "title": "kit",
    "type": "object",
    "properties": dict.fromkeys(("reasoning", *_FIELDS), _TEXT),
    "required": ["reasoning", *_FIELDS],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Draft:
    files: dict[str, str]
    note: str
    problem: str = ""


class Reflective:
    name = "reflective"
    chooses = True

    def __init__(self, approaches: Sequence[str] = tuple(APPROACHES)) -> None:
        if unknown := sorted(set(approaches) - set(APPROACHES)):
            raise InputError(f"{', '.join(unknown)}: there are {', '.join(APPROACHES)}")
        self._approaches = tuple(approaches)

    async def propose(self, view: View) -> Proposal:
        if not isinstance(view.model, OpenAIModel):
            raise InputError("The reflective evolver needs a model that writes kits.")
        parents = ranked(view.state, view.split)[:PARENTS]
        approach = view.draw.choice(self._approaches)
        shown = await self._failures(view, parents[0])
        draft = await self._draft(view, view.model, approach, parents, shown)
        feedback = draft.problem
        if draft.files and not feedback and approach == "deep-focus":
            feedback = await self._retested(view, draft, parents[0])
        if feedback:
            again = await self._draft(view, view.model, approach, parents, shown, _again(draft, feedback))
            draft = again if again.files and not again.problem else draft
        if draft.problem:
            return Proposal({}, approach, note=draft.problem)
        return Proposal(draft.files, approach, tuple(kit for kit in parents if kit != BASE), draft.note)

    async def _failures(self, view: View, best: str) -> list[tuple[Question, Outcome]]:
        """Some questions of the last round, or else of all, that the best kit fails."""
        questions = _last_round(view) or view.draw.sample(view.questions, min(len(view.questions), 3 * FAILURES))
        outcomes = await view.measurer.outcomes(best, questions)
        failed = [(q, o) for q, o in zip(questions, outcomes, strict=True) if not o.right]
        return view.draw.sample(failed, min(FAILURES, len(failed)))

    async def _draft(
        self,
        view: View,
        model: OpenAIModel,
        approach: str,
        parents: Sequence[str],
        failures: Sequence[tuple[Question, Outcome]],
        feedback: str = "",
    ) -> Draft:
        schema = view.measurer.schema(view.questions[0].db)
        values = {"dialect_name": ENGINES[schema.dialect].title, "tokens": f"{INSTRUCTION_TOKENS:,}"}
        values |= {
            "schema": as_data(schema_context(schema, budget_tokens=SHOWN)),
            "approach": APPROACHES[approach],
            "kits": "\n".join(_kit_text(kit, view.kits.files(kit)) for kit in parents),
            "failures": "\n".join(_failure_text(q, o) for q, o in failures) or "(none)",
            "feedback": feedback,
        }
        texts = template("lab")
        prompt = Prompt(fill(texts.system, values), fill(texts.user, values).rstrip())
        try:
            reply, _ = await model.compose(prompt, SCHEMA)
        except BudgetSpent:
            raise
        except ModelReplyError as error:
            return Draft({}, "", f"The model sent no kit: {error}")
        except ModelError as error:
            raise LabStopped(f"The model that writes kits does not answer: {error}") from None
        files = {
            file: text + "\n"
            for name, file in _FIELDS.items()
            if isinstance(text := reply.get(name), str) and (text := text.strip())
        }
        return Draft(files, str(reply.get("reasoning") or ""), await asyncio.to_thread(_problem, view, files))

    async def _retested(self, view: View, draft: Draft, best: str) -> str:
        """How the draft fares against the best kit on the questions of the last round."""
        questions = _last_round(view) or view.questions[: 3 * FAILURES]
        name = view.kits.add(draft.files)
        mine = await view.measurer.outcomes(name, questions)
        its = await view.measurer.outcomes(best, questions)
        pairs = list(zip(questions, mine, its, strict=True))
        comparison = [
            f"Your kit: {sum(o.right for o in mine)} of {len(pairs)} right; the best: {sum(o.right for o in its)}."
        ]
        comparison += [f"Only yours is right: {q.text}" for q, a, b in pairs if a.right and not b.right][:FAILURES]
        comparison += [
            "Only the best is right:\n" + _failure_text(q, a) for q, a, b in pairs if b.right and not a.right
        ][:FAILURES]
        return "\n".join(comparison)


def _last_round(view: View) -> list[Question]:
    """The questions of the last round; none before the first one."""
    played = view.state.played.get(view.split, ())
    asked = set(played[-1]["ids"]) if played else ()
    return [q for q in view.questions if q.id in asked]


def _problem(view: View, files: dict[str, str]) -> str:
    """Why a draft cannot be used; empty if it can."""
    if not files:
        return "The kit is empty."
    try:
        view.kits.add(files)
        if script := files.get("analysis.py"):
            run_analysis(script, view.measurer.databases(view.questions[0].db))
    except (BadMemory, Text2SQLError) as error:
        return str(error)[-1_000:]
    return ""


def _again(draft: Draft, feedback: str) -> str:
    files = as_data(json.dumps(draft.files, ensure_ascii=False))
    fared = f"How it fared:\n<feedback>\n{as_data(feedback)}\n</feedback>"
    return f"\nYour last kit:\n<result>\n{files}\n</result>\n\n{fared}\nRefine it."


def _kit_text(name: str, files: dict[str, str]) -> str:
    texts = "\n\n".join(f"{file}:\n{text}" for file, text in files.items() if file in CONTENT)
    while estimate_tokens(texts) > SHOWN:
        texts = texts[: len(texts) * 9 // 10]
    return f"<result>\n{name}\n{as_data(texts) or '(the agent without a kit)'}\n</result>"


def _failure_text(question: Question, outcome: Outcome) -> str:
    text = f"Question: {question.text}\nVerified: {question.golds[0]}\nAgent: {outcome.sql or '(no query)'}"
    return f"<result>\n{as_data(text)}\n</result>"
