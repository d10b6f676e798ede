"""Schema linking: find the words of a question that name tables, columns and stored values.

In: tokens, a schema's `Vocabulary`, a `ValueIndex`. Out: `Item`s that cover the question from left to right, each a
mention (with every candidate for its words), a signal phrase, a number, or a remaining word.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from agent.knowledge.effort import spend
from agent.knowledge.values import ValueIndex, ValueSpan
from agent.knowledge.vocabulary import ColumnWord, TableWord, Vocabulary, split_name
from agent.parser.external_knowledge import Meaning
from agent.parser.fallback_linking import CALENDAR_UNITS, MONEY, NO_VALUE, linked_by_fallback
from agent.parser.periods import period_at
from agent.parser.question import Item, Span, covered
from agent.parser.units import UNITS, of_a_unit
from agent.parser.word_lists import Keyword, keywords, starts_with_sorting, word_list
from eval.language.lexicon import FUNCTION_WORDS, measures, word_set
from eval.language.tokens import Token, tokenize

_OWN, _SYNONYM = 1.0, 0.81
"""A word that stands in the schema itself does not join words before it as a synonym of another (`treatment category`,
where a table is called `treatment_type`)."""
_GAPS = {"of", "the", "'s", "a", "an", "in", "for", "they", "he", "she", "it"}
_AUXILIARIES = ("do", "does", "did")
_SMALL = word_list("small")
"""Words that name something only together with another word of its name (`valid from`)."""
_PLACES = frozenset(("first", "last"))
"""Words that name a column only when its other word follows (`first and last name`)."""
_COUNTED = ("count",)
"""Words of columns that hold the number of something (`room_count`)."""
_RECURRING = word_set("yearly annual annually quarterly monthly weekly daily hourly")
_ORDERS = {"list", "show", "give", "display", "return", "find", "get", "tell", "present", "name"}
_AFTER_ORDERS = {"all", "the", "me", "us", "every", "each", "any", "out"}
_TAILS = {"id": 0.7, "code": 0.84, "key": 0.7, "number": 0.74, "name": 0.84, "description": 0.8, "title": 0.8,
          "type": 0.66, "date": 0.7, "text": 0.75, "value": 0.72, "amount": 0.78, "detail": 0.74, "million": 0.9,
          "billion": 0.9, "thousand": 0.9, "usd": 0.9, "eur": 0.9, "dollar": 0.9, "percent": 0.88, "percentage": 0.85,
          "km": 0.9, "kg": 0.9, "cm": 0.9, "mm": 0.9, "meter": 0.9, "foot": 0.88, "minute": 0.85, "second": 0.85,
          "mile": 0.9, "year": 0.62,
          "range": 0.66, "string": 0.8, "count": 0.7, "rate": 0.66, "time": 0.66, "day": 0.66, "level": 0.66,
}  # fmt: skip
_UNITS = word_list("units")
"""Units at the end of a column's name."""
QUALIFYING = word_set("after before at during since")
"""Words behind which a column's name says when or where (`Height after 30d`, `weight_at_birth`)."""
_DIMENSIONS = word_list("dimensions")
"""Words that go without saying beside a unit: `kg` of weight."""
_BETWEEN = word_set("from to")
"""Words that may name a column, and mostly stand between two others."""
_HEADS = word_set("header hdr head hd master mst")
"""What a table of whole orders is called beside one of their lines."""
_STEPS_A_TOKEN, _STEPS_A_NAME = 12, 3
"""The work of linking one token, and for each table or column that its word is in the name of."""


def link(
    tokens: Sequence[Token], vocabulary: Vocabulary, values: ValueIndex, known: Sequence[Meaning] = ()
) -> tuple[Item, ...]:
    """Cover the question with the best non-overlapping items. `known`: the meanings that the question's
    evidence gives."""
    spend(_STEPS_A_TOKEN * len(tokens))
    spans = _schema_spans(tokens, vocabulary)
    _add_rows(tokens, spans, vocabulary)
    _add_dates(tokens, spans)
    _add_unit_prices(tokens, spans, vocabulary)
    _add_measures(tokens, spans)
    periods = _periods(tokens, vocabulary, values)
    _add_values(tokens, spans, values, {k for period in periods for k in range(period.start, period.end)})
    # The evidence's meaning of a phrase replaces all other meanings of the words
    lemmas = [t.lemma for t in tokens]
    for meaning in known:
        length = len(meaning.phrase)
        for start in range(len(tokens) - length + 1):
            if tuple(lemmas[start : start + length]) == meaning.phrase:
                columns = {c.key: (c, 1.0) for c in meaning.columns}
                spans[start, start + length] = Span(columns=columns, values=meaning.values, matched=length + 1)
    signals = [*keywords(tokens), *periods]
    return linked_by_fallback(tokens, covered(tokens, spans, signals), vocabulary, values)


