"""Garbled and hostile questions: every one is read without a crash, refused statement or long wait.

`python -m experiments.parser.hostile_questions --count 100000` prints the figures; the tests ask a few
thousand. In: the questions of the bundled databases and a seed. Out: questions that were cut, shuffled, misspelt,
repeated, or hold SQL, control characters, other scripts and numbers of any size.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

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


def questions(seeds: list[str], count: int, seed: int) -> Iterator[str]:
    """`count` garbled questions; the same for the same seed."""
    chance = random.Random(seed)
    words = sorted({w for s in seeds for w in s.split()})
    for _ in range(count):
        made = chance.choice(seeds).split()
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(made) + 1)
            what = chance.randrange(7)
            if what == 0:
                made.insert(at, chance.choice(_PIECES))
            elif what == 1:
                made.insert(at, chance.choice(words))
            elif what == 2 and made:
                made.pop(min(at, len(made) - 1))
            elif what == 3:
                chance.shuffle(made)
            elif what == 4 and made:
                word = list(made[min(at, len(made) - 1)])
                chance.shuffle(word)
                made[min(at, len(made) - 1)] = "".join(word)
            elif what == 5:
                made = (made + made)[: chance.choice((30, 60, 200))]
            else:
                made.insert(at, chr(chance.randrange(32, 0x2FFF)) * chance.choice((1, 3, 80)))
        yield " ".join(made)


def ask_all(count: int, seed: int = 1, name: str = "enterprise") -> Figures:
    """Read `count` garbled questions against a bundled database, each also as a follow-up of the previous one."""
    seeds = [str(q["question"]) for q in demo_questions()[0]]
    found = Figures()
    with open_database(resolve_database(name).url) as database:
        schema = database.schema()
        index = value_index(database, schema)
        before = seeds[0]
        for question in questions(seeds, count, seed):
            started = time.thread_time()
            try:
                reading = read(question, schema, index, threshold=0.0)
                restate(question, [Said(before, reading.sql)], schema, index)
            except Exception as problem:  # noqa: BLE001 - that there is none is what is measured
                found.crashed += 1
                found.worst = f"{question!r}: {problem!r}"
                continue
            took = (time.thread_time() - started) * 1000
            found.asked += 1
            if took > found.slowest:
                found.slowest, found.worst = took, found.worst or repr(question)
            if reading.tree is not None:
                found.answered += 1
                if check(parsed_from_tree(reading.tree, schema.dialect)).statement is None:
                    found.refused += 1
                    found.worst = f"refused: {question!r}: {reading.sql}"
            before = question
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", default="enterprise")
    options = parser.parse_args()
    found = ask_all(options.count, options.seed, options.database)
    sys.stdout.write(f"{found}\n")
    return int(bool(found.crashed or found.refused or found.slowest > 2_000))


if __name__ == "__main__":
    sys.exit(main())
