"""External knowledge given with a question: `Evidence: big spenders refers to segment = 'A'; cost is stored in
unit_price`.

In: the question with its evidence, a schema's vocabulary. Out: the question alone, and the meaning of each phrase: a
stored value or a column. A statement of any other form is ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.knowledge.values import ValueHit
from agent.knowledge.vocabulary import ColumnWord, Vocabulary
from eval.language.tokens import tokenize

_MARK = re.compile(r"\n[^\S\n]*+\n\s*+evidence:", re.IGNORECASE)
_STATEMENT = re.compile(
    r"^\W*+(?:the )?(?P<phrase>[^=;]{1,80}?) "
    r"(?:refers? to|means|is stored (?:in|as)|stands for|is given by|=) "
    r"""(?P<column>[\w.`"\[\] ]{1,80}?) ?(?:(?:=|is) ?(?P<value>'[^']*'|"[^"]*"|[\w.+-]++) ?)?\W*+$""",
    re.IGNORECASE,
)
_VALUE = re.compile(r"""^\W*+(?P<column>[\w.`\[\] ]{1,60}?) ?= ?(?P<value>'[^']*'|"[^"]*"|[\w.+-]++)\W*+$""")
"""Both read a statement with single spaces."""
_MAX_STATEMENTS = 20


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a phrase of the question: one of the values, or one of the columns."""

    phrase: tuple[str, ...]
    """Lemmas."""
    columns: tuple[ColumnWord, ...] = ()
    values: tuple[ValueHit, ...] = ()


def split_evidence(text: str) -> tuple[str, str]:
    """The question and its evidence; the evidence is empty when none is given."""
    mark = _MARK.search(text)
    return (text, "") if mark is None else (text[: mark.start()].strip(), text[mark.end() :].strip())


def meanings(evidence: str, vocabulary: Vocabulary) -> tuple[Meaning, ...]:
    """The statements of the evidence that name a column of this schema."""
    known: list[Meaning] = []
    for statement in re.split(r"[;\n]|,(?=[^']*\brefers?\s+to\b)|\.(?=\s|$)", evidence)[:_MAX_STATEMENTS]:
        plain = " ".join(statement.split())
        pair, match = _VALUE.match(plain), _STATEMENT.match(plain)
        if match is not None and (columns := _columns(match["column"], vocabulary)):
            phrase = tuple(t.lemma for t in tokenize(match["phrase"]))
            if (match["value"] or "").casefold() in ("null", "true", "false"):
                continue  # a test of the column, and no value of it
            if match["value"] is not None:
                known.append(Meaning(phrase, values=_hits(columns, match["value"])))
            else:
                known.append(Meaning(phrase, columns))
        elif pair is not None and (columns := _columns(pair["column"], vocabulary)):
            value = pair["value"].strip("'\"")
            phrase = tuple(t.lemma for t in tokenize(value))
            known.append(Meaning(phrase, values=_hits(columns, value)))
    merged: dict[tuple[str, ...], Meaning] = {}  # one for each phrase: what is said twice may mean either
    for meaning in (m for m in known if m.phrase):
        before = merged.get(meaning.phrase, Meaning(meaning.phrase))
        either = tuple(dict.fromkeys((*before.columns, *meaning.columns)))
        values = tuple(dict.fromkeys((*before.values, *meaning.values)))
        merged[meaning.phrase] = Meaning(meaning.phrase, either, values)
    return tuple(merged.values())


def _columns(name: str, vocabulary: Vocabulary) -> tuple[ColumnWord, ...]:
    """The columns with exactly this name, with or without their table."""
    table, _, column = re.sub(r'[`"\[\]]', "", name).strip().rpartition(".")
    return tuple(
        c
        for c in vocabulary.columns.values()
        if c.name.casefold() == column.strip().casefold() and (not table or c.table.casefold() == table.casefold())
    )[:8]


def _hits(columns: tuple[ColumnWord, ...], value: str) -> tuple[ValueHit, ...]:
    return tuple(ValueHit(c.table, c.name, value.strip("'\""), 1.0) for c in columns)