def _periods(tokens: Sequence[Token], vocabulary: Vocabulary, values: ValueIndex) -> list[Keyword]:
    """Spans that name a period with more than a bare year: `March 2024`, `last month`; not the columns of a sheet that
    has one for each (`Q1`, `Mar 2024`), nor what a column of such names holds."""
    signals = []
    columns = {"".join(filter(str.isalnum, c.name)).casefold() for c in vocabulary.columns.values() if c.numeric}
    for start in range(len(tokens)):
        period = period_at(tokens, start, dt.date(2000, 1, 1))
        named = tokens[start : start + period.tokens] if period is not None else ()
        if "".join(filter(str.isalnum, "".join(t.lower for t in named))) in columns:
            continue
        if named and _stored_as_text(" ".join(t.text for t in named), values):
            continue
        if period is not None and (period.relative or period.year_only is None) and tokens[start].kind != "quoted":
            signals.append(Keyword("period", period.words, start, start + period.tokens))
    return signals


def _stored_as_text(phrase: str, values: ValueIndex) -> bool:
    """Whether a column holds the names of periods, this one among them: `March`, or `Mar`."""
    same = [hit for hit in values.find(phrase) if hit.value.casefold() == phrase.casefold()]
    hits = same or values.related(phrase)

    def names_period(value: str) -> bool:
        tokens = tokenize(f"in {value}")  # `may` and `march` alone are no months
        period = period_at(tokens, 1, dt.date(2000, 1, 1)) if len(tokens) > 1 else None
        return period is not None and period.relative and period.tokens == len(tokens) - 1

    return any(all(map(names_period, values.values(hit.table, hit.column)[:12])) for hit in hits)


def _schema_spans(tokens: Sequence[Token], vocabulary: Vocabulary) -> dict[tuple[int, int], Span]:
    items: dict[int, TableWord | ColumnWord] = {}
    by_id: dict[int, dict[int, list[tuple[str, float]]]] = {}
    own: set[int] = set()
    heads = {table.words[-1] for table in vocabulary.tables.values() if table.words}
    for i, token in enumerate(tokens):
        # What has a number in its name that the token is, with those words of the name: `3` of `week 3`, `q 1`
        words = split_name(token.text) if token.kind in ("number", "word") else ()
        numbered = 0 < len(words) <= 2 and words[-1].isdecimal()
        holding = vocabulary.holders.get(words[-1], ()) if numbered else ()
        for item in (item for item in holding if words[0] in item.words):
            items[id(item)] = item
            by_id.setdefault(id(item), {}).setdefault(i, []).append((" ".join(words), 1.0))
        if token.kind != "word" or token.lower in (*_GAPS, *_AUXILIARIES) or (i == 0 and _commands(tokens, vocabulary)):
            continue
        meant = vocabulary.affinities(token.lower)
        if token.lemma in CALENDAR_UNITS:  # `by month` is no monthly fee
            meant = {word: score for word, score in meant.items() if word not in _RECURRING}
        if token.lower == "number" and i + 1 < len(tokens) and tokens[i + 1].lower == "of":
            meant |= {word: 0.95 for word in _COUNTED if word in vocabulary.holders and word not in meant}
        if max(meant.values(), default=0.0) >= _OWN:
            own.add(i)
        if any(word in heads and score >= _OWN for word, score in meant.items()):  # `users` are app users, no accounts
            meant = {w: score if score >= _OWN else min(score, 0.65) for w, score in meant.items()}
        spend(_STEPS_A_NAME * sum(len(vocabulary.holders[word]) for word in meant))
        for word, score in meant.items():
            if token.lower in FUNCTION_WORDS and score < 0.93:
                continue
            for item in _meant_by(word, tokens, i, vocabulary):
                items[id(item)] = item
                by_id.setdefault(id(item), {}).setdefault(i, []).append((word, score))
    spans: dict[tuple[int, int], Span] = {}
    for key, positions in by_id.items():
        _windows(tokens, items[key], positions, spans, own)
    for i, token in enumerate(tokens):
        for item in vocabulary.joined.get(token.lemma, ()) if token.kind == "word" else ():
            span = spans.setdefault((i, i + 1), Span())
            span.matched = 1
            if isinstance(item, TableWord):
                span.tables.setdefault(item.name, (item, 0.96))
            else:
                span.columns.setdefault(item.key, (item, 0.96))
    return spans


