"""Numbers as people write them: currency and units, percent, thousands, k and M, parentheses for negatives.

In: the cells of a column with how often each occurs. Out: how its numbers are written, or why it holds none, and the
SQL expression that reads them. Patterns are for Python's `re` and DuckDB's RE2 alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from agent.sources.tabular.notation import CURRENCY_OF, KNOWN, name_of
from agent.sources.tabular.plan import Mark
from agent.sources.tabular.sql import PAD, literal

_BLANK = "[ \u00a0\u2007\u2009\u202f]"
_APART = f"(?:['’][0-9]{{3}})+|(?:{_BLANK}[0-9]{{3}})+"
_EXPONENT = "(?:[eE][+-]?[0-9]{1,3})?"
_WITHOUT_FRACTION: dict[Mark, str] = {
    ".": rf"(?:[1-9][0-9]{{0,2}}(?:(?:,[0-9]{{3}})+|,[0-9]{{2}}(?:,[0-9]{{2}})*,[0-9]{{3}}|{_APART})|[0-9]+)",
    ",": rf"(?:[1-9][0-9]{{0,2}}(?:(?:\.[0-9]{{3}})+|{_APART})|[0-9]+)",
}
_DASH = "[-–—−]{1,2}"
"""In place of cents: `300.-`, `€ 12,--`."""
DIGITS: dict[Mark, str] = {
    mark: rf"(?:{whole}(?:[{mark}](?:{_DASH}|[0-9]*))?|[{mark}][0-9]+)" for mark, whole in _WITHOUT_FRACTION.items()
}
"""Numbers by their decimal mark, without sign."""
_SCALES = (("k|tsd", "1e3"), ("billion|bio|bn|b", "1e9"), ("million|mln|mio|mm|mn|m", "1e6"))
_SCALE = rf"(?:{'|'.join(names for names, _ in _SCALES)})\.?"
_NO_UNIT = frozenset(["am", "pm", "a.m.", "p.m.", "st", "nd", "rd", "th", "uhr"])
_CELL = re.compile(
    r"(?P<open>\()?\s{0,4}(?P<sign>[+\-−])?\s{0,4}"
    r"(?P<before>[^\s0-9().,+\-−'’][^\s0-9()+\-−'’]{0,4}?)?\s{0,4}(?P<sign2>[+\-−])?\s{0,4}"
    rf"(?P<digits>[0-9](?:(?:[0-9.,'’]|{_BLANK})*[0-9.,])?|[.,][0-9]+)(?:(?<=[.,]){_DASH})?(?P<exponent>[eE][+-]?[0-9]{{1,3}})?"
    r"(?P<owed>\s{0,2}[-−](?=\s{0,4}[^\s0-9()]))?(?P<gap>\s{0,4})(?P<after>[^\s0-9().,+\-−][^0-9()+\-−]{0,18}?)?\s{0,4}(?P<minus>[-−])?\s{0,4}(?P<close>\))?"
)
_PLAIN = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]*)?|[+-]?\.[0-9]+")
_IDENTIFIERS = re.compile(
    r"(?i)\b(zip|zip ?codes?|postal|post ?codes?|plz|iban|bic|ssn|isbn|issn|ean|upc|gtin|sku|bar ?codes?|imei|routing|"
    r"(account|card|tax|vat) (id|no|nr|num|number))\b"
)
_VERSIONS = re.compile(
    r"(?i)\b(versions?|release|revision|rev|build|firmware|commit|hash|sha|checksum|serial|model|part|lot|batch|section|"
    r"chapter|clause|paragraph|uuid|token)\b"
)
"""Headers of names that look like numbers: 1.10 comes behind 1.9, and 7512e43 is no power."""
_POWER = re.compile(r"[0-9]+[eE][0-9]{1,3}")
"""What may be a power of ten or a name; programs write `1e+05` and `1.5E5`."""
_POINT = re.compile(r"[0-9]{1,9}\.[0-9]{1,9}")
_PHONES = re.compile(r"(?i)\b(phones?|telephone|tel|mobile|cell|fax)\b")
LONGEST = 60
"""Characters of a cell that may be a number or a date."""
ENOUGH = 0.9
"""Part of a column's cells that must be numbers (dates), if the others hold no digit."""


@dataclass(frozen=True, slots=True)
class Written:
    decimal: Mark = "."
    unit: str | None = None
    spellings: tuple[str, ...] = ()
    """The ways in which the unit is written."""
    scaled: bool = False
    """Whether some end in k or M."""
    whole: bool = True
    plain: bool = True
    """Whether the engine's own cast reads them."""
    shows_mark: bool = False
    """Whether some can be read with this decimal mark alone."""
    either: bool = False
    """Whether the other decimal mark would fit, too, and read other numbers."""
    why_not: str | None = None
    """Why the column holds no numbers, where that should be told."""


@dataclass(slots=True)
class _Seen:
    fits: Counter[str] = field(default_factory=Counter)
    """Cells with separators by the mark that fits them: `.`, `,` or `.,` where both do."""
    units: dict[str, set[str]] = field(default_factory=dict)
    """Spellings by unit."""
    marks: set[str] = field(default_factory=set)
    """The separators that occur."""
    scaled: bool = False
    exponent: bool = False
    plain: bool = True
    apart: bool = False
    """Whether some have a separator or a blank: `R 100`, `R1,200`, not `R1`."""


