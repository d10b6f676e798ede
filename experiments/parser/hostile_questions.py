"""Garbled and hostile questions: every one is read without a crash, refused statement or long wait.

`python -m experiments.parser.hostile_questions --count 100000` prints the figures; the tests ask a few
thousand. In: the questions of the bundled databases and a seed. Out: questions that were cut, shuffled, misspelt,
repeated, or hold SQL, control characters, other scripts and numbers of any size. With `--state FILE` the figures are
kept after every thousand questions, and the same command continues where it was stopped.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from agent.knowledge.values import value_index
from agent.parser import read, restate
from agent.runtime.catalogue import resolve_database
from eval.databases import open_database
from eval.sql import check, parsed_from_tree
from experiments.parser.evaluate import demo_questions

_PIECES = (
    "'; DROP TABLE customers; --", "\" OR 1=1 --", "UNION SELECT password FROM users", "/* */", "\x00", "\u202e", "😀",
    "select", "NULL", "99999999999999999999", "-1e309", "0", "''", '""', "((((", "))))", "%s%n", "${7*7}", "数据库",
    "ÄÖÜß", "\\", "\n", "\t", ";;;", "--", "not not not", "more than than", "between and", "the the", "top -5", "by by",
    "per per", "average of the average", "5 5 5", "2024-13-45", "31 February 2023", "Q9 2024", "without without",
    "each each", "'", "\"", "“", "contains contains", "last 0 days", "last 99999 years", "number of number of", "1/1/1",
)  # fmt: skip


@dataclass(frozen=True)
class Said:
    question: str
    sql: str = ""


@dataclass
class Figures:
    """The results of a run."""

    asked: int = 0
    answered: int = 0
    refused: int = 0
    crashed: int = 0
    slowest: float = 0.0
    """Milliseconds of processor time, so that other load on the machine does not count."""
    worst: str = ""
    times: dict[int, int] = field(default_factory=dict)
    """The number of questions that took so many milliseconds, rounded down."""

    @property
    def median(self) -> float:
        """Milliseconds of processor time per question, reading and follow-up together; 0 when nothing was asked."""
        return statistics.median(itertools.chain(*([ms] * n for ms, n in self.times.items()))) if self.times else 0.0

    def __str__(self) -> str:
        return (
            f"{self.asked + self.crashed} asked, {self.answered} with a statement, {self.crashed} crashed, "
            f"{self.refused} refused by the guard; median {self.median:.0f} ms, slowest {self.slowest:.0f} ms"
            f"{f'; {self.worst}' if self.worst else ''}"
        )


def questions(seeds: list[str], count: int, seed: int) -> Iterator[str]:
    """`count` garbled questions; the same for the same seed."""
    chance = random.Random(seed)
    words = sorted({w for s in seeds for w in s.split()})
    for _ in range(count):
        words_made = chance.choice(seeds).split()
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(words_made) + 1)
            what = chance.randrange(7)
            if what == 0:
                words_made.insert(at, chance.choice(_PIECES))
            elif what == 1:
                words_made.insert(at, chance.choice(words))
            elif what == 2 and words_made:
                words_made.pop(min(at, len(words_made) - 1))
            elif what == 3:
                chance.shuffle(words_made)
            elif what == 4 and words_made:
                word = list(words_made[min(at, len(words_made) - 1)])
                chance.shuffle(word)
                words_made[min(at, len(words_made) - 1)] = "".join(word)
            elif what == 5:
                words_made = (words_made + words_made)[: chance.choice((30, 60, 200))]
            else:
                words_made.insert(at, chr(chance.randrange(32, 0x2FFF)) * chance.choice((1, 3, 80)))
        yield " ".join(words_made)


def ask_all(count: int, seed: int = 1, name: str = "enterprise", state: Path | None = None) -> Figures:
    """Read `count` garbled questions against a bundled database, each also as a follow-up of the previous one.

    With `state`, the figures are stored in that file, and questions that it already counts are not asked again.
    """
    seeds = [str(q["question"]) for q in demo_questions()[0]]
    figures = Figures()
    if state is not None and state.exists():
        stored = json.loads(state.read_text(encoding="utf-8"))
        figures = Figures(**{**stored, "times": {int(ms): n for ms, n in stored["times"].items()}})
    done = figures.asked + figures.crashed
    with open_database(resolve_database(name).url) as database:
        schema = database.schema()
        index = value_index(database, schema)
        before = seeds[0]
        for question in itertools.islice(questions(seeds, count, seed), done, None):
            started = time.thread_time()
            try:
                reading = read(question, schema, index, threshold=0.0)
                restate(question, [Said(before, reading.sql)], schema, index)
            except Exception as problem:  # noqa: BLE001 - that there is none is what is measured
                figures.crashed += 1
                figures.worst = f"{question!r}: {problem!r}"
                continue
            took = (time.thread_time() - started) * 1000
            figures.asked += 1
            figures.times[int(took)] = figures.times.get(int(took), 0) + 1
            if took > figures.slowest:
                figures.slowest, figures.worst = took, figures.worst or repr(question)
            if reading.tree is not None:
                figures.answered += 1
                if check(parsed_from_tree(reading.tree, schema.dialect)).statement is None:
                    figures.refused += 1
                    figures.worst = f"refused: {question!r}: {reading.sql}"
            before = question
            if state is not None and figures.asked % _STORED_EVERY == 0:
                _store(figures, state)
    if state is not None:
        _store(figures, state)
    return figures


_STORED_EVERY = 1_000


def _store(figures: Figures, state: Path) -> None:
    partial = state.with_suffix(".part")
    partial.write_text(json.dumps(asdict(figures)), encoding="utf-8")
    partial.replace(state)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", default="enterprise")
    parser.add_argument("--state", type=Path, help="file that keeps the figures, to continue after an interruption")
    options = parser.parse_args()
    figures = ask_all(options.count, options.seed, options.database, options.state)
    sys.stdout.write(f"{figures}\n")
    return int(bool(figures.crashed or figures.refused or figures.slowest > 2_000))


if __name__ == "__main__":
    sys.exit(main())
