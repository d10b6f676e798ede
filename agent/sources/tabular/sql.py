"""Texts and names of untrusted files in SQL for DuckDB, and the names that tables and columns get: those that need no
quotes in most engines, from those that files and headers have.
"""

from __future__ import annotations

import re
from itertools import takewhile

from eval.databases.table_drafts import quoted
from eval.language.lexicon import word_set

BLANKS = " \t\r\n\v\f\u00a0\u2007\u2009\u202f\u200b\ufeff"
"""What may surround a cell without being part of it."""
PAD = f"[{BLANKS}]*"


def literal(text: str) -> str:
    """A text as a string of SQL."""
    return "'" + text.replace("\0", "").replace("'", "''") + "'"


def name(*parts: str) -> str:
    """A name, qualified by the parts before it."""
    return quoted(parts, "duckdb")


_EACH = "kg|g|l|m|km|m2|m3|t|h|hour|day|night|week|month|year|unit|piece|pc|person"
_NUMBERED = re.compile(r"^[0-9]{1,2}[ _.-]+(?=[^\W\d_])")
"""The place of a file among others, in front of its name: `01_fees`."""
_PER = re.compile(rf"(?i)(?<=[^\W\d_])\s?/\s?(?=(?:{_EACH})\b)")
"""What a price is for: `Price/kg`, `€/night`."""
_YEAR_FIRST = re.compile(r"((?:19|20)\d\d)_(\D\w{0,60})")


def table_name(file: str) -> str:
    return plain_name(_NUMBERED.sub("", file), "data")


_ASKS = word_set(
    "how which what who whom whose when where why do does did are is was were am have has had would could can may will "
    "shall should please on"
)
"""Words with which a question begins, as survey tools put it in a header."""
_SAYS_NOTHING = _ASKS | word_set(
    "a an the of in at to for from by with and or as be been you your yours yourself we us our i me my it its they "
    "them their this that these those there if any most many much often scale rate"
)


def column_name(header: str, fallback: str) -> str:
    """The name of the column of this header; of a question, the words that say what is asked."""
    header = _PER.sub("_per_", header)
    words = re.findall(r"[^\W_]+", header.partition("?")[0])
    if len(words) >= 4 and words[0].casefold() in _ASKS:
        said = [word for word in words if word.casefold() not in _SAYS_NOTHING and not word.isdecimal()]
        if words[0].casefold() in ("which", "what"):  # it names the thing first
            at = words.index(said[0]) if said else 0
            said = list(takewhile(lambda word: word in said, words[at:]))
        header = "_".join(said[:5]).capitalize() or header
    return plain_name(header, fallback)


def plain_name(text: str, fallback: str) -> str:
    """A name that needs no quotes in most engines: letters, digits and underscores, at most 60; a year in front
    goes behind."""
    plain = re.sub(r"\W+", "_", text).strip("_")[:60].strip("_")
    if year := _YEAR_FIRST.fullmatch(plain):
        plain = f"{year[2]}_{year[1]}"  # `2022 Sales` is `Sales_2022`
    if not plain:
        return fallback
    return f"{fallback}_{plain}" if plain[0].isdecimal() or plain.lower().startswith("sqlite_") else plain


def unique_name(text: str, used: set[str]) -> str:
    """The name, numbered if it is taken already; names are compared without case, as engines do."""
    unique, number = text, 1
    while unique.casefold() in used:
        number += 1
        unique = f"{text}_{number}"
    used.add(unique.casefold())
    return unique
