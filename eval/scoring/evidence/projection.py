"""Projection: the columns returned against those that the question lists."""

from __future__ import annotations

import re

from eval.scoring.evidence.question_reading import Observation, Observations, Reading, is_key_name

_EVERYTHING = re.compile(r" all |everything|details|information|record|\*|about")


def observe(reading: Reading) -> Observations:
    if reading.case.facts.projects_star:
        if not _EVERYTHING.search(reading.question):
            yield Observation("star_unasked", 1, "The query returns every column; the question asks for certain ones.")
        return
    keys = [c for c in reading.output_columns if is_key_name(c)]
    if keys and not reading.intent.asks_id:
        text = f"The query returns {keys[0]}, though the question asks for no identifier."
        yield Observation("key_returned", 1, text)
    yield from _listed(reading)


def listing(r: Reading) -> str:
    """The question up to its first condition: the part that lists what is wanted."""
    end = _LISTED_BEFORE.search(r.question, 12)
    return r.question[: end.start()] if end is not None else r.question


_LISTED_BEFORE = re.compile(r" (?:of|for|where|who|that|which|with|whose|from|in|ordered|by) ")


def _listed(r: Reading) -> Observations:
    """The number of things that the question lists against the columns returned."""
    head = listing(r)
    wanted = 1 + head.count(",") + (1 if " and " in head and ", and " not in head else 0)
    if wanted >= 2 and r.output and len(r.output) != wanted:
        name = "columns_fewer_than_listed" if len(r.output) < wanted else "columns_more_than_listed"
        yield Observation(name, 1, f"The question lists {wanted} things, the query returns {len(r.output)}.")
