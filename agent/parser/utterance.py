"""An utterance: one question linked to the schema, and rewrites of the question with one thing changed.

In: a question's text, the schema, the value index. Out: what it names and asks for, and new texts in which a value, a
period, a group, an aggregate or a limit is replaced or added. `follow_up` decides which rewrite to use; this module
performs it.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator

from sqlglot import exp

from agent.knowledge.values import ValueIndex
from agent.knowledge.vocabulary import vocabulary
from agent.parser.periods import Period, period_at
from agent.parser.question import Item
from agent.parser.schema_linking import link
from agent.parser.word_lists import word_list
from eval.language.lexicon import FUNCTION_WORDS
from eval.language.numbers import number_of
from eval.language.tokens import Token, tokenize
from eval.schema import Schema
from eval.sql import parse

_DATE = dt.date(2000, 1, 1)
RELATIVE = re.compile(r"last|this|past|previous|current|today|yesterday", re.IGNORECASE)
"""The beginning of a period that depends on today."""
_BEFORE_YEARS = word_list("before_years")


class Utterance:
    def __init__(self, text: str, schema: Schema, values: ValueIndex, sql: str = "") -> None:
        self.text = " ".join(text.split())
        self.schema, self.values, self.sql = schema, values, sql
        self.tokens: tuple[Token, ...] = tokenize(self.text)
        self.items: tuple[Item, ...] = link(self.tokens, vocabulary(schema), values) if self.tokens else ()
        self._at = self._positions()

    def _positions(self) -> list[tuple[int, int]]:
        """The position of each token in the text."""
        positions, at = [], 0
        for token in self.tokens:
            start = self.text.find(token.text, at)
            if start < 0:
                start, end = at, at
            else:
                end = start + len(token.text)
            if token.kind == "quoted" and start > 0 and self.text[start - 1] in "\"'“‘`":
                start, end = start - 1, min(end + 1, len(self.text))
            positions.append((start, end))
            at = end
        return positions

    # -- what the question says -----------------------------------------------------------------------------------

    def starts(self, *words: str) -> bool:
        return bool(self.tokens) and self.tokens[0].lower in words

    def has(self, *kinds: str) -> bool:
        return any(x.is_keyword(*kinds) for x in self.items)

    def kinds(self) -> set[str]:
        return {x.keyword.kind for x in self.items if x.keyword is not None}

    def first_kind(self) -> str:
        return self.items[0].keyword.kind if self.items and self.items[0].keyword else ""

    def tables(self) -> list[int]:
        """The items that name a table."""
        return self._of_sort("table")

    def columns(self) -> list[int]:
        return self._of_sort("column")

    def measures(self) -> list[int]:
        return self._of_sort("measure")

    def values_named(self) -> list[int]:
        return self._of_sort("value")

    def _of_sort(self, sort: str) -> list[int]:
        return [k for k in range(len(self.items)) if self._sort(k) == sort]

    def values_lower(self) -> bool:
        """Whether values are named in lower case, as adjectives are (`delivered`)."""
        return bool(self.values_named()) and all(
            self.tokens[self.items[k].start].text.islower() for k in self.values_named()
        )

    def literal(self) -> str:
        """The words that are not English words: a name that the index does not contain."""
        return next((t.text for t in self.tokens if t.kind == "quoted" or t.capital or t.text[:1].isupper()), "")

    def _sort(self, k: int) -> str:
        mention = self.items[k].mention
        if mention is None or self.items[k].kind not in ("mention", "literal"):
            return ""
        table = mention.tables[0][1] if mention.tables else 0.0
        column = mention.columns[0][1] if mention.columns else 0.0
        schema = max(table, column)
        named = any(t.capital or t.kind == "quoted" or t.text[:1].isupper() for t in self.tokens_of(k))
        if mention.value_score > schema + (-0.3 if named else 0.02) or (mention.value_score and schema < 0.9):
            return "value"
        if mention.measure and schema < 0.9:
            return "measure"
        return "table" if table >= max(column - 0.02, 0.6) else ("column" if column else "")

    def tokens_of(self, k: int) -> tuple[Token, ...]:
        return self.tokens[self.items[k].start : self.items[k].end]

    def period(self) -> str | None:
        """The words of a period, if the text names one."""
        return next((self._slice(start, start + period.tokens) for start, period in self._periods()), None)

    def _periods(self) -> Iterator[tuple[int, Period]]:
        """The periods that the text names, each with its first token."""
        for start in range(len(self.tokens)):
            period = period_at(self.tokens, start, _DATE)
            before = self.tokens[start - 1].lower if start else "in"
            if period is not None and (period.year_only is None or period.relative or before in _BEFORE_YEARS):
                yield start, period

    def counts_rows(self) -> bool:
        return self.has("count", "agg") or bool(self.measures())

    # -- rewrites of the text -------------------------------------------------------------------------------------

    def _slice(self, start: int, end: int) -> str:
        """The text of tokens `start` to `end` (exclusive)."""
        return self.text[self._at[start][0] : self._at[end - 1][1]] if end > start else ""

    def text_only(self) -> str:
        return re.sub(r"[\s?.!]+\Z", "", self.text)

    def _put(self, start: int, end: int, words: str) -> str:
        """The text with tokens `start` to `end` replaced."""
        left, right = self.text[: self._at[start][0]], self.text[self._at[end - 1][1] :]
        if not left and self.text[:1].isupper():
            words = words[:1].upper() + words[1:]
        return " ".join(f"{left}{words}{right}".split())

    def extended(self, words: str) -> str:
        """The question with one more phrase, placed before its ordering or limit."""
        mark = "?" if self.text.endswith("?") else ""
        kept = self.text_only()
        gap = "" if words.startswith(",") else " "
        order = self._order_start()
        if order is not None and not words.startswith(", along"):
            at = self._at[order][0]
            head = kept[:at].rstrip(" ,")
            return f"{head}{gap}{words}, {kept[at:]}{mark}"
        return f"{kept}{gap}{words}{mark}"

    def _order_start(self) -> int | None:
        ordering = (x for x in self.items if x.is_keyword("order") or (x.is_keyword("dir") and x.start > 1))
        return next((item.start for item in ordering), None)

    def without_order(self) -> str:
        at = self._order_start()
        kept = self.text_only()
        return kept if at is None else kept[: self._at[at][0]].rstrip(" ,")

    def limited(self, number: int, side: str) -> str:
        """The question limited to its `top`, `bottom` or `first` number of rows."""
        for k, item in enumerate(self.items):
            if not item.is_keyword("sup", "sup_adj", "sup_count", "common", "selling"):
                continue
            near = [j for j in (k - 1, k + 1) if 0 <= j < len(self.items) and self.items[j].kind == "number"]
            if near:
                j = near[0]
                text = self._put(self.items[j].start, self.items[j].end, str(number))
            elif item.lower.removeprefix("the ") in ("top", "bottom", "best", "worst"):
                text = self._put(item.start, item.end, f"{item.lower} {number}")
            else:
                word = self._slice(item.start, item.end)
                article = "the " if word.startswith("the ") else ""
                text = self._put(item.start, item.end, f"{article}{number} {word.removeprefix('the ')}")
            return text if side != "bottom" else re.sub(r"\btop\b", "bottom", text, flags=re.I)
        mark = "?" if self.text.endswith("?") else ""
        return f"{self.text_only()}, only the {side} {number}{mark}"

    def ranked(self, place: str) -> str | None:
        """The question with `second` before the superlative."""
        for item in self.items:
            if item.is_keyword("sup", "sup_adj"):
                return self._put(item.start, item.end, f"{place} {self._slice(item.start, item.end)}")
        return None

    def replaced(self, kinds: tuple[str, ...], words: str) -> str | None:
        """The first signal phrase of these kinds replaced, including its number if the new words have one."""
        for k, item in enumerate(self.items):
            if item.is_keyword(*kinds):
                article = "the " if item.lower.startswith("the ") else ""
                counted = k and self.items[k - 1].kind == "number" and number_of(words.split()[0]) is not None
                return self._put(self.items[k - 1].start if counted else item.start, item.end, article + words)
        return None

    def aggregated(self, words: str) -> str | None:
        """The aggregate asked for replaced, or an aggregate added before the column shown."""
        changed = self.replaced(("agg",), words) or self.replaced(("sup",), words)
        if changed is not None:
            return changed
        if self.has("count"):
            return None
        for k in (*self.measures(), *self.columns())[:1]:
            item = self.items[k]
            return self._put(item.start, item.end, f"{words} {self._slice(item.start, item.end)}")
        return None

    def _group_span(self) -> tuple[int, int, bool] | None:
        """The tokens that name the grouping, and whether they are the thing counted in their sentence (`each …`)."""
        for k, item in enumerate(self.items):
            if not (item.is_keyword("group") or item.lower in ("by", "per")):
                continue
            end = k + 1
            while end < len(self.items) and (
                self._sort(end) in ("table", "column")
                or self.items[end].lower in ("and", ",", "the", "year", "month", "day", "quarter", "week", "different")
            ):
                end += 1
            while end > k + 1 and self.items[end - 1].lower in ("and", ",", "the"):
                end -= 1
            if end == k + 1:
                continue
            each = item.lower in ("each", "every")
            return (self.items[k + 1].start if each else item.start), self.items[end - 1].end, each
        return None

    def grouped(self, what: str) -> str | None:
        """The question with a different grouping."""
        span = self._group_span()
        counts = self.counts_rows() or self.has("sup_count")
        if span is not None and counts:
            return self._put(span[0], span[1], what if span[2] else f"per {what}")
        if counts:
            return self.extended(f"per {what}")
        phrase = self.phrase(plain=True)
        return f"How many {re.sub(r'^(?:the|all|our) ', '', phrase)} per {what}?" if phrase else None

    def with_period(self, period: str) -> str | None:
        """The named period replaced; `in` replaces `last month`."""
        for start, named in self._periods():
            end = start + named.tokens
            lead = self.tokens[start - 1].lower if start else ""
            if RELATIVE.match(period) and lead in ("in", "during", "on"):
                return self._put(start - 1, end, period)
            if named.relative and not RELATIVE.match(period) and lead not in ("in", "for", "of", "during", "since"):
                return self._put(start, end, f"in {period}")
            return self._put(start, end, period)
        return None

    def with_value(self, other: Utterance, words: str) -> str | None:
        """A stored value replaced by another one of the same column."""
        wanted = {key for item in other.items if item.mention is not None for key in item.mention.stored_in}
        named = {c for _, c in wanted}
        spans = []
        for k in self.values_named():
            mention = self.items[k].mention
            columns = mention.stored_in if mention is not None else set()
            if columns & wanted or {c for _, c in columns} & named:
                spans.append((self.items[k].start, self.items[k].end))
        if spans:
            return self._put(spans[0][0], spans[-1][1], words)
        if wanted:
            return None
        for constant in self._constants():
            at = self.text.lower().find(constant.lower())
            if at >= 0:
                return f"{self.text[:at]}{words}{self.text[at + len(constant) :]}"
        single = self.values_named()
        if len(single) == 1 and self.tokens_of(single[0])[0].text[:1].isupper() and words[:1].isupper():
            return self._put(self.items[single[0]].start, self.items[single[0]].end, words)
        return None

    def _constants(self) -> list[str]:
        """The texts that the statement compares with, longest first."""
        if not self.sql:
            return []
        tree = parse(self.sql, self.schema.dialect).tree
        if tree is None:
            return []
        constants = [x.this.strip("%") for x in tree.find_all(exp.Literal) if x.is_string]
        return sorted((x for x in constants if len(x) > 1), key=len, reverse=True)

    def with_number(self, other: Utterance) -> str | None:
        """The named comparison replaced."""
        for k, item in enumerate(self.items):
            if item.is_keyword("cmp", "cmp_adj") and k + 1 < len(self.items) and self.items[k + 1].kind == "number":
                end = self.items[k + 1].end
                unit = end < len(self.tokens) and self.tokens[end].lower == other.tokens[-1].lower
                return self._put(item.start, end + unit, other.text)
        return None

    def comparing(self, words: str, rest: Utterance) -> str:
        """The comparison with the column it refers to, if the previous question named one."""
        counted = next((k for k in self.tables() if k and self.items[k - 1].is_keyword("count")), None)
        if counted is not None and rest.first_kind() == "cmp" and rest.items[-1].kind == "number":
            return f"with {words} {self._slice(self.items[counted].start, self.items[counted].end)}"
        columns = [k for k in self.columns() if k]
        if rest.first_kind() == "cmp" and len(columns) == 1 and not rest.tables():
            item = self.items[columns[0]]
            ahead = self.items[columns[0] - 1]
            if ahead.is_keyword("agg"):
                return f"with an {self._slice(ahead.start, item.end)} {words}"
            return f"with {self._slice(item.start, item.end)} {words}"
        return words

    def with_column(self, words: str, other: Utterance) -> str | None:
        """The column under the same aggregate or superlative replaced."""
        for k, item in enumerate(self.items):
            if not item.is_keyword("agg", "sup"):
                continue
            for j in range(k + 1, min(len(self.items), k + 3)):
                if self._sort(j) in ("column", "measure"):
                    start = item.start if other.has("agg", "sup") else self.items[j].start
                    return self._put(start, self.items[j].end, words)
        return None

    def with_table(self, words: str) -> str | None:
        """The first named table replaced."""
        for k in self.tables()[:1]:
            return self._put(self.items[k].start, self.items[k].end, words)
        return None

    def phrase(self, plain: bool = False) -> str | None:
        """The topic of the question as a noun phrase: `customers from France`; `plain`: without order and limit."""
        tables = self.tables()
        if not tables:
            return None
        head = tables[0]
        first = head
        while first and self._describes(first - 1):
            first -= 1
        start = self.items[first].start
        cut = self._order_start()
        end = len(self.tokens)
        if plain and cut is not None and cut > self.items[head].start:
            end = cut
        while end > self.items[head].end and self.tokens[end - 1].kind == "punct" and self.tokens[end - 1].text != "'s":
            end -= 1
        lead = self._slice(start, self.items[head].end)
        rest = self._slice(self.items[head].end, end)
        rest = re.sub(r"^(?:are|were|is|was) there\b ?|\bare there\Z|^do we (?:have|sell|offer)\b ?|^,\s*", "", rest,
                      flags=re.I).strip()  # fmt: skip
        if not rest:
            return lead
        following = re.match(r"[\w']+", rest)
        word = following.group().lower() if following else ","
        verb = word not in _CONTINUING and not word.endswith(("ed", "ing"))
        return f"{lead} {'that ' if verb else ''}{rest}".strip()

    def things(self) -> str:
        """The topic without order, limit and article: `customers from France`; empty where no table is named."""
        return re.sub(r"^(?:the|all|all the|our|every) ", "", self.phrase(plain=True) or "", flags=re.I)

    def _describes(self, k: int) -> bool:
        """Whether item k is an adjective of the noun after it."""
        item = self.items[k]
        if item.is_keyword("sup_adj", "sup", "selling", "sup_count", "common", "distinct") or item.kind == "number":
            return True
        return self._sort(k) in ("value", "column") and item.lower not in FUNCTION_WORDS


_CONTINUING = word_list("continuing")