def is_identifier(header: str, cells: Mapping[str, int]) -> bool:
    """Whether figures in a column of this name are no amounts."""
    words = re.sub(r"[\W_]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", header))
    if _VERSIONS.search(words) and not header.endswith(")"):
        how = written(cells, None, forced=False)  # of versions, 1.1 and 1.10 are two
        points = sum(_POINT.fullmatch(cell) is not None for cell in cells)
        may_be_names = is_power_or_name(cells) or spelled_twice(cells) is not None or points == len(cells)
        return how is None or (how.unit is None and may_be_names)
    if _IDENTIFIERS.search(words):
        how = written(cells, None, forced=False)
        return how is None or (how.unit is None and (how.whole or is_power_or_name(cells)))
    # seven figures and more are a telephone's number
    long = sum(count for cell, count in cells.items() if sum(c.isdecimal() for c in cell) >= 7)
    return _PHONES.search(words) is not None and long * 2 > sum(cells.values())


def is_power_or_name(cells: Iterable[str]) -> bool:
    """Whether powers of ten occur only as names are written: `1E5` beside whole numbers."""
    powers = [cell for cell in cells if _POWER.fullmatch(cell)]
    return bool(powers) and all(cell.isdecimal() or _POWER.fullmatch(cell) for cell in cells)


def spelled_twice(cells: Iterable[str]) -> tuple[str, str] | None:
    """Two cells that are one number and not one text: `1.1` and `1.10`."""
    seen: dict[float, str] = {}
    for cell in cells:
        if _POINT.fullmatch(cell) and seen.setdefault(float(cell), cell) != cell:
            return seen[float(cell)], cell
    return None


def looks_like_codes(cells: Iterable[str]) -> bool:
    """Leading zeros, a plus in front, or figures of one length that are too long for amounts."""
    plain = [c.strip() for c in cells if c.strip().lstrip("+").isdecimal()]
    if not plain:
        return False
    if any(len(c) > 1 and c.startswith("0") for c in plain) or any(len(c.lstrip("+0")) > 15 for c in plain):
        return True
    lengths = set(map(len, plain))
    international = [c for c in plain if c.startswith("+") and len(c) > 8]
    return len(international) * 2 > len(plain) or (len(plain) > 1 and len(lengths) == 1 and min(lengths) >= 12)


def is_number(cell: str) -> bool:
    """Whether the cell alone is a number, with or without a unit."""
    return _parsed(cell, _Seen(), 1)


def written(cells: Mapping[str, int], decimal: Mark | None, *, forced: bool) -> Written | None:
    """How the numbers of a column are written; None where it holds none. `decimal`: the mark that was decided, or that
    the file's other columns have. With `forced`, the cells that are no numbers are misfits, however many."""
    seen, total, parsed, misfits, with_figures = _Seen(), sum(cells.values()), 0, 0, 0
    for cell, count in cells.items():
        if _parsed(cell, seen, count):
            parsed += count
        else:
            misfits += count
            if not forced and total - misfits < ENOUGH * total:
                return None
            with_figures += count * any(c.isdecimal() for c in cell)
    if not parsed or (seen.units.keys() == {"R"} and not seen.apart and not forced):
        return None  # R1, R2, … are names of things, not rands
    points, commas = seen.fits["."], seen.fits[","]
    if not forced:
        few = 0.02 * parsed  # more cells with digits that are no numbers may be identifiers
        if with_figures > few:
            return None
        if len(seen.units) > 1:
            return Written(why_not=f"its numbers are in several units ({', '.join(sorted(seen.units)[:5])})")
        of_both = len(seen.marks) == 2 and seen.fits[".,"] and not points and not commas
        if of_both or min(points, commas) > few:
            return Written(why_not="its numbers have both decimal points and decimal commas")
    mark: Mark = "." if points > commas else "," if commas else decimal or "."
    mark = decimal if forced and decimal else mark
    return Written(
        decimal=mark,
        unit=next(iter(seen.units)) if len(seen.units) == 1 else None,
        spellings=tuple(sorted(s for spellings in seen.units.values() for s in spellings)),
        scaled=seen.scaled,
        whole=not (seen.scaled or seen.exponent or mark in seen.marks),
        plain=seen.plain and mark == ".",
        shows_mark=bool(points or commas),
        either=bool(seen.fits[".,"]) and not points and not commas,
    )


