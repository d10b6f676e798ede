"""Runs the library GEPA, which evolves the instructions of a kit, with this lab's measuring as its adapter.

It makes its whole search in one proposal. GEPA's own state is a pickle and its random state is not saved, so nothing
of it is kept: a killed search starts again, and every answer that was measured before costs nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from gepa.api import optimize
from gepa.core.adapter import EvaluationBatch

from agent.models.openai import OpenAIModel
from agent.models.prompts import Prompt
from agent.models.protocol import ModelError, ModelReplyError
from eval.errors import InputError
from text2sql_lab.evolvers.protocol import Proposal, View
from text2sql_lab.measurement import LabStopped, Outcome
from text2sql_lab.questions import Question

MEASURED = 300
"""Answers of one search, at most."""
_START = "Return exactly what is asked for, and compare values as they are stored."
_FILE = "instructions.md"
_SCHEMA = {
    "title": "text",
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


class Gepa:
    name = "gepa"
    chooses = False

    async def propose(self, view: View) -> Proposal:
        if not isinstance(view.model, OpenAIModel):
            raise InputError("The evolver gepa needs a model that writes instructions.")
        questions = list(view.questions)
        half = len(questions) // 2
        adapter = _Adapter(view, asyncio.get_running_loop())
        seed = view.draw.getrandbits(32)

        def search() -> tuple[dict[str, str], int]:
            optimized: Any = optimize(
                seed_candidate={_FILE: _START},
                trainset=questions[:half],
                valset=questions[half:],
                adapter=adapter,  # type: ignore[arg-type]
                reflection_lm=adapter.reflect,
                max_metric_calls=min(MEASURED, 10 * len(questions)),
                seed=seed,
                raise_on_exception=True,
            )
            return dict(optimized.best_candidate), len(optimized.candidates)

        best, candidates = await asyncio.to_thread(search)
        return Proposal(best, self.name, note=f"{candidates} candidates")


class _Adapter:
    """GEPA's protocol, from its own thread to the lab's event loop."""

    propose_new_texts = None

    def __init__(self, view: View, loop: asyncio.AbstractEventLoop) -> None:
        self._view, self._loop = view, loop

    def evaluate(
        self, batch: list[Question], candidate: dict[str, str], capture_traces: bool = False
    ) -> EvaluationBatch[dict[str, str], Outcome]:
        kit = self._view.kits.add(candidate)
        work = self._view.measurer.outcomes(kit, batch)
        outcomes = asyncio.run_coroutine_threadsafe(work, self._loop).result()
        traces = [_trace(q, o) for q, o in zip(batch, outcomes, strict=True)] if capture_traces else None
        return EvaluationBatch(outputs=outcomes, scores=[float(o.right) for o in outcomes], trajectories=traces)

    def make_reflective_dataset(
        self,
        candidate: dict[str, str],  # noqa: ARG002 (GEPA's protocol)
        eval_batch: EvaluationBatch[dict[str, str], Outcome],
        components_to_update: list[str],
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        return {name: list(eval_batch.trajectories or []) for name in components_to_update}

    def reflect(self, prompt: str | list[dict[str, Any]]) -> str:
        """The reply to GEPA's own prompt."""
        text = prompt if isinstance(prompt, str) else "\n".join(str(m.get("content")) for m in prompt)
        ask = Prompt('Reply with one JSON object and nothing else: {"text": "your reply"}', text)
        work = self._view.model.compose(ask, _SCHEMA)  # type: ignore[union-attr]
        try:
            reply, _ = asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except ModelReplyError:
            return ""
        except ModelError as error:
            if error.final:
                raise
            raise LabStopped(f"The model that writes instructions does not answer: {error}") from None
        return str(reply.get("text") or "")


def _trace(question: Question, outcome: Outcome) -> dict[str, str]:
    verdict = "right" if outcome.right else f"wrong; verified: {question.golds[0]}"
    return {"Inputs": question.text, "Generated Outputs": outcome.sql or "(no query)", "Feedback": verdict}
