"""Names for tables and columns that need no quotes in most engines, from those that files and headers have."""

from __future__ import annotations

import re

_NUMBERED = re.compile(r"^[0-9]{1,2}[ _.-]+(?=[^\W\d_])")
"""The place of a file among others, in front of its name: `01_fees`."""
_YEAR_FIRST = re.compile(r"((?:19|20)\d\d)_(\D\w{0,60})")


def table_name(file: str) -> str:
    """The name of the table of a file of this name."""
    return plain_name(_NUMBERED.sub("", file), "data")


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