def _commands(tokens: Sequence[Token], vocabulary: Vocabulary) -> bool:
    """The question begins with a command ("List all …", "Show me …"), whose verb names nothing in the schema."""
    if starts_with_sorting(tokens):
        plural = next(t for t in tokens[1:] if t.lower not in _AFTER_ORDERS)
        return not any(
            {tokens[0].lower, plural.lemma} <= set(x.words) for x in vocabulary.holders.get(plural.lemma, ())
        )
    if len(tokens) < 2 or tokens[0].lower not in _ORDERS:
        return False
    named = any({tokens[0].lower, tokens[1].lemma} <= set(x.words) for x in vocabulary.holders.get(tokens[0].lower, ()))
    return tokens[1].lower in _AFTER_ORDERS or (tokens[0].lower != "name" and not named)


def _windows(
    tokens: Sequence[Token],
    item: TableWord | ColumnWord,
    positions: dict[int, list[tuple[str, float]]],
    spans: dict[tuple[int, int], Span],
    own_words: set[int],
) -> None:
    ordered = sorted(positions)
    owner = item.owner if isinstance(item, ColumnWord) else ()
    for first, start in enumerate(ordered):
        if tokens[start].kind == "number":
            continue
        used: dict[str, float] = {}
        last = start
        reach: list[int] = []
        for position in ordered[first:]:
            if position - last > 3 or any(
                tokens[g].lower not in _GAPS and not (owner and tokens[g].lemma in owner)
                for g in range(last + 1, position)
            ):
                break
            free = [(w, s) for w, s in positions[position] if w not in used]
            if not free:
                break
            word, score = max(free, key=lambda ws: ws[1])
            if reach and score < _SYNONYM and position in own_words:
                break
            if tokens[position].kind == "number" and position - last != 1:
                break
            used |= dict.fromkeys(word.split(), score)
            reach.append(position)
            last = position
            end = position + 1
            gap = (end - start) - len(reach)
            score = _score(item, used, gap)
            if score < 0.4 or (len(used) < len(set(item.words)) and all(tokens[p].lower in _SMALL for p in reach)):
                continue
            after = tokens[end].lower if end < len(tokens) else ""
            if after.isdecimal() and any(w.isdecimal() for w in item.words if w not in used):
                continue  # `week 9` is no `week_1`
            partly = len(used) < len(set(item.words))
            if partly and used.keys() <= _PLACES and after not in ("and", ",", "or", "&", "/"):
                continue
            if item.words[-1] == "total" and tokens[start].lower == "total" and len(reach) > 1:
                continue  # `total orders` is no order total
            if partly and used.keys() <= set(_COUNTED) and tokens[start].lower == "number":
                continue
            counts = [t.lower for t in tokens[start : start + 2]] in (["number", "of"], ["numbers", "of"])
            if counts and item.words[-1] == "number" and item.words[0] != "number":
                continue  # `the number of cards` is no card number
            span = spans.setdefault((start, end), Span())
            span.matched = max(span.matched, len(reach))
            span.complete = span.complete or (score >= 0.9 and len(used) == len(set(item.words)))
            span.offer(item, score)


_AGGREGATES = word_set("average total sum count mean median maximum minimum")


def _meant_by(word: str, tokens: Sequence[Token], at: int, vocabulary: Vocabulary) -> Sequence[TableWord | ColumnWord]:
    """What has the word in its name. `fees from Acme` is none by a column `From`; `by from`, `the from` are. `how much`
    is no column `How paid`."""
    held = vocabulary.holders[word]
    if word in _AGGREGATES and tokens[at].lower == word:
        held = tuple(x for x in held if not isinstance(x, TableWord) or x.words != (word,))  # the file `avg`
    if tokens[at].lower == "how":
        after = tokens[at + 1 : at + 2]
        return [item for item in held if any({t.lower, t.lemma} & set(item.words) for t in after)]
    if tokens[at].lower not in _BETWEEN or (at and tokens[at - 1].lower in ("by", "per", "each", "the", "and", ",")):
        return held
    return [item for item in held if item.words != (word,)]


