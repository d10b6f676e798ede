"""Labelled answers as the judge sees them: observations, familiarity and label, cached in one file per source.

In: a source (`experiments.judge.sources`). Out: `Sample`s. If the recording has no label, right means the same result
as gold or an accepted alternative on the database (`eval.metrics.comparison`). The parser's reading of the question is
the second opinion, as in `python -m agent.batch score`. Extraction takes minutes; a refit reads the cache.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from agent.parser.second_opinion import second_opinion
from eval.databases import open_database
from eval.databases.base import Database
from eval.databases.types import ExecutionResult, Limits
from eval.examination import Query, examine
from eval.metrics.comparison import same_result
from eval.scoring.correctness import features_of
from eval.scoring.dimensions import best_practices, efficiency, plan_quality, weights
from eval.scoring.scorer import observed, vetoes
from eval.scoring.types import Case
from eval.sql import check, parse
from experiments.json_lines import read_lines, write_lines
from experiments.judge.sources import MOST_ANSWERS, SEED, Question, Source, sampled
from experiments.random_mutations import mutants

LIMITS = Limits(seconds=4.0, rows=5_000)
"""Long enough that a busy machine loses no answer."""
MOST_GOLDS = 40
"""Accepted alternatives that are run for one question."""
GOLD = "gold"


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer: its observations, and whether it is right."""

    source: str
    database: str
    question: str
    """The question's id."""
    system: str
    right: bool
    vetoed: bool
    """Something forbids it."""
    features: dict[str, float]
    fixed: float
    """The weighted sum of the four dimensions that do not use fitted weights."""
    text: str = ""
    """The question, for reading failures."""
    sql: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer with everything known of it, and whether it is right."""

    case: Case
    source: str
    database: str
    question: str
    system: str
    right: bool


def sample_of(answer: Answer) -> Sample:
    """The answer as the judge sees it."""
    case = answer.case
    by_name = weights("default")
    fixed = by_name["safety"] + by_name["efficiency"] * efficiency(case)[0]
    fixed += by_name["best_practices"] * best_practices(case)[0] + by_name["plan_quality"] * plan_quality(case)[0]
    return Sample(
        source=answer.source,
        database=answer.database,
        question=answer.question,
        system=answer.system,
        right=answer.right,
        vetoed=bool(vetoes(case)),
        features=features_of(observed(case)),
        fixed=fixed,
        text=case.question,
        sql=case.parsed.text,
    )


class Extraction:
    """The extraction of one source's answers; its databases stay open meanwhile."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.dice = random.Random(SEED)
        self._databases: dict[Path, Database] = {}

    def samples(self, questions: list[Question]) -> Iterator[Answer]:
        for question in questions:
            yield from self._question(question)
        for database in self._databases.values():
            database.close()

    def _database(self, path: Path) -> Database:
        if path not in self._databases:
            self._databases[path] = open_database(path)
        return self._databases[path]

    def _question(self, question: Question) -> Iterator[Answer]:
        database = self._database(question.database)
        schema = database.schema()
        opinion = asyncio.run(second_opinion(question.text, database, schema))

        def examined(sql: str) -> Case:
            query = Query(question.text, sql, taught=question.hint.lower())
            case = examine(query, database, schema=schema, limits=LIMITS)
            return replace(case, second_opinion=opinion)

        def sample(case: Case, system: str, right: bool) -> Answer:
            return Answer(case, self.source.name, question.database.stem, question.id, system, right)

        gold = examined(question.golds[0])
        if gold.result is None or not gold.result.ok or gold.parsed.tree is None:
            return
        golds = _Golds(gold, question.golds[1:MOST_GOLDS], database)
        yield sample(gold, GOLD, True)
        known: dict[str, tuple[Case, bool]] = {}
        for answer in question.answers:
            if answer.sql not in known:
                case = examined(answer.sql)
                known[answer.sql] = case, golds.equal(case) if answer.right is None else answer.right
            case, right = known[answer.sql]
            if not (answer.right is False and answer.system == "known wrong" and golds.equal(case)):
                yield sample(case, answer.system, right)
        changed = [(kind, tree.sql("sqlite")) for kind, tree in mutants(gold.parsed.tree, schema, self.dice)]
        self.dice.shuffle(changed)
        made = 0
        for kind, sql in changed:
            if made >= self.source.mutants:
                break
            case = examined(sql)
            if case.result is not None and case.result.ok and not golds.equal(case):
                made += 1
                yield sample(case, kind, False)


class _Golds:
    """The results that count as right; alternatives run when the first does not match."""

    def __init__(self, gold: Case, alternatives: Sequence[str], database: Database) -> None:
        self._results = [(gold.result, bool(gold.facts.order_by))]
        self._left = list(alternatives)
        self._database = database

    def equal(self, case: Case) -> bool:
        if case.result is None or not case.result.ok:
            return False
        if any(self._same(known, case.result) for known in self._results):
            return True
        while self._left:
            parsed = parse(self._left.pop(0), self._database.dialect)
            statement = check(parsed).statement
            if statement is None or parsed.tree is None:
                continue
            ordered = parsed.tree.args.get("order") is not None
            self._results.append((self._database.execute(statement, limits=LIMITS), ordered))
            if self._same(self._results[-1], case.result):
                return True
        return False

    def _same(self, known: tuple[ExecutionResult | None, bool], result: ExecutionResult) -> bool:
        gold, ordered = known
        return gold is not None and gold.ok and same_result(gold, result, ordered=ordered)


def extracted(source: Source, bench: Path, recorded: Path, most: int = MOST_ANSWERS) -> Iterator[Sample]:
    questions = sampled(list(source.read(bench, recorded)), most)
    sys.stderr.write(f"{source.name}: {len(questions)} questions\n")
    yield from map(sample_of, Extraction(source).samples(questions))


def read_cache(path: Path) -> list[Sample]:
    return [Sample(**kept) for kept in read_lines(path)]


def write_cache(path: Path, samples: Iterator[Sample]) -> None:
    write_lines(path, map(asdict, samples))
