"""Make the open lexicon: `python -m experiments.language.similar_words --wordnet DIR --vectors glove.6B.50d.txt`.

In: the database files of WordNet 3.1 (`data.noun`, `index.noun` …) and the word vectors of GloVe 6B in 50 dimensions.
Out: `eval/language/lexicon_similar.txt`, a word a line with its similar words and their similarity in percent. The
similarity is a logistic regression on how two words are related in WordNet and on the cosine of their vectors, fitted
on the pairs of `lexicon_synonyms.txt` against random pairs of its words. Printed: how often the most similar of 25
words is the synonym, on words left out of the fit.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from eval.language import lexicon
from eval.language.inflection import lemma

Array = npt.NDArray[np.float64]
Synset = tuple[str, str]
"""The part of speech and the offset in the data file."""

VOCABULARY = 20_000
"""The most frequent words of the vectors' corpus."""
LEAST, MOST = 0.5, 16
"""The least similarity that is kept, and the number of similar words per word."""
_PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_RELATIONS = {"@": "up", "~": "down", "&": "like", "+": "derived", "=": "attribute", "%p": "part", "#p": "part"}
_CHAINS = {"up", "down", "like"}
_FEATURES = ("same", "up", "down", "like", "derived", "attribute", "part", "upup", "downdown", "updown", "likelike")
_BROAD = 60
"""A synset with more relations than this (`person`) says little about those that it joins."""
_RARE = 5
"""The rank of a sense that the index does not list."""
_NEIGHBOURS = 40
_NEAR = 0.65
"""The least cosine of a neighbour that WordNet does not relate."""


@dataclass(frozen=True, eq=False)
class WordNet:
    """Synsets with their words and relations, and each word's synsets, the most frequent sense first."""

    words: dict[Synset, list[str]]
    related: dict[Synset, list[tuple[str, Synset, str]]]
    """Symbol, target, and the words that the relation joins (`0102`; `0000` for all)."""
    senses: dict[str, dict[Synset, int]]

    def is_name(self, word: str) -> bool:
        """Whether the word only names one person or place."""
        return all(any(symbol == "@i" for symbol, _, _ in self.related[s]) for s in self.senses[word])


def wordnet(folder: Path) -> WordNet:
    """Read the database files."""
    words: dict[Synset, list[str]] = {}
    related: dict[Synset, list[tuple[str, Synset, str]]] = {}
    senses: dict[str, dict[Synset, int]] = defaultdict(dict)
    for part, name in _PARTS.items():
        for line in (folder / f"data.{name}").read_text(encoding="latin-1").splitlines():
            if line.startswith(" "):
                continue
            fields = line.split("|")[0].split()
            count = int(fields[3], 16)
            key = (part, fields[0])
            words[key] = [re.sub(r"\(.*\)", "", w).lower() for w in fields[4 : 4 + 2 * count : 2]]
            at = 5 + 2 * count
            pointers = [fields[at + 4 * k : at + 4 * k + 4] for k in range(int(fields[at - 1]))]
            related[key] = [(s, (p.replace("s", "a"), offset), joined) for s, offset, p, joined in pointers]
        for line in (folder / f"index.{name}").read_text(encoding="latin-1").splitlines():
            if not line.startswith(" "):
                fields = line.split()
                for rank, offset in enumerate(fields[-int(fields[2]) :]):
                    senses[fields[0]][part, offset] = rank
    return WordNet(words, related, dict(senses))


@lru_cache(maxsize=4)
def relations(net: WordNet, word: str) -> dict[str, dict[str, float]]:
    """Words related to a word, each with its relations; the strength falls with the ranks of the senses, 0..1."""
    found: dict[str, dict[str, float]] = defaultdict(dict)

    def put(others: Sequence[str], relation: str, synset: Synset, strength: float) -> None:
        for other in others:
            rank = net.senses.get(other, {}).get(synset, _RARE)
            known = found[other].get(relation, 0.0)
            found[other][relation] = max(known, strength / (1 + 0.5 * rank))

    for synset, rank in net.senses.get(word, {}).items():
        strength = 1 / (1 + 0.5 * rank)
        put(net.words[synset], "same", synset, strength)
        for symbol, target, joined in net.related[synset]:
            relation = _RELATIONS.get(symbol)
            if relation is None:
                continue
            others = net.words[target]
            if relation == "derived" and joined != "0000":
                own, other = int(joined[:2], 16) - 1, int(joined[2:], 16) - 1
                others = others[other : other + 1] if net.words[synset][own] == word else []
            put(others, relation, target, strength)
            chained = relation in _CHAINS and len(net.related[target]) <= _BROAD
            for further, end, _ in net.related[target] if chained else ():
                chain = relation + _RELATIONS.get(further, "")
                if chain in _FEATURES and end != synset:
                    put(net.words[end], chain, end, strength)
    found.pop(word, None)
    return found


def opposites(net: WordNet) -> set[tuple[str, str]]:
    """Pairs of words with contrary meanings."""
    pairs = set()
    for synset, pointers in net.related.items():
        for symbol, target, joined in pointers:
            if symbol == "!":
                one, other = (int(joined[:2], 16) - 1, int(joined[2:], 16) - 1)
                pairs.add((net.words[synset][one], net.words[target][other]))
    return pairs