def _score(item: TableWord | ColumnWord, used: dict[str, float], gap: int) -> float:
    words = item.words
    if len(words) > 1 and words[-1] in _UNITS and words[-1] not in used:  # the unit need not be said
        words = words[:-1]
    unique = set(words)
    if "per" in words[1:] and used.keys() <= set(words[words.index("per") :]):  # a price per person is no person
        return 0.0
    if used.keys() <= {words[-1]} and of_a_unit(words):  # nor is one per kg the kg
        return 0.0
    mean = sum(used.values()) / len(used)
    if len(used) == len(unique):
        return mean - 0.01 * gap
    missing = unique - set(used)
    if isinstance(item, ColumnWord):
        table_words = set(item.owner)
        if missing <= table_words:
            return 0.97 * mean - 0.01 * gap
        missing -= table_words
        unique = unique - table_words or unique
    head = next((words[:k] for k, word in enumerate(words) if k and word in QUALIFYING), ())
    if head and isinstance(item, ColumnWord) and set(head) - set(item.owner) <= used.keys():
        return 0.84 * mean
    own = next((w for w in words if not isinstance(item, ColumnWord) or w not in item.owner), words[0])
    if missing == {words[-1]} and words[-1] in _TAILS and own in used:
        return _TAILS[words[-1]] * mean
    if isinstance(item, TableWord) and missing == {words[-1]} and words[-1] in _HEADS:
        return 0.97 * mean - 0.01 * gap
    if words[-1] in used and words[-1] in UNITS and missing & _DIMENSIONS:  # `kg per species`
        return (0.97 if missing <= _DIMENSIONS else 0.9) * mean
    covered = 1 - len(missing) / len(unique)
    least = 0.36 if words[0] in used else 0.3
    if words[-1] in used:
        least = 0.55 if isinstance(item, TableWord) else 0.45
    return (least + 0.3 * covered) * mean


def _add_dates(tokens: Sequence[Token], spans: dict[tuple[int, int], Span]) -> None:
    """`the return date` for a column `returned_on`: the question names the content, which the column's name omits."""
    for (start, end), span in list(spans.items()):
        after = tokens[end].lower if end < len(tokens) else ""
        dated = {
            key: (column, score)
            for key, (column, score) in span.columns.items()
            if after in ("date", "dates", "timestamp") and column.role == "date" and score >= 0.6
            and not {"date", "timestamp"} & set(column.words)
        }  # fmt: skip
        if dated and not spans.get((start, end + 1), Span()).complete:
            spans[start, end + 1] = Span(columns=dated, matched=span.matched + 1, complete=True)


_KEYS = word_set("id number code key reference")


def _add_rows(tokens: Sequence[Token], spans: dict[tuple[int, int], Span], vocabulary: Vocabulary) -> None:
    """`bookings` for a table of stays: its rows have another name in their key (`booking_ref`)."""
    for (start, end), span in spans.items():
        word = tokens[start]
        if end > start + 1 or span.tables or word.kind != "word":
            continue
        tables = {
            column.table
            for column, _ in span.columns.values()
            if column.primary and column.words[:-1] == (word.lemma,) and column.words[-1] in _KEYS
        }
        if len(tables) == 1 and len(vocabulary.tables[min(tables)].table.primary_key) < 2:
            nearest = max(score for _, score in span.columns.values())
            span.tables[min(tables)] = (vocabulary.tables[min(tables)], max(0.9, nearest))


def _add_unit_prices(tokens: Sequence[Token], spans: dict[tuple[int, int], Span], vocabulary: Vocabulary) -> None:
    """`price per kg`: a column of what one costs, with the word before that says which (`sold price per kg`)."""
    for at in range(1, len(tokens) - 1):
        if tokens[at].lower not in ("per", "/") or tokens[at - 1].lemma not in _COSTS:
            continue
        unit = tokens[at + 1].lemma
        priced = [c for c in vocabulary.columns.values() if c.words[-1] == unit and of_a_unit(c.words)]
        before = vocabulary.affinities(tokens[at - 2].lower) if at > 1 else {}
        which = [c for c in priced if before.keys() & set(c.words)]
        start = at - 2 if which else at - 1
        for column in which or priced:
            span = spans.setdefault((start, at + 2), Span())
            span.offer(column, 0.97)
            span.matched = at + 2 - start


_COSTS = word_set("price cost rate fee")


