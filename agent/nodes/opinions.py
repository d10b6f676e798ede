"""Which opinions of a judge count: none that repeats the prompt, gives no reason, or is the same for every query.

In: a judgement with its request, and the model that gave it. Out: why it does not count, or an empty text. What a model
said before is kept with the model object, for `REMEMBERED` opinions.
"""

from __future__ import annotations

import re
from collections import deque
from weakref import WeakKeyDictionary

from agent.models.distrust import flaw
from agent.models.protocol import Judgement, JudgeRequest, Model

REMEMBERED = 12
SAME = 4
"""Different queries of different questions with one opinion, word for word, from which it is a constant."""
_WORD = re.compile(r"[^\W_]+")
_Opinion = tuple[str, float]
_said: WeakKeyDictionary[Model, deque[tuple[_Opinion, str, str]]] = WeakKeyDictionary()
"""By model: its opinions, each with the question and the query."""


def why_it_does_not_count(judgement: Judgement, request: JudgeRequest, model: Model) -> str:
    """Empty where the opinion counts. The opinion is remembered."""
    reason = " ".join(_WORD.findall(judgement.reasoning.casefold()))
    if len(reason.split()) < 2:
        return "it gives no reason"
    if why := flaw(judgement.reasoning):
        return why
    if reason in (_folded(request.question), _folded(request.sql)):
        return "it repeats what was asked"
    known = _said.setdefault(model, deque(maxlen=REMEMBERED))
    opinion = reason, judgement.score
    others = {(q, sql) for said, q, sql in known if said == opinion and q != request.question and sql != request.sql}
    known.append((opinion, request.question, request.sql))
    return "it is the same for every query" if len(others) >= SAME - 1 else ""


def _folded(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))
