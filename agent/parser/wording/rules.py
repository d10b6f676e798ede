"""Rules of wording: a pattern of words, and what stands in its place.

In: a question's text, and what is known of the database and the day. Out: a `Wording`, the text in words that the
reader knows, with what was assumed. A rule whose table or column is missing returns None, and the text stays as it is.
"""

from __future__ import annotations

import datetime as dt
import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from agent.knowledge.values import ValueIndex
from agent.knowledge.vocabulary import ColumnWord, TableWord, Vocabulary
from agent.parser.interpretation import Shape
from eval.language.inflection import lemma, plural, root
from eval.language.lexicon import FUNCTION_WORDS
from eval.language.numbers import SMALL_NUMBERS
from eval.language.tokens import tokenize

UNIT = r"(?:day|week|month|quarter|year)"
YEAR = r"(?:19|20)\d\d"
MONTH = (
    r"(?:january|jan|february|feb|march|mar|april|apr|may|june|jun|july|jul|august|aug|september|sept|sep|october|oct|"
    r"november|nov|december|dec)"
)
BY = r"(?:by|per|for each|for every|in each|of each|across)"
BUYERS = ("customer", "client", "buyer", "member")
WHO = r"\b(?:who|that|which) "
ASKED = r"(?:(?:what|show|give|tell)(?: is|'s| was| me)? )?(?:the |our )?"
"""The words that ask, before the name of a figure."""
SINCE = r"(?P<rest>(?: (?:in|since|during|this|last|for) .+)?)"


@dataclass(frozen=True, slots=True)
class Wording:
    """A question in the wording that is read."""

    text: str
    shape: Shape | None = None
    notes: tuple[str, ...] = ()
    guessed: bool = False
    """The question did not say what to rank by; revenue was assumed."""
    doubt: str = ""
    """What was assumed without the question saying so, and what else may be meant: such a reading is not sure."""
    lost: tuple[str, ...] = ()
    """Content words of the question that the rewording lost."""
    asked: str = ""
    """The question as it was asked, where it is reworded."""

    def in_asked_words(self, words: Sequence[str]) -> tuple[str, ...]:
        """The words as a person asked them: of those that the rewording brought in, what they stand for."""
        if not self.asked:
            return tuple(words)
        asked, now = ([t.text for t in tokenize(text) if t.kind == "word"] for text in (self.asked, self.text))
        own = {w.lower() for w in asked}
        replaced = [w for w in asked if w.lower() not in {*FUNCTION_WORDS, *(n.lower() for n in now)}]
        told = [[word] if not replaced or own & {*word.lower().split()} else replaced for word in words]
        return tuple(dict.fromkeys(itertools.chain.from_iterable(told)))


@dataclass(frozen=True)
class Known:
    """What a rule may look at besides the words of the question."""

    vocabulary: Vocabulary
    values: ValueIndex
    today: dt.date

    def table(self, word: str | None) -> TableWord | None:
        """The table that the word names."""
        return self.vocabulary.table_named(word) if word else None

    @property
    def only_table(self) -> TableWord | None:
        """The table of a database that has only one; those of a single column that it refers to are part of it."""
        stored = [t for t in self.vocabulary.tables.values() if t.table.kind == "table"]
        referred = {key.ref_table for t in stored for key in t.table.foreign_keys if key.ref_table != t.name}
        whole = [t for t in stored if len(t.table.columns) > 1 or t.name not in referred]
        return whole[0] if len(whole) == 1 else None

    def noun(self, *nouns: str) -> str:
        """The first of the nouns that names a table."""
        return next((noun for noun in nouns if self.table(noun)), "")

    def rows(self, *nouns: str) -> str:
        """The first of the nouns that names a table, in the plural."""
        noun = self.noun(*nouns)
        return plural(noun) if noun else ""

    def plural_table(self, word: str) -> bool:
        """Whether the plural word names the rows of a table (`orders`, `sales reps`)."""
        said = word.lower().split()
        words = tuple(map(lemma, said))
        return words[-1] != said[-1] and any(t.words == words for t in self.vocabulary.tables.values())

    def stored(self, word: str) -> bool:
        """Whether the data knows the word, as part of a name or as a value."""
        return word.lower() in self.vocabulary.holders or bool(self.values.find(word.lower()))

    def events(self) -> list[TableWord]:
        """The tables of dated rows that refer to other rows; the one with most rows first."""
        tables = (t for t in self.vocabulary.tables.values() if t.table.foreign_keys and not t.bridge)
        return sorted(filter(self.dates, tables), key=lambda t: -(t.table.row_count or 0))

    def dates(self, table: TableWord) -> list[ColumnWord]:
        return [c for c in self.vocabulary.by_table[table.name] if c.role == "date"]

    def called(self, name: str) -> list[ColumnWord]:
        """The columns whose name ends in these words, inflected as they may be."""
        words = [root(w) for w in name.split()]
        return [c for c in self.vocabulary.columns.values() if words == [root(w) for w in c.words[-len(words) :]]]

    def figures(self) -> list[ColumnWord]:
        """The columns that hold figures: numbers that are neither keys nor codes."""
        return [c for c in self.vocabulary.columns.values() if c.is_figure]


