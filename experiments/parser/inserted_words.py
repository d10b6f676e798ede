"""Whether every word counts: `python -m experiments.parser.inserted_words --bench DIR --set newcomer real_data`.

In: question sets. Each question that is read for sure is asked again with one more content word at a random place. Out,
printed: the share of these in which the statement changes or the reading is no longer sure, and the words that were
passed over most often. The words are drawn from the open lexicon, and from a list of words that describe things.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from agent.knowledge.values import value_index
from agent.parser.engine import read
from agent.parser.execution_probe import looker
from agent.runtime.probability import STATED_DOUBT
from eval.databases import open_database
from eval.language import lexicon
from experiments.json_lines import read_lines

_DESCRIBING = lexicon.word_set(
    """used current new old former broken red wooden annual cancelled unpaid organic frozen imported damaged refunded
    overdue abandoned premium blue heavy secret legal digital rural urban military medical solar vegan vintage rented
    stolen signed expired hidden shared urgent remote seasonal temporary permanent regional domestic foreign private
    public corporate retired divorced pregnant armed electric manual automatic portable mobile cheap luxury empty full
    complete incomplete married single senior junior local global loyal recent upcoming promotional returning seated"""
)
_DRAWN = 220


def words(seed: int) -> list[str]:
    """The words to insert."""
    listed = lexicon.lines(Path(lexicon.__file__).with_name("lexicon_wordnet.txt"))
    known = sorted({line.split(":")[0] for line in listed})
    plain = [w for w in known if w.isalpha() and len(w) > 4]
    return sorted({*_DESCRIBING, *random.Random(seed).sample(plain, _DRAWN)})


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--bench", type=Path, required=True, help="folder that holds the question sets")
    parser.add_argument("--set", nargs="+", required=True, help="newcomer, real_data, spider_dev …")
    parser.add_argument("--questions", type=int, default=40, help="sure questions of each set (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    inserted, draw = words(options.seed), random.Random(options.seed)
    for name in options.set:
        _measure(options.bench / name, options.questions, inserted, draw)
    return 0


def _measure(folder: Path, most: int, inserted: Sequence[str], draw: random.Random) -> None:
    asked = list(read_lines(folder / "questions.jsonl"))
    draw.shuffle(asked)
    tried = sure = 0
    passed: Counter[str] = Counter()
    for line in asked:
        path = folder / "databases" / f"{line['db']}.sqlite"
        if sure == most or not path.exists():
            continue
        with open_database(str(path)) as database:
            schema = database.schema()
            values = value_index(database, schema)
            first = read(str(line["question"]), schema, values, look=looker(database))
            if first.confidence < STATED_DOUBT:
                continue
            sure += 1
            for word in inserted:
                text = str(line["question"]).split()
                text.insert(draw.randint(1, len(text)), word)
                other = read(" ".join(text), schema, values, look=looker(database))
                tried += 1
                if other.confidence >= STATED_DOUBT and other.sql == first.sql:
                    passed[word] += 1
    kept = 1 - passed.total() / tried if tried else 0.0
    often = ", ".join(f"{word} {count}" for word, count in passed.most_common(25))
    sys.stdout.write(f"{folder.name}: {sure} questions, {tried} words inserted, accounted for {kept:.4f}; {often}\n")


if __name__ == "__main__":
    sys.exit(main())
