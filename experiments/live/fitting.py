"""How likely a result of a cascade is right, learned from recorded answers. In: files of `record`, the benchmarks. Out:
figures by source, each left out of the weights that judged it, and the weights of all."""

from __future__ import annotations

import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.candidates.choice import INTERCEPT, probability
from agent.candidates.live import FITTED, Answer, estimates, evidence_of
from agent.config import Settings
from agent.runtime.catalogue import resolve_database
from agent.runtime.probability import STATED_DOUBT
from eval.databases.types import ExecutionResult
from eval.examination import Query, examine
from eval.metrics.comparison import same_result
from eval.scoring.correctness import Fit
from experiments.judge.fit_measures import calibration_error
from experiments.logistic_regression import fit

PENALTY = 3.0
SOURCE_MOST = 1_000
"""Questions that a larger source weighs as much as: what holds on one kind of question only is not to outweigh all."""


@dataclass(frozen=True, slots=True)
class Found:
    """A distinct result of a question."""

    source: str
    question: str
    features: Mapping[str, float]
    right: bool


def fitted_on(files: Sequence[Path], bench: Path, *, write: bool) -> Iterator[str]:
    """What is printed, line by line."""
    found = [
        one
        for path in files
        for line in path.read_text(encoding="utf-8").splitlines()
        for one in _found(json.loads(line), bench)
    ]
    sources = sorted({one.source for one in found})
    yield f"{'source':20} questions  first  choice    any  sure: right of  ECE"
    for source in sources:
        others = [one for one in found if one.source != source]
        yield _line(source, [one for one in found if one.source == source], _weights(others))
    learned = _weights(found)
    yield _line("all, fitted on them", found, learned)
    lines = [
        f"{INTERCEPT} {learned.intercept:.4f}",
        *(f"{name} {weight:.4f}" for name, weight in sorted(learned.weights.items())),
    ]
    yield from lines
    if write:
        head = "# Log-odds that a result of a cascade is right. Written by `python -m experiments.live fit --write`.\n"
        FITTED.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


def _weights(found: Sequence[Found]) -> Fit:
    """A question counts less for each of its results the more there are, a source at most as `SOURCE_MOST`."""
    of_question = Counter(one.question for one in found)
    of_source = Counter(source for source, _ in {(one.source, one.question) for one in found})
    return fit(
        [one.features for one in found],
        [one.right for one in found],
        penalty=PENALTY,
        importance=[min(1.0, SOURCE_MOST / of_source[one.source]) / of_question[one.question] ** 0.5 for one in found],
    )


def _line(source: str, found: Sequence[Found], weights: Fit) -> str:
    by_question: dict[str, list[Found]] = defaultdict(list)
    for one in found:
        by_question[one.question].append(one)
    first = choice = possible = sure = sure_right = 0
    chances: list[float] = []
    outcomes: list[bool] = []
    for results in by_question.values():
        best = max(results, key=lambda one: probability(one.features, weights))
        chance = probability(best.features, weights)
        chances.append(chance)
        outcomes.append(best.right)
        first += any(one.right and one.features.get("first") for one in results)
        choice += best.right
        possible += any(one.right for one in results)
        sure += chance >= STATED_DOUBT
        sure_right += best.right and chance >= STATED_DOUBT
    n = len(by_question)
    shares = f"{first / n:6.3f} {choice / n:7.3f} {possible / n:6.3f}"
    return f"{source:20} {n:9} {shares}  {sure_right:5} of {sure:4}  {calibration_error(chances, outcomes):6.3f}"


def _found(line: Mapping[str, Any], bench: Path) -> Iterator[Found]:
    """The distinct results of a recorded question; none where its gold does not run."""
    database = resolve_database(str(bench / line["source"] / "databases" / f"{line['db']}.sqlite"), Settings().database)
    schema = database.schema()
    golds = [examine(Query("", sql), database, schema=schema) for sql in line["gold"]]
    accepted = [
        (case.result, bool(case.facts.order_by)) for case in golds if case.result is not None and case.result.ok
    ]
    if line["gold"] and not accepted:
        return
    answers = []
    for place, reply in enumerate(line["replies"]):
        ran = evidence_of(examine(Query(line["question"], reply["sql"]), database, schema=schema))
        if ran is not None:
            said = reply["by_engine"], reply["superseded"], reply["confidence"], reply["unread"], reply["mended"]
            logprobs = reply.get("logprobs")
            answers.append(Answer(place, ran, *said, sum(logprobs) if logprobs else None))
    results = {one.place: one.ran.result for one in answers}
    for estimate in estimates(answers):
        result = results[estimate.place]
        right = any(_answers(gold, result, ordered) for gold, ordered in accepted)
        yield Found(line["source"], line["id"], estimate.features, right)


def _answers(gold: ExecutionResult, result: ExecutionResult, ordered: bool) -> bool:
    """The rows of gold, perhaps with further columns and in another order of columns."""
    if same_result(gold, result, ordered=ordered):
        return True
    if len(gold.rows) != len(result.rows) or not gold.rows or len(gold.rows[0]) > len(result.rows[0]):
        return False
    for kept in itertools.islice(itertools.permutations(range(len(result.rows[0])), len(gold.rows[0])), 500):
        part = ExecutionResult(
            "success",
            columns=tuple(result.columns[i] for i in kept),
            rows=tuple(tuple(row[i] for i in kept) for row in result.rows),
        )
        if same_result(gold, part, ordered=ordered):
            return True
    return False
