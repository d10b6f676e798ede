"""What people write in cells, from `notation.txt`: months, yes and no, marks for no value, names of totals, currencies
and units by every way of writing them, and which units can be turned into each other."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def notation(section: str) -> tuple[tuple[str, ...], ...]:
    """The words of a section, line by line. Raises KeyError where there is no such section."""
    found: dict[str, list[tuple[str, ...]]] = {}
    lines: list[tuple[str, ...]] = []
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]") and line[1:-1].replace(" ", "").isalpha():
            lines = found.setdefault(line[1:-1], [])
        elif line and not line.startswith("# "):
            lines.append(tuple(line.split()))
    return tuple(found[section])


CURRENCIES = {line[0]: line[1:] for line in notation("currencies")}
CURRENCY_OF = {spelled: name for name, all_ in CURRENCIES.items() for spelled in (name.lower(), *all_)}
"""The name of a currency by its spelling in lower case."""
FACTORS: dict[str, dict[str, tuple[str, float]]] = {
    family.rstrip(":"): {
        spelled: (name, float(factor.partition(",")[0]))
        for name, _, factor in (unit.partition("=") for unit in units)
        for spelled in (name, *factor.split(",")[1:])
    }
    for family, *units in notation("units")
}
"""(name, factor) by spelling in lower case, for each family of units that can be turned into each other."""
_OTHERS = (
    "% ‰ °c °f ° px pcs pc pt pts km/h mph m² m³ m2 m3 km² sqm sqft ha bpm kcal cal pieces items units point points"
)
_NAME_OF = {
    spelled: name for family, units in FACTORS.items() for spelled, (name, _) in units.items() if spelled != "m"
} | {"m": "m"}
_NAME_OF |= {
    f"{kind}{dot} {of}": f"{kind} {of}"
    for kind in ("sq", "cu")
    for dot in ("", ".")
    for of in ("m", "ft", "km", "yd", "in")
}
KNOWN = frozenset(_OTHERS.split()) | _NAME_OF.keys()


def name_of(spelled: str) -> str:
    """The one name of a unit, written in lower case in any way; words that are not known lose their plural's `s`."""
    if spelled in _NAME_OF:
        return _NAME_OF[spelled]
    return spelled.rstrip("s") if len(spelled) > 2 else spelled