def _parsed(cell: str, seen: _Seen, count: int) -> bool:
    """Whether the cell is a number; what it shows is noted."""
    match = _CELL.fullmatch(cell.strip()) if len(cell) <= LONGEST else None
    if match is None or (match["open"] is None) != (match["close"] is None):
        return False
    if sum(match[sign] is not None for sign in ("open", "sign", "sign2", "owed", "minus")) > 1:
        return False
    digits = match["digits"].strip()
    fits = "".join(mark for mark, pattern in DIGITS.items() if re.fullmatch(pattern, digits))
    unit = _unit(match) if fits else None
    if unit is None:
        return False
    scaled, spelled, name = unit
    if name:
        seen.units.setdefault(name, set()).add(spelled)
    seen.scaled |= scaled
    seen.exponent |= match["exponent"] is not None
    seen.plain = seen.plain and _PLAIN.fullmatch(cell) is not None
    seen.apart = seen.apart or not cell.strip().isalnum()
    if marks := set(digits) & {".", ","}:
        seen.marks |= marks
        seen.fits[fits] += count
    return True


def _unit(match: re.Match[str]) -> tuple[bool, str, str] | None:
    """(whether k or M follows, the unit as written, its name); empty without a unit, None for what is no unit."""
    before, after, gap = match["before"] or "", (match["after"] or "").strip(), match["gap"]
    if before and before.lower() not in CURRENCY_OF:
        return None
    scale = False
    scaled = re.fullmatch(rf"(?i)({_SCALE})(?:\s+(.*))?", after)
    tight = re.fullmatch(rf"(?i)({_SCALE})(\S+)", after)
    if scaled and (before or after not in ("m", "mm", "b", "B")):
        scale, after = True, scaled[2] or ""
    elif tight and tight[2].lower() in CURRENCY_OF and after.lower() not in KNOWN | CURRENCY_OF.keys():
        scale, after = True, tight[2]
    if before and after and CURRENCY_OF.get(after.lower()) != CURRENCY_OF[before.lower()]:
        return None
    spelled = before or after
    folded = spelled.lower()
    if not spelled or folded in CURRENCY_OF:
        return scale, spelled, CURRENCY_OF.get(folded, "")
    may_be = gap and folded not in _NO_UNIT and re.fullmatch(r"[^\W\d_]{2,12}\.?", spelled)
    return (scale, spelled, name_of(folded)) if folded in KNOWN or may_be else None


def pattern(how: Written) -> str:
    """What a cell must match to be read."""
    digits = (_WITHOUT_FRACTION if how.whole else DIGITS)[how.decimal]
    unit = _either(how.spellings)
    before = f"(?:{unit})?" if unit else ""
    scale = f"(?:(?i:{_SCALE}))?" if how.scaled else ""
    after = f"{PAD}(?:{unit})?" if unit else ""
    core = f"{before}{PAD}[+−-]?{PAD}{digits}{_EXPONENT}{PAD}(?:[−-]{PAD})?{scale}{after}{PAD}"
    return rf"{PAD}(?:\({PAD}{core}\)|[+−-]?{PAD}{core}|{core}[−-]{PAD})"


def sql(column: str, how: Written) -> str:
    """The expression that reads the column; NULL where a cell does not fit."""
    kind = "BIGINT" if how.whole else "DOUBLE"
    read = f"WHEN regexp_full_match({column}, {literal(pattern(how))}) THEN {_value(column, how, kind)}"
    if how.plain:  # what the engine reads by itself is by far the fastest
        cast = f"TRY_CAST({column} AS {kind})"
        finite = f"isfinite({cast}) AND NOT contains({column}, '_')"
        alike = f"{column} = {cast}::VARCHAR" if how.whole else finite
        read = f"WHEN {alike} THEN {cast} {read}"
    return f"CASE {read} END"


def _value(column: str, how: Written, kind: str) -> str:
    unit = _either(how.spellings)
    body = f"regexp_replace({column}, {literal(unit)}, ' ', 'g')" if unit else column
    figures = literal(f"[0-9.,](?:[0-9.,'’]|{_BLANK})*{_EXPONENT}")
    others = literal(_BLANK[:-1] + "'’" + ("," if how.decimal == "." else ".") + "]")
    bare = f"regexp_replace(regexp_extract({body}, {figures}), {others}, '', 'g')"
    value = f"TRY_CAST(replace({bare}, ',', '.') AS {kind})"
    if how.scaled:
        powers = " ".join(
            f"WHEN regexp_matches({body}, {literal(f'(?i)[0-9.,]{PAD}(?:{names})[.]?{PAD}[)]?{PAD}$')}) THEN {power}"
            for names, power in _SCALES
        )
        value = f"round({value} * CASE {powers} ELSE 1 END, 4)"
    sign = literal(f"^{PAD}[(−-]|[^.,–—−-][−-]{PAD}$")
    read = f"{value} * CASE WHEN regexp_matches({body}, {sign}) THEN -1 ELSE 1 END"
    letters = {" ", *"".join(how.spellings)}
    if how.scaled or any(map(str.isdecimal, letters)):
        return read
    apart = "," if how.decimal == "." else "."
    bare = f"replace(trim({column}, {literal(''.join(sorted(letters)))}), {literal(apart)}, '')"  # most are no more
    return f"coalesce(TRY_CAST(replace({bare}, {literal(how.decimal)}, '.') AS {kind}), {read})"


def _either(spellings: Iterable[str]) -> str:
    """A pattern of these texts, the longest first; empty for none."""
    return "|".join(re.escape(s) for s in sorted(set(spellings), key=lambda s: (-len(s), s)))