class Similarity:
    """The features of a pair of words, and the probability that they mean the same thing."""

    def __init__(self, net: WordNet, vectors: Path) -> None:
        self._net = net
        rows: dict[str, Array] = {}
        with vectors.open(encoding="utf-8") as lines:
            for line in lines:
                word, *numbers = line.split()
                if word.isascii() and word.isalpha() and len(word) > 2 and word in net.senses:
                    rows[word] = np.array(numbers, dtype=float)
                if len(rows) >= VOCABULARY:
                    break
        self.words = [w for w in rows if not net.is_name(w) and (lemma(w) == w or lemma(w) not in rows)]
        self._at = {w: k for k, w in enumerate(self.words)}
        matrix = np.array([rows[w] for w in self.words])
        matrix -= matrix.mean(axis=0)
        _, _, axes = np.linalg.svd(matrix, full_matrices=False)
        matrix -= matrix @ axes[:2].T @ axes[:2]  # directions that all words share
        self._vectors = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
        self._opposite = opposites(net)
        self.weights: Array = np.zeros(len(_FEATURES) + 6)

    def cosines(self, word: str) -> Array:
        """The cosine of a word's vector with every word's; zeros for a word without a vector."""
        at = self._at.get(word)
        return np.zeros(len(self.words)) if at is None else self._vectors @ self._vectors[at]

    def features(self, word: str, others: Sequence[str]) -> Array:
        """A row of features for each other word."""
        known, cosines = relations(self._net, word), self.cosines(word)
        rows = []
        for other in others:
            related = known.get(other, {})
            cosine = float(cosines[self._at[other]]) if other in self._at else 0.0
            both = word in self._at and other in self._at
            tied = bool(related)
            row = [related.get(name, 0.0) for name in _FEATURES]
            rows.append([*row, cosine, max(cosine, 0.0) ** 2, cosine * tied, float(tied), float(both), 1.0])
        return np.array(rows)

    def fit(self, pairs: dict[str, frozenset[str]], words: Sequence[str], chance: random.Random) -> None:
        """Learn the weights from synonyms of these words, against random words."""
        everything = sorted(pairs)
        rows, labels = [], []
        for word in words:
            others = [o for o in chance.sample(everything, 12) if o not in pairs[word] and o != word]
            rows.append(self.features(word, [*sorted(pairs[word]), *others]))
            labels += [1.0] * len(pairs[word]) + [0.0] * len(others)
        x, y = np.concatenate(rows), np.array(labels)
        for _ in range(3_000):
            self.weights -= 2.0 * (x.T @ (self._probability(x) - y) / len(y) + 1e-4 * self.weights)

    def _probability(self, rows: Array) -> Array:
        return np.asarray(1 / (1 + np.exp(-rows @ self.weights)))

    def scores(self, word: str, others: Sequence[str]) -> list[tuple[float, str]]:
        """The other words with their similarity to the word, 0..1, the most similar first."""
        others = [o for o in others if (word, o) not in self._opposite and o != word]
        if not others:
            return []
        found = self._probability(self.features(word, others))
        return sorted(zip(map(float, found), others, strict=True), reverse=True)

    def candidates(self, word: str) -> list[str]:
        """Words that WordNet relates to a word, and its neighbours in the space of vectors."""
        cosines = self.cosines(word)
        near = [self.words[k] for k in np.argsort(-cosines)[:_NEIGHBOURS] if cosines[k] >= _NEAR]
        return sorted({*near, *(o for o in relations(self._net, word) if o in self._at)})


def check(similarity: Similarity, pairs: dict[str, frozenset[str]], words: Sequence[str]) -> None:
    """Print how often the most similar of 25 words is the one synonym among them, by similarity."""
    chance, everything = random.Random(2), sorted(pairs)
    best = []
    for word in words:
        for synonym in sorted(pairs[word]):
            others = [o for o in chance.sample(everything, 24) if o not in pairs[word] and o != word]
            score, first = similarity.scores(word, [synonym, *others])[0]
            best.append((score, first == synonym))
    best.sort(reverse=True)
    for least in (0.9, 0.8, 0.7, 0.6, 0.5):
        above = [right for score, right in best if score >= least]
        print(
            f"similarity >= {least}: {len(above) / len(best):.2f} linked, {sum(above) / len(above):.3f} of them right"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--wordnet", type=Path, required=True, help="folder of WordNet's database files")
    parser.add_argument("--vectors", type=Path, required=True, help="glove.6B.50d.txt")
    options = parser.parse_args(arguments)
    net = wordnet(options.wordnet)
    similarity = Similarity(net, options.vectors)
    pairs = lexicon.synonyms()
    words = sorted(pairs)
    random.Random(1).shuffle(words)
    left_out = words[: len(words) // 3]
    kept = {w: pairs[w] - set(left_out) for w in words[len(left_out) :]}
    similarity.fit({w: others for w, others in kept.items() if others}, [w for w in kept if kept[w]], random.Random(3))
    check(similarity, pairs, left_out)
    lines = []
    for word in sorted(similarity.words):
        scored = [(s, o) for s, o in similarity.scores(word, similarity.candidates(word)) if s >= LEAST][:MOST]
        if scored:
            lines.append(f"{word}:" + " ".join(f"{other} {round(100 * score)}" for score, other in scored))
    path = Path(lexicon.__file__).parent / "lexicon_similar.txt"
    head = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    path.write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