Rewrite = Callable[[re.Match[str], Known], Wording | None]


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """The pattern in upper or lower case, compiled when a question first needs it: all of them take 50 ms."""
    return re.compile(pattern, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rule:
    """What stands in place of the words that a pattern matches."""

    patterns: tuple[str, ...]
    rewrite: Rewrite
    everywhere: bool = False
    """All matches are rewritten, not only the first."""

    def __call__(self, text: str, known: Known) -> Wording | None:
        """The whole text in its new wording; None when the rule does not apply."""
        for pattern in self.patterns:
            if self.everywhere:
                new = _compiled(pattern).sub(lambda match: (self.rewrite(match, known) or Wording(match[0])).text, text)
                if new != text:
                    return Wording(new)
            elif (match := _compiled(pattern).search(text)) and (phrase := self.rewrite(match, known)) is not None:
                return replace(phrase, text=f"{text[: match.start()]}{phrase.text}{text[match.end() :]}")
        return None


def rule(*patterns: str, everywhere: bool = False) -> Callable[[Rewrite], Rule]:
    """Make a rule of a function, which gets the first match of the first pattern that occurs, in upper or lower case,
    and returns what stands in place of the matched words."""
    return lambda rewrite: Rule(patterns, rewrite, everywhere)


class Replacements:
    """Other words in place of patterns, one after the other, in upper or lower case."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        self.patterns = tuple(pattern for pattern, _ in pairs)
        self._pairs = pairs

    def __call__(self, text: str) -> str:
        for pattern, words in self._pairs:
            text = _compiled(pattern).sub(words, text)
        return text

    def reworded(self, text: str, _: Known) -> Wording | None:
        """As a rule: None where nothing is replaced."""
        new = self(text)
        return Wording(new) if new != text else None


def replacements(section: str) -> Replacements:
    """One section of `replacements.txt`."""
    parts = {"<MONTH>": MONTH, "<YEAR>": YEAR, "<NUMBER>": SMALL_NUMBERS}
    pairs = []
    text = Path(__file__).with_name("replacements.txt").read_text(encoding="utf-8")
    for line in text.partition(f"[{section}]\n")[2].partition("\n\n")[0].splitlines():
        left, defines, right = line.partition(" := ")
        pattern, _, words = line.rpartition(" => ")
        for name, part in parts.items():
            pattern, right = pattern.replace(name, part), right.replace(name, part)
        if defines:
            parts[left] = right
        else:
            pairs.append((pattern, words[1:-1]))
    return Replacements(pairs)


_SUBJECT = re.compile(r"^(?:what (?:is|was|are|were)|show me|show|give me|tell me)? ?(?:the |our |my )?", re.IGNORECASE)


def subject(text: str) -> str:
    """The text without the words that ask (`what is the`)."""
    return _SUBJECT.sub("", text, count=1)
