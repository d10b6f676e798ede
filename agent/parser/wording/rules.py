"""Rules of wording: a pattern of words, and what stands in its place.

In: a question's text, and what is known of the database and the day. Out: a `Wording`, the text in words that the
reader knows, with what was assumed. A rule whose table or column is missing returns None, and the text stays as it is.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from agent.knowledge.values import ValueIndex
from agent.knowledge.vocabulary import ColumnWord, TableWord, Vocabulary
from agent.parser.interpretation import Shape
from agent.parser.to_show import Listed
from agent.parser.wording.word_patterns import WordPattern
from eval.language.inflection import lemma, plural
from eval.language.lexicon import word_set

QUANTITIES = frozenset((word,) for word in ("quantity", "count", "unit", "piece"))
"""Names of columns that count things."""
UNIT = r"(?:day|week|month|quarter|year)"
YEAR = r"(?:19|20)\d\d"
MONTH = (
    r"(?:january|jan|february|feb|march|mar|april|apr|may|june|jun|july|jul|august|aug|september|sept|sep|october|oct|"
    r"november|nov|december|dec)"
)
BY = r"(?:by|per|for each|for every|in each|of each|across)"
EVENTS = word_set(
    "order purchase sale invoice booking reservation visit appointment rental loan checkout donation registration "
    "attendance transaction payment stay session ticket enrollment subscription"
)
"""Words of tables that record what people did, and when."""
THINGS = ("product", "item", "track", "book", "article")
"""Tables of what is sold or lent."""
SALES = ("order", "invoice", "sale", "purchase")
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
    listed: Listed | None = None
    """What to show, listed behind the question."""


@dataclass(frozen=True)
class Known:
    """What a rule may look at besides the words of the question."""

    vocabulary: Vocabulary
    values: ValueIndex
    today: dt.date
    file_words: frozenset[str] = frozenset()
    """The words of the name of the file, where its rows are called otherwise."""

    def table(self, word: str | None) -> TableWord | None:
        """The table that the word names."""
        return self.vocabulary.table_named(word) if word else None

    @cached_property
    def only_table(self) -> TableWord | None:
        """The table of a database that has only one; those of a single column that it refers to are part of it."""
        stored = [t for t in self.vocabulary.tables.values() if t.table.kind == "table"]
        referred = {key.ref_table for t in stored for key in t.table.foreign_keys if key.ref_table != t.name}
        return sole(t for t in stored if len(t.table.columns) > 1 or t.name not in referred)

    def noun(self, *nouns: str) -> str:
        """The first of the nouns that names a table."""
        return next((noun for noun in nouns if self.table(noun)), "")

    def rows(self, *nouns: str) -> str:
        """The first of the nouns that names a table, in the plural."""
        noun = self.noun(*nouns)
        return plural(noun) if noun else ""

    def table_of_rows(self, rows: str) -> TableWord | None:
        """The table whose rows are called so, in the plural: `orders`, `sales reps`."""
        said = rows.lower().split()
        words = tuple(map(lemma, said))
        named = (t for t in self.vocabulary.tables.values() if t.words == words)
        return next(named, None) if words[-1] != said[-1] else None

    def plural_table(self, word: str) -> bool:
        """Whether the plural word names the rows of a table (`orders`)."""
        return self.table_of_rows(word) is not None

    def stored(self, word: str) -> bool:
        """Whether the data knows the word, as part of a name or as a value."""
        return word.lower() in self.vocabulary.holders or bool(self.values.find(word.lower()))

    def dated(self, table: TableWord) -> bool:
        """Whether the rows of the table have a date."""
        return any(c.role == "date" for c in self.vocabulary.by_table[table.name])

    def events(self, people: TableWord | None = None) -> list[TableWord]:
        """The tables of dated rows that refer to these people, or to anything; the one with most rows first."""
        tables = [
            t
            for t in self.vocabulary.tables.values()
            if self.dated(t)
            and (
                any(key.ref_table == people.name for key in t.table.foreign_keys)
                if people is not None
                else t.table.foreign_keys and not t.bridge
            )
        ]
        return sorted(tables, key=lambda t: -(t.table.row_count or 0))

    def recorded(self, table: TableWord) -> list[TableWord]:
        """The tables that record what people did with the rows of a table: its sales, loans, bookings."""
        referring = (
            t
            for t in self.vocabulary.tables.values()
            if any(key.ref_table == table.name for key in t.table.foreign_keys)
        )
        return [t for t in referring if EVENTS & set(t.words)]

    def figures(self) -> list[ColumnWord]:
        """The columns that hold figures: numbers that are neither keys nor codes."""
        return [c for c in self.vocabulary.columns.values() if c.is_figure]


Rewrite = Callable[[re.Match[str], Known], Wording | None]
FileRewrite = Callable[[re.Match[str], Known, TableWord], Wording | None]
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Rule:
    """What stands in place of the words that a pattern matches."""

    patterns: tuple[WordPattern, ...]
    rewrite: Rewrite
    everywhere: bool = False
    """All matches are rewritten, not only the first."""

    def __call__(self, text: str, known: Known) -> Wording | None:
        """The whole text in its new wording; None when the rule does not apply."""
        for pattern in self.patterns:
            if self.everywhere:
                new = pattern.sub(lambda match: (self.rewrite(match, known) or Wording(match[0])).text, text)
                if new != text:
                    return Wording(new)
            elif (match := pattern.search(text)) and (phrase := self.rewrite(match, known)) is not None:
                return replace(phrase, text=f"{text[: match.start()]}{phrase.text}{text[match.end() :]}")
        return None


def rule(*patterns: str, everywhere: bool = False) -> Callable[[Rewrite], Rule]:
    """Make a rule of a function, which gets the first match of the first pattern that occurs, in upper or lower case,
    and returns what stands in place of the matched words."""
    made = tuple(map(WordPattern, patterns))
    return lambda rewrite: Rule(made, rewrite, everywhere)


def file_rule(*patterns: str, everywhere: bool = False) -> Callable[[FileRewrite], Rule]:
    """The same for a database of one table, which the function gets as well."""

    def made(rewrite: FileRewrite) -> Rule:
        def of_one_table(match: re.Match[str], known: Known) -> Wording | None:
            return rewrite(match, known, known.only_table) if known.only_table is not None else None

        return rule(*patterns, everywhere=everywhere)(of_one_table)

    return made


class Replacements:
    """Other words in place of patterns, one after the other, in upper or lower case."""

    def __init__(self, *pairs: tuple[str, str | Callable[[re.Match[str]], str]]) -> None:
        self.patterns = tuple(WordPattern(pattern) for pattern, _ in pairs)
        self._words = tuple(words for _, words in pairs)

    def __call__(self, text: str) -> str:
        for pattern, words in zip(self.patterns, self._words, strict=True):
            text = pattern.sub(words, text)
        return text


_SUBJECT = re.compile(r"^(?:what (?:is|was|are|were)|show me|show|give me|tell me)? ?(?:the |our |my )?", re.IGNORECASE)


def subject(text: str) -> str:
    """The text without the words that ask (`what is the`)."""
    return _SUBJECT.sub("", text, count=1)


def as_said(column: ColumnWord) -> str:
    """The name of a column as people write it: `paid in` for `Paid_in`."""
    return re.sub(r"[\W_]+", " ", column.name).strip().casefold()


def extreme(most: str) -> str:
    """The end of a ranking by a figure: `highest` for `most`, `lowest` for `least` and `fewest`."""
    return "highest" if most.lower() == "most" else "lowest"


def summed(column: ColumnWord) -> str:
    """The sum of a figure in words: `total amount`, and `order total` for one that is called a total."""
    words = " ".join(column.words)
    return words if "total" in words else f"total {words}"


def sole(found: Iterable[_Found]) -> _Found | None:
    """What is found, where it is just one."""
    every = list(found)
    return every[0] if len(every) == 1 else None


def each_row(table: TableWord, known: Known, *called: tuple[str, ...]) -> bool:
    """Whether a column of such a name has another value in each row, as the numbers of invoices have."""
    columns = (c for c in known.vocabulary.by_table[table.name] if c.words in called and not c.numeric)
    return any(len(known.values.values(*c.key)) == table.table.row_count for c in columns)
