"""Agreement: other candidates for the same question, and a second reading of it made independently."""

from __future__ import annotations

import math

from eval.metrics.comparison import same_result
from eval.scoring.evidence.reading import Observation, Observations, Reading


def observe(reading: Reading) -> Observations:
    case = reading.case
    if case.candidates_agreeing is not None:
        agreeing, total = case.candidates_agreeing
        if total > 1:
            # Others that agree, against those that do not; a half is added to each so that neither is certain.
            value = math.log((agreeing - 1 + 0.5) / (total - agreeing + 0.5))
            yield Observation("candidates", value, f"{agreeing} of {total} candidates return this result.")
    opinion = case.second_opinion
    if opinion is None or opinion.abstained or opinion.result is None or not opinion.result.ok:
        return
    if case.result is None or not case.result.ok:
        return
    if same_result(opinion.result, case.result, ordered=False):
        text = "An independent reading of the question returns the same rows."
        yield Observation("second_reading_agrees", opinion.confidence, text)
    else:
        text = "An independent reading of the question returns other rows."
        yield Observation("second_reading_differs", opinion.confidence, text)
