"""Names and types of columns, as the inference of keys compares them: words for keys, families of types."""

from __future__ import annotations

import re
from functools import lru_cache

from eval.language.words import singular_words

KEY_WORDS = frozenset(
    {"id", "ids", "key", "code", "no", "nr", "num", "number", "pk", "fk", "sk", "uuid", "guid", "ref"}
)
NO_KEY_NAMES = frozenset(
    {"name", "type", "date", "year", "status", "title", "description", "value", "rank", "position", "level"}
)
"""Columns of every table that are the key of none, or of a list of values at most."""
GENERIC = KEY_WORDS | NO_KEY_NAMES
_TABLE_PREFIXES = frozenset({"tbl", "tb", "t", "dim", "fact", "fct", "ref", "lkp", "lookup", "stg", "mst"})
_GLUED = re.compile(r"[a-z]{1,12}(?:id|key|code|no|num)")
_WRAPPED = re.compile(r"^(?:NULLABLE|LOWCARDINALITY)\((.*)\)$")


def table_words(name: str) -> tuple[str, ...]:
    """The words of a table's name without `tbl_`, `dim_` and the like."""
    words = singular_words(name)
    while len(words) > 1 and words[0] in _TABLE_PREFIXES:
        words = words[1:]
    return words


def ends_like_key(word: str) -> bool:
    """`dormid`, `empno`: a key's name without a mark between its words."""
    return _GLUED.fullmatch(word) is not None


@lru_cache(10_000)
def type_family(declared: str) -> str:
    """A coarse type family: a key and its references are often declared with different lengths or signs."""
    text = declared.upper()
    while match := _WRAPPED.match(text):
        text = match[1]
    if not text:
        return ""
    if text.startswith(("ARRAY", "MAP", "STRUCT", "TUPLE", "NESTED", "JSON", "VARIANT")):
        return "nested"
    if re.search(r"INT|SERIAL", text) and "INTERVAL" not in text:
        return "integer"
    if re.search(r"CHAR|TEXT|CLOB|STRING|ENUM", text):
        return "text"
    if re.search(r"NUM|DEC|REAL|DOUB|FLOA", text):
        return "integer" if re.search(r"NUM|DEC", text) and not re.search(r",\s*[1-9]", text) else "number"
    if re.search(r"DATE|TIME|YEAR", text):
        return "time"
    return text.split("(")[0]
