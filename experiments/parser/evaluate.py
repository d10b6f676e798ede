"""Measuring the engine: `python -m experiments.parser.evaluate --bench DIR --set spider_dev`.

In: a folder of question sets, each with `questions.jsonl` and `databases/{db}.sqlite`; or `--set demo`, the questions
on the two bundled databases. Out, printed: execution accuracy overall and by difficulty, precision and coverage at the
engine's threshold, calibration, time. `--fit` learns the confidence of readings from the set (half a minute), and
`--cross-validate` prints what confidence learned on the set's other databases would give, and the threshold for a
precision asked for.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from agent.knowledge.values import value_index
from agent.parser import confidence
from agent.parser.confidence import Forest
from agent.parser.engine import read
from agent.parser.execution_probe import looker
from agent.runtime.probability import STATED_DOUBT
from eval.databases import Database, ExecutionResult, Limits, open_database
from eval.metrics.comparison import same_result
from eval.metrics.intervals import wilson_interval
from eval.sql import check, parse, parsed_from_tree
from experiments.json_lines import read_lines, write_lines
from experiments.parser.growing import DOUBTS, grown

_LIMITS = Limits(seconds=10.0)
_FOLDS = 5


@dataclass
class Outcome:
    """One question, read and compared."""

    id: str
    db: str
    question: str
    gold_sql: str
    sql: str
    confidence: float
    right: bool
    error: str
    difficulty: str
    milliseconds: float
    interpretation: str = ""
    not_understood: tuple[str, ...] = ()
    features: dict[str, float] = field(default_factory=dict)
    shuffled: bool = False
    """Wrong only in the order of its columns: EX counts it as wrong, a person would not."""


def outcomes(
    folder: Path,
    questions: Iterable[dict[str, object]],
    paths: dict[str, Path] | None = None,
    copies: str | None = None,
) -> Iterable[Outcome]:
    """Read each question without a threshold, so that the answers that the engine withholds are measured too. With
    `copies`, a URL with `{db}`, they are read and run on a copy in another engine; gold queries run on the SQLite file.

    A question without any accepted query cannot be answered: every reading of it is wrong.
    """
    opened: dict[str, Database] = {}
    originals: dict[str, Database] = {}
    for q in questions:
        db = str(q["db"])
        accepted = [str(sql) for sql in (q.get("gold_sql") or q.get("sql"), *_others(q)) if sql]
        gold_sql = accepted[0] if accepted else ""
        if db not in opened:
            path = (paths or {}).get(db) or folder / "databases" / f"{db}.sqlite"
            if not path.exists():
                continue
            originals[db] = open_database(str(path))
            opened[db] = open_database(copies.format(db=db)) if copies else originals[db]
        database, original = opened[db], originals[db]
        schema = database.schema()
        index = value_index(database, schema)
        started = time.perf_counter()
        reading = read(str(q["question"]), schema, index, threshold=0.0, look=looker(database))
        took = (time.perf_counter() - started) * 1000
        right, shuffled, error = False, False, ""
        checked = ((sql, check(parse(sql, original.dialect)).statement) for sql in accepted)
        golds = [(statement, ends_in_order(sql)) for sql, statement in checked if statement is not None]
        if accepted and not golds:
            continue
        if reading.tree is None:
            error = reading.interpretation
        else:
            verdict = check(parsed_from_tree(reading.tree, schema.dialect), schema)
            if verdict.statement is None:
                error = f"REFUSED {verdict.reason}"
            else:
                result = database.execute(verdict.statement, limits=_LIMITS)
                error = result.error or ""
                for gold, ordered in golds:
                    expected = original.execute(gold, limits=_LIMITS)
                    if result.ok and expected.ok and same_result(expected, result, ordered=ordered):
                        right, shuffled = True, False
                        break
                    shuffled = shuffled or (result.ok and expected.ok and _shuffled(expected, result, ordered))
        yield Outcome(
            str(q.get("id", "")), db, str(q["question"]), gold_sql, reading.sql, reading.confidence, right, error,
            str(q.get("difficulty") or "-"), took, reading.interpretation, reading.not_understood, reading.features,
            shuffled,
        )  # fmt: skip


def ends_in_order(sql: str) -> bool:
    """Whether the query orders its rows: ORDER BY stands behind its last parenthesis."""
    return "order by" in sql.lower().rsplit(")", 1)[-1]


def _others(question: dict[str, object]) -> list[str]:
    """Further accepted queries of a question."""
    others = question.get("alt_gold_sql")
    return [str(sql) for sql in others] if isinstance(others, list) else []


def _shuffled(expected: ExecutionResult, result: ExecutionResult, ordered: bool) -> bool:
    """Whether a result is the expected one with its columns in another order."""
    width = len(expected.columns)
    same_shape = len(result.columns) == width and len(result.rows) == len(expected.rows) <= 5_000
    if not 2 <= width <= 4 or not same_shape:
        return False
    for order in itertools.permutations(range(width)):
        rows = tuple(tuple(row[k] for k in order) for row in result.rows)
        if same_result(expected, replace(result, rows=rows), ordered=ordered):
            return True
    return False


def report(read_outcomes: Sequence[Outcome], threshold: float) -> str:
    """The figures as text."""
    lines = []
    groups: dict[str, list[Outcome]] = {"all": list(read_outcomes)}
    for o in read_outcomes:
        groups.setdefault(o.difficulty, []).append(o)
    lines.append(
        f"{'group':<10}{'n':>6}{'EX':>8}{'95 % interval':>18}{'coverage':>10}{'precision':>11}{'EX answered':>13}"
    )
    for name, members in groups.items():
        right = sum(o.right for o in members)
        low, high = wilson_interval(right, len(members))
        answered = [o for o in members if o.confidence >= threshold and o.sql]
        good = sum(o.right for o in answered)
        precision = good / len(answered) if answered else 0.0
        lines.append(
            f"{name:<10}{len(members):>6}{right / len(members):>8.3f}{f'{low:.3f}-{high:.3f}':>18}"
            f"{len(answered) / len(members):>10.3f}{precision:>11.3f}{good / len(members):>13.3f}"
        )
    lines.append(
        "EX: every reading counts, also those held back. EX answered: held back, or told with a doubt, counts as wrong."
    )
    bins: dict[int, list[Outcome]] = defaultdict(list)
    for o in read_outcomes:
        bins[min(9, int(o.confidence * 10))].append(o)
    lines.append(
        "confidence → share right: "
        + "  ".join(f"{b / 10:.1f}: {sum(o.right for o in m) / len(m):.2f} ({len(m)})" for b, m in sorted(bins.items()))
    )
    times = sorted(o.milliseconds for o in read_outcomes)
    lines.append(
        f"reading: median {statistics.median(times):.1f} ms, 95 % {times[int(len(times) * 0.95)]:.1f} ms, "
        f"most {times[-1]:.1f} ms"
    )
    refused = [o for o in read_outcomes if o.error.startswith("REFUSED")]
    failed = sum(bool(o.error) and bool(o.sql) for o in read_outcomes) - len(refused)
    lines.append(f"refused by the guard: {len(refused)}; failed in the database: {failed}")
    return "\n".join(lines)


def fit(read_outcomes: Sequence[Outcome]) -> Forest:
    """A forest that separates right readings from wrong ones."""
    usable = [o for o in read_outcomes if o.features]
    return grown([o.features for o in usable], [o.right for o in usable], falling=DOUBTS)


def cross_validate(read_outcomes: Sequence[Outcome]) -> None:
    """Give each outcome the confidence from a forest learned on the other databases."""
    fold = {db: k % _FOLDS for k, db in enumerate(sorted({o.db for o in read_outcomes}))}
    for k in range(_FOLDS):
        learned = fit([o for o in read_outcomes if fold[o.db] != k])
        for o in read_outcomes:
            if fold[o.db] == k and o.features:
                o.confidence = confidence.confidence(o.features, learned)


def threshold_for(read_outcomes: Sequence[Outcome], precision: float) -> float:
    """The lowest confidence, in steps of 0.01, above which at least this share of the answers is right."""
    answered = sorted((o for o in read_outcomes if o.sql), key=lambda o: -o.confidence)
    chosen, right = 1.0, 0
    for count, o in enumerate(answered, 1):
        right += o.right
        if right / count >= precision:
            chosen = o.confidence
    return round(chosen, 2)


def write_forest(learned: Forest, source: str, count: int) -> None:
    """Store the forest as text, where `confidence` reads it."""
    path = Path(confidence.__file__).parent / "confidence.txt"
    lines = [
        f"# Gradient-boosted trees, learned from {count} readings of the questions in {source}: a tree a line, its",
        "# split `feature<threshold` before the two sides, leaves as numbers to add up. Numbers about our own features",
        "# only: no text, name or value of that set is kept here.",
        *learned.lines,
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def demo_questions() -> tuple[list[dict[str, object]], dict[str, Path]]:
    """The questions on the bundled databases, and the location of the databases."""
    from agent.runtime.catalogue import resolve_database

    folder = Path(__file__).resolve().parents[2] / "tests" / "fixtures"
    questions: list[dict[str, object]] = []
    paths: dict[str, Path] = {}
    for name in ("shop", "enterprise"):
        paths[name] = Path(resolve_database(name).url.removeprefix("sqlite:///"))
        questions += [{**question, "db": name} for question in read_lines(folder / f"demo_questions_{name}.jsonl")]
    return questions, paths


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--bench", type=Path, help="folder that holds the question sets")
    parser.add_argument("--set", required=True, help="demo, spider_dev, spider_train, geoquery, classicmodels …")
    parser.add_argument("--copies", help="URL with {db} of copies in another engine, to read and run on")
    parser.add_argument("--split", help="only questions of this split")
    parser.add_argument("--limit", type=int, help="only so many questions, spread over the set")
    parser.add_argument("--dump", type=Path, help="write every outcome as JSON lines")
    parser.add_argument("--fit", action="store_true", help="learn the confidence of readings from this set")
    parser.add_argument("--cross-validate", action="store_true", help="confidence learned on the set's other databases")
    parser.add_argument("--precision", type=float, default=0.86, help="with --cross-validate: to choose a threshold by")
    options = parser.parse_args(arguments)
    if options.set == "demo":
        questions, paths = demo_questions()
    elif options.bench is None:
        parser.error("--bench is needed for this set")
    else:
        questions, paths = list(read_lines(options.bench / options.set / "questions.jsonl")), {}
    questions = [q for q in questions if q.get("gold_ok", True) and options.split in (None, q.get("split"))]
    if options.limit and options.limit < len(questions):
        step = len(questions) / options.limit
        questions = [questions[int(k * step)] for k in range(options.limit)]
    read_outcomes = list(outcomes((options.bench or Path()) / options.set, questions, paths, options.copies))
    if not read_outcomes:
        sys.stdout.write("no question could be read\n")
        return 1
    if options.fit:
        write_forest(fit(read_outcomes), options.set, len(read_outcomes))
        confidence.forest.cache_clear()
        for o in read_outcomes:
            o.confidence = confidence.confidence(o.features) if o.features else 0.0
    threshold = STATED_DOUBT  # answers without a stated doubt; the engine already abstains below confidence.THRESHOLD
    if options.cross_validate:
        cross_validate(read_outcomes)
        threshold = threshold_for(read_outcomes, options.precision)
        sys.stdout.write(f"cross-validated by database; precision {options.precision} from confidence {threshold} on\n")
    if options.dump:
        write_lines(options.dump, map(asdict, read_outcomes))
    sys.stdout.write(report(read_outcomes, threshold) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
