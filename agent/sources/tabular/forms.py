"""Files and sheets of one form, which are one table: a month a sheet, a branch a file.

In: the files' names and headers, and the plans that were followed before. Out: which are read together, under which
name, and the column that says of each row where it is from. Names that are words of their own (`Orders`, `Returns`) are
of different things, whatever their columns are: those stay apart until a person puts them together.
"""

from __future__ import annotations

import re
from calendar import month_name
from collections.abc import Sequence
from dataclasses import dataclass

from agent.sources.tabular.dates import MONTHS
from agent.sources.tabular.names import table_name
from agent.sources.tabular.plan import Reading
from eval.language.inflection import lemma
from eval.language.lexicon import open_lexicon, word_set

_PART = re.compile(r"[^\W\d_]+|\d+")
_WHOLE = re.compile(r"[^\W_]+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_COUNTED = word_set("sheet page part table file q quarter h half w wk week kw cw day month year fy term period no nr")
_DAYS = word_set("monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun")
_PERIODS = MONTHS.keys() | _DAYS | _COUNTED
_BY = re.compile(r"(?i)(?<![^\W_])(?:by|per)[\W_]{1,3}([^\W\d_]{3,30})[\W_\d]*\Z")
"""What the parts are of, in the name that they share: `Sales by branch`."""


@dataclass(frozen=True, slots=True)
class Together:
    """What is read as one table; a file of its own where it is one alone."""

    places: tuple[int, ...]
    """Of the files, in their order."""
    table: str
    header: str = ""
    """Of the column that says where a row is from."""
    labels: tuple[str, ...] = ()
    """What it says, file by file."""
    alike: bool = False
    """Whether other files have the same columns and yet are tables of their own."""


@dataclass(frozen=True, slots=True)
class Named:
    """A file or sheet as it is told apart from others."""

    name: str
    file: str
    """Of the workbook; the file's own name where it is none."""
    headers: tuple[str, ...] | None
    """None for what has types of its own."""


def found(files: Sequence[Named], before: Reading) -> list[Together]:
    groups: dict[tuple[str, ...], list[int]] = {}
    for place, file in enumerate(files):
        alone = not file.headers or not all(file.headers) or len(file.headers) < 2
        form = (str(place),) if alone else ("", *sorted(h.casefold() for h in file.headers or ()))
        groups.setdefault(form, []).append(place)
    result: list[Together] = []
    for places in groups.values():
        of = [files[place] for place in places]
        result += _tables(places, of, before) if len(places) > 1 else [_alone(places[0], of[0])]
    return sorted(result, key=lambda one: one.places)


def _alone(place: int, file: Named, *, alike: bool = False) -> Together:
    return Together((place,), table_name(file.name), alike=alike)


def _tables(places: Sequence[int], files: Sequence[Named], before: Reading) -> list[Together]:
    names = [file.name for file in files]
    labels = _labels(names)
    books = {file.file for file in files}
    common = next(iter(books)) if len(books) == 1 else " ".join(w for w in _words(names[0]) if w in _shared(names))
    of = _BY.search(common)
    what = _kind(labels) or (of[1].title() if of else "Sheet" if len(books) == 1 else "File")
    header = what if what.casefold() not in {h.casefold() for h in files[0].headers or ()} else "Part"
    one = Together(tuple(places), table_name(common or "records"), header, labels)
    said = {plan.forms for name in (one.table, *(table_name(f.name) for f in files)) if (plan := before.plan_of(name))}
    # so many sheets of a workbook with so many columns in common: one form was filled in on each
    is_one_form = len(files) >= 3 and len(files[0].headers or ()) >= 4 and len(books) == 1
    if "together" in said or ("apart" not in said and (is_one_form or _are_parts(names))):
        return [one]
    return [_alone(place, file, alike=True) for place, file in zip(places, files, strict=True)]


def _labels(names: Sequence[str]) -> tuple[str, ...]:
    """What tells the names apart: all of them without the words that they share."""
    shared = {word for word in _shared(names) if not _YEAR.fullmatch(word)}
    kept = [[p for p in _WHOLE.findall(name) if p.casefold() not in shared] for name in names]
    if all(len(of) == 2 and _YEAR.fullmatch(of[0]) and re.fullmatch("0[1-9]|1[0-2]", of[1]) for of in kept):
        return tuple(f"{year}-{month}" for year, month in kept)
    if any(not of for of in kept) or all(p.isdecimal() and not _YEAR.fullmatch(p) for of in kept for p in of):
        return tuple(names)
    if all(len(of) == 1 and of[0].casefold() in MONTHS for of in kept):
        return tuple(month_name[MONTHS[of[0].casefold()]] for of in kept)
    short = tuple(" ".join(of) for of in kept)
    return short if len(set(short)) == len(short) else tuple(names)


def _words(name: str) -> list[str]:
    return [part.casefold() for part in _PART.findall(name)]


def _shared(names: Sequence[str]) -> set[str]:
    return set.intersection(*(set(_words(name)) for name in names))


def _kind(labels: Sequence[str]) -> str:
    """What the labels are: months, years, quarters, days; empty for others."""
    parts = [_words(label) for label in labels]
    if all(len(of) == 1 and _YEAR.fullmatch(of[0]) for of in parts):
        return "Year"
    if all(any(p in MONTHS for p in of) for of in parts) or all(re.fullmatch(r"\d{4}-\d\d", x) for x in labels):
        return "Month"
    if all(of[:1] == ["q"] for of in parts):
        return "Quarter"
    return "Day" if all(of[0] in _DAYS for of in parts) else ""


def _are_parts(names: Sequence[str]) -> bool:
    """Whether the names tell parts of one table apart: periods, numbers, codes such as `7A`, or names that are no
    words."""
    shared = _shared(names)
    kept = [[word for word in _words(name) if word not in shared] for name in names]
    said = {p for of in kept for p in of if not (p.isdecimal() or len(p) <= 2 or p in _PERIODS)}
    return all(kept) and not any(open_lexicon(lemma(p)) or open_lexicon(p) for p in said)
