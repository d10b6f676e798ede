"""Garbled and hostile questions: every one is read without a crash, refused statement or long wait.

`python -m experiments.parser.hostile_questions --count 100000 [--long]` prints the figures; the tests ask a few
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
import string
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from agent.knowledge.values import ValueIndex, value_index
from agent.parser import read, restate
from agent.parser.engine import MAX_QUESTION
from agent.runtime.catalogue import resolve_database
from eval.databases import open_database
from eval.schema import Schema
from eval.sql import check, parsed_from_tree
from experiments.parser.evaluate import demo_questions

_PIECES = (
    "'; DROP TABLE customers; --", "\" OR 1=1 --", "UNION SELECT password FROM users", "/* */", "\x00", "\u202e", "😀",
    "select", "NULL", "99999999999999999999", "-1e309", "0", "''", '""', "((((", "))))", "%s%n", "${7*7}", "数据库",
    "ÄÖÜß", "\\", "\n", "\t", ";;;", "--", "not not not", "more than than", "between and", "the the", "top -5", "by by",
    "per per", "average of the average", "5 5 5", "2024-13-45", "31 February 2023", "Q9 2024", "without without",
    "each each", "'", "\"", "“", "contains contains", "last 0 days", "last 99999 years", "number of number of", "1/1/1",
)  # fmt: skip


_COMPARED = ("more than", "less than", "between 1 and", "=", "not", "above average", "at least", "contains")
_JOINED = ("and", "or", "but not", "")
_PERIODS = ("in 2024", "last month", "March 2023", "between 2020 and 2021", "since May", "last 99999 years", "Q3 2024")
_ORDERED = (
    "most",
    "the highest",
    "top 5",
    "per month",
    "by",
    "average",
    "number of",
    "not",
    "without",
    "each",
    "sorted by",
)


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
    slowest_question: str = ""
    worst: str = ""
    """The last question that crashed, or whose statement was refused."""
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
            f" ({self.slowest_question[:80]!r}){f'; {self.worst}' if self.worst else ''}"
        )


def long_questions(names: Sequence[str], count: int, seed: int) -> Iterator[str]:
    """`count` questions of up to 2,000 characters, each made to keep the reader at work: runs of unknown words, in
    capitals or not, of names, of misspelt names, of values, of conditions; the same for the same seed."""
    chance = random.Random(seed)

    def word() -> str:
        return "".join(chance.choice(string.ascii_lowercase) for _ in range(chance.choice((1, 2, 3, 4, 6, 9))))

    def misspelt() -> str:
        name = chance.choice(names)
        at = chance.randrange(len(name))
        return name[:at] + chance.choice(string.ascii_lowercase) + name[at + 1 :]

    kinds: tuple[Callable[[], str], ...] = (
        word,
        lambda: word().capitalize(),
        lambda: chance.choice(names),
        lambda: chance.choice(names).title(),
        misspelt,
        lambda: f"{chance.choice(names)} and",
        lambda: f"the {chance.choice(names)} of",
        lambda: f'"{word()}"',
        lambda: f"{chance.choice(names)} {chance.choice(_COMPARED)} {chance.randrange(3_000)} {chance.choice(_JOINED)}",
        lambda: chance.choice(_PERIODS),
        lambda: chance.choice(_ORDERED),
        lambda: chance.choice(_PIECES),
        lambda: str(chance.randrange(10 ** chance.randint(1, 9))),
    )
    for _ in range(count):
        chosen = chance.sample(kinds, chance.choice((1, 1, 2, 4)))
        size = chance.choice((200, 600, 1_500, MAX_QUESTION))
        text = chance.choice(("", "list ", "how many ", "customers with "))
        while len(text) < size:
            text += f"{chance.choice(chosen)()} "
        yield text[:MAX_QUESTION].strip()


def _names(schema: Schema, values: ValueIndex) -> list[str]:
    """The names of tables and columns, and some stored values."""
    columns = [(t.name, c.name) for t in schema.tables for c in t.columns]
    stored = (v for place in columns for v in values.values(*place)[:20] if v.strip())
    named = {t.name.replace("_", " ") for t in schema.tables} | {c.replace("_", " ") for _, c in columns}
    return [*sorted(named), *itertools.islice(stored, 500)]


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


def ask_all(
    count: int, seed: int = 1, name: str = "enterprise", state: Path | None = None, *, long: bool = False
) -> Figures:
    """Read `count` garbled questions (with `long`, long ones) against a bundled database, each also as a follow-up of
    the previous one. Every other long one is read with the suggestions for a question that is not answered.

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
        made = long_questions(_names(schema, index), count, seed) if long else questions(seeds, count, seed)
        for number, question in itertools.islice(enumerate(made), done, None):
            started = time.thread_time()
            try:
                reading = read(question, schema, index, threshold=None if long and number % 2 else 0.0)
                restate(question, [Said(before, reading.sql)], schema, index)
            except Exception as problem:  # noqa: BLE001 - that there is none is what is measured
                figures.crashed += 1
                figures.worst = f"{question!r}: {problem!r}"
                continue
            took = (time.thread_time() - started) * 1000
            figures.asked += 1
            figures.times[int(took)] = figures.times.get(int(took), 0) + 1
            if took > figures.slowest:
                figures.slowest, figures.slowest_question = took, question
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
SLOWEST = 500
"""Milliseconds of processor time that no question may need."""


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
    parser.add_argument("--long", action="store_true", help="questions of up to 2,000 characters")
    options = parser.parse_args()
    figures = ask_all(options.count, options.seed, options.database, options.state, long=options.long)
    sys.stdout.write(f"{figures}\n")
    return int(bool(figures.crashed or figures.refused or figures.slowest > SLOWEST))


if __name__ == "__main__":
    sys.exit(main())