def _add_measures(tokens: Sequence[Token], spans: dict[tuple[int, int], Span]) -> None:
    lemmas = [t.lemma if t.kind == "word" else "\0" for t in tokens]
    for start in range(len(tokens)):
        for length in (3, 2, 1):
            name = " ".join(lemmas[start : start + length])
            meant = not name.startswith(("we ", "you ", "come ", "came ")) or any(
                t.lower in ("much", "money", "amount") for t in tokens[max(0, start - 3) : start]
            )
            meant = meant and tokens[start].lower != "earning"  # `employees earning more than`
            meant = meant and not (name in MONEY and start and tokens[start - 1].lower == "of")  # an amount of money
            if start + length <= len(tokens) and name in measures() and meant:  # `how much did we sell`, not `how many`
                span = spans.setdefault((start, start + length), Span())
                span.measure = name
                span.matched = max(span.matched, length)
                break


_SAME_TEXT = 0.97
_INFLECTED = 0.9


def _add_values(
    tokens: Sequence[Token], spans: dict[tuple[int, int], Span], values: ValueIndex, dated: set[int]
) -> None:
    """`dated`: tokens of periods, which mean a stored value only if it is the same text (`March` is no `Marco`)."""
    words = [t.text if t.kind != "punct" else "" for t in tokens]
    for span_values in values.spans(words):
        covered = tokens[span_values.start : span_values.end]
        same_text = span_values.hits[0].score >= _SAME_TEXT
        if dated.issuperset(range(span_values.start, span_values.end)) and not same_text:
            continue
        if len(covered) == 1:
            token = covered[0]
            coded = token.text.isdecimal() and len(token.text) > 1 and token.text[0] == "0"  # 00120 is no amount
            if not coded and (
                token.kind == "number"
                or (token.number is not None and not token.capital)
                or (token.kind == "word" and len(token.text) < 2 and not token.capital)
            ):
                continue
            named = token.kind == "quoted" or token.capital or _describes_rows(tokens, span_values, spans)
            if token.lower in FUNCTION_WORDS | NO_VALUE and not named:
                continue
            if not named and (
                (span_values.start > 0 and tokens[span_values.start - 1].lower == "how")
                or token.lemma in CALENDAR_UNITS
            ):
                continue  # `how long`, `how many days`: nobody of these names
            # the words after "by" or "per" name the grouping, so they mean a table or column with that name, no value
            at = span_values.start
            grouping = at > 0 and tokens[at - 1].lower in ("by", "per", "each", "every")
            named_so = spans.get((at, at + 1), Span()) if grouping else Span()
            sure = any(score >= 0.9 for _, score in (*named_so.tables.values(), *named_so.columns.values()))
            if token.kind != "quoted" and not token.capital and sure:
                continue
        elif not any(t.capital or t.kind == "quoted" for t in covered) and (
            ((covered[0].lower in FUNCTION_WORDS or covered[-1].lower in FUNCTION_WORDS) and not _whole(span_values))
            or (
                all(t.lower in FUNCTION_WORDS or t.kind == "number" for t in covered)
                and not (
                    span_values.hits[0].score >= _SAME_TEXT and covered[-1].lower in _DOING and _whole(span_values)
                )
            )
        ):
            continue
        span = spans.setdefault((span_values.start, span_values.end), Span())
        span.values = span_values.hits
        span.matched = max(span.matched, sum(t.kind != "punct" for t in covered))


_CONDITIONS = ("new", "used")


def _describes_rows(tokens: Sequence[Token], found: ValueSpan, spans: dict[tuple[int, int], Span]) -> bool:
    """`used cars`, `how many were used`: a stored state of the rows that are named."""
    if tokens[found.start].lower not in _CONDITIONS or found.hits[0].score < _SAME_TEXT:
        return False
    holders = {hit.table for hit in found.hits if hit.score >= _SAME_TEXT}
    after = tokens[found.end].lower if found.end < len(tokens) else ""
    if after not in ("", "ones", "one", "?"):
        return bool(holders & spans.get((found.end, found.end + 1), Span()).tables.keys())
    return any(score >= 0.9 and name in holders for span in spans.values() for name, (_, score) in span.tables.items())


_DOING = word_set("use used do done make made")
"""Last words of a stored state that needs no match elsewhere: `in use`, `to do`, `not done`."""


def _whole(found: ValueSpan) -> bool:
    """`in transit`, `no shows`: two words that are a stored value, also in the plural, and no part of one."""
    return found.end - found.start == 2 and found.hits[0].score >= _INFLECTED
