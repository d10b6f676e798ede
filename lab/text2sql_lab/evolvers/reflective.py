"""A model reads failures and writes kits. Its approaches are named: cross-pollinate, refine, research, error-focused.

In: the best kits so far and questions that the best one fails. Out: a kit. An analysis script is tried, sealed off,
before it is proposed. Each kit then answers the questions of the last rounds, the newest first, and may be refined
after each (deep focus). An approach is chosen the more often, the more its kits have won.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from agent.knowledge.kit import CONTENT, INSTRUCTION_TOKENS, run_analysis
from agent.knowledge.memory.lines import BadMemory
from agent.knowledge.schema_context import estimate_tokens, schema_context
from agent.models.openai import OpenAIModel
from agent.models.prompts import Prompt, as_data, fill, template
from agent.models.protocol import ModelError, ModelReplyError
from eval.engines import ENGINES
from eval.errors import InputError, Text2SQLError
from text2sql_lab.budget import BudgetSpent
from text2sql_lab.evolvers.protocol import Proposal, View, ranked, yields
from text2sql_lab.journal import BASE
from text2sql_lab.measurement import LabStopped, Outcome, bits
from text2sql_lab.questions import Question

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

    def __init__(self, approaches: Sequence[str] = tuple(APPROACHES), deep_focus: int = 1) -> None:
        if unknown := sorted(set(approaches) - set(APPROACHES)):
            raise InputError(f"{', '.join(unknown)}: there are {', '.join(APPROACHES)}")
        self._approaches, self._deep_focus = tuple(approaches), deep_focus

    async def propose(self, view: View) -> Proposal:
        if not isinstance(model := view.model, OpenAIModel):
            raise InputError("The reflective evolver needs a model that writes kits.")
        parents = ranked(view.state, view.split)[:PARENTS]
        approach = drawn(self._approaches, view)
        shown = await self._failures(view, parents[0])
        draft = partial(self._draft, view, model, approach, parents, shown)
        kit = await draft()
        if kit.problem:
            kit = await draft(_again(kit, kit.problem))
        if kit.problem:
            kit = await asyncio.to_thread(_usable, view, kit)
        if kit.problem:
            return Proposal({}, approach, note=kit.problem)
        for questions, others in await _earlier(view, self._deep_focus):
            refined = await draft(_again(kit, await _fared(view, kit, questions, others)))
            kit = kit if refined.problem else refined
        return Proposal(kit.files, approach, tuple(one for one in parents if one != BASE), kit.note)

    async def _failures(self, view: View, best: str) -> list[tuple[Question, Outcome]]:
        """Some questions of the last round, or else of all, that the best kit fails."""
        played = view.state.played.get(view.split, ())
        asked = set(played[-1]["ids"]) if played else ()
        questions = [q for q in view.questions if q.id in asked]
        questions = questions or view.draw.sample(view.questions, min(len(view.questions), 3 * FAILURES))
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
            "tried": "\n".join(_tried(view)) or "(nothing)",
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


def drawn(approaches: Sequence[str], view: View) -> str:
    """An approach by Thompson sampling: the largest of a draw for each from Beta(1 + won, 1 + lost)."""
    tally = yields(view.state, view.split)
    chances = {
        name: view.draw.betavariate(1 + won, 1 + n - won) for name in approaches for won, n in [tally.get(name, (0, 0))]
    }
    return max(approaches, key=lambda name: chances[name])


async def _earlier(view: View, rounds: int) -> list[tuple[list[Question], Mapping[str, str]]]:
    """The questions of the last rounds, the newest first, with what the kits of that round got right; before the first
    round some questions and the agent without a kit."""
    by_id = {q.id: q for q in view.questions}
    played = view.state.played.get(view.split, ())[::-1][:rounds]
    if rounds and not played:
        some = list(view.questions[: 3 * FAILURES])
        return [(some, {BASE: bits(await view.measurer.outcomes(BASE, some))})]
    return [([by_id[one] for one in event["ids"]], event["right"]) for event in played]


async def _fared(view: View, draft: Draft, questions: Sequence[Question], others: Mapping[str, str]) -> str:
    """How a draft fares on the questions of a round beside the kits that played it."""
    mine = await view.measurer.outcomes(view.kits.add(draft.files), questions)
    counts = ", ".join(f"{kit}: {right.count('1')}" for kit, right in others.items())
    lines = [f"Your kit: {sum(o.right for o in mine)} of {len(questions)} right. Others: {counts}."]
    theirs = list(zip(*others.values(), strict=True))
    pairs = list(zip(questions, mine, theirs, strict=True))
    lines += [f"Only yours is right: {q.text}" for q, o, them in pairs if o.right and "1" not in them][:FAILURES]
    lines += [
        "Only yours is wrong:\n" + _failure_text(q, o) for q, o, them in pairs if not o.right and "0" not in them
    ][:FAILURES]
    return "\n".join(lines)


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


def _usable(view: View, draft: Draft) -> Draft:
    """The draft without the files that cannot be used: small models rarely write a glossary that can be read."""
    files = {file: text for file, text in draft.files.items() if not _problem(view, {file: text})}
    note = f"{draft.note} (left out: {', '.join(sorted(draft.files.keys() - files.keys()))})"
    return Draft(files, note) if files else draft


def _again(draft: Draft, feedback: str) -> str:
    files = as_data(json.dumps(draft.files, ensure_ascii=False))
    fared = f"How it fared:\n<feedback>\n{as_data(feedback)}\n</feedback>"
    return f"\nYour last kit:\n<result>\n{files}\n</result>\n\n{fared}\nRefine it."


def _kit_text(name: str, files: dict[str, str]) -> str:
    texts = "\n\n".join(f"{file}:\n{text}" for file, text in files.items() if file in CONTENT)
    while estimate_tokens(texts) > SHOWN:
        texts = texts[: len(texts) * 9 // 10]
    return f"<result>\n{name}\n{as_data(texts) or '(the agent without a kit)'}\n</result>"


def _tried(view: View) -> list[str]:
    """The reasons of the last kits, the newest first, each with what it got right in its first round."""
    rounds = zip(view.state.proposed.get(view.split, ()), view.state.played.get(view.split, ()), strict=False)
    lines = []
    for proposed, played in list(rounds)[::-1]:
        if proposed["kit"] == BASE or proposed["kit"] not in played["right"]:
            continue
        counts = {kit: right.count("1") for kit, right in played["right"].items()}
        kit, n = proposed["kit"], len(played["ids"])
        best = max(counts.values())
        lines.append(
            f"{kit} ({proposed['by']}), {counts[kit]} of {n} right, the best {best}: {as_data(proposed['note'])}"
        )
    return lines[:FAILURES]


def _failure_text(question: Question, outcome: Outcome) -> str:
    text = f"Question: {question.text}\nVerified: {question.golds[0]}\nAgent: {outcome.sql or '(no query)'}"
    return f"<result>\n{as_data(text)}\n</result>"
