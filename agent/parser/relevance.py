"""The offline verdict on a result: neutral, and lower when the result contradicts the form of the question.

In: a `JudgeRequest`. Out: a score of at most 0.5 and a sentence. Without a language model nothing raises it.
"""

from __future__ import annotations

import re

from agent.models.protocol import JudgeRequest

NEUTRAL = 0.5
_ONE_NUMBER = re.compile(
    r"^\W*(?:how many|how much|count|what is the (?:total|average|number)|what's the total)\b", re.I
)
_PER_GROUP = re.compile(r"\b(?:each|every|per|by|grouped)\b", re.I)


def judge(request: JudgeRequest) -> tuple[float, str]:
    """Score 0..0.5 with the reason."""
    question = request.question
    if request.rows_returned == 0:
        return 0.4, "The result is empty, which may or may not answer the question."
    if request.preview and all(cell is None for row in request.preview for cell in row):
        return 0.3, "Every value of the result is NULL."
    asks_one = bool(_ONE_NUMBER.search(question)) and not _PER_GROUP.search(question)
    if asks_one and request.rows_returned > 1:
        return 0.35, "The question asks for one number, and the result has several rows."
    if asks_one and request.preview and len(request.preview[0]) == 1:
        value = request.preview[0][0]
        number = isinstance(value, int | float) or re.fullmatch(r"-?\d+(?:\.\d+)?", str(value).strip())
        if value is not None and not number:
            return 0.35, "The question asks for a number, and the result is not one."
    return NEUTRAL, "No language model is at hand; nothing in the result contradicts the question."
