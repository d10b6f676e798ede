"""Currencies and units by every way of writing them, and which units can be turned into each other.

In: a unit as written. Out: its one name, or the family and the factor by which it is converted.
"""

from __future__ import annotations

CURRENCIES = {
    "£": "gbp", "€": "eur eur. euro euros", "$": "usd us$ $us dollar dollars", "¥": "jpy yen",
    "₹": "inr rs rs.", "CN¥": "cny rmb", "SEK": "sek", "NOK": "nok", "DKK": "dkk",
    "₽": "rub", "₩": "krw", "₺": "try tl", "₴": "uah", "₪": "ils", "฿": "thb", "₫": "vnd", "kr": "kr.",
    "CHF": "fr. sfr sfr.", "zł": "pln", "Kč": "czk", "Ft": "huf", "R$": "brl", "C$": "cad ca$", "A$": "aud au$",
    "NZ$": "nzd", "S$": "sgd", "HK$": "hkd", "Mex$": "mxn", "R": "zar",
}  # fmt: skip
CURRENCY_OF = {spelled: name for name, all_ in CURRENCIES.items() for spelled in (name.lower(), *all_.split())}
"""The name of a currency by its spelling in lower case."""
_FAMILIES: dict[str, dict[str, tuple[str, float]]] = {
    "time": {
        "ms": ("msec", 0.001), "s": ("sec secs second seconds", 1), "min": ("m mins minute minutes", 60),
        "h": ("hr hrs hour hours", 3600), "day": ("d days", 86_400), "week": ("wk wks weeks", 604_800),
    },
    "mass": {"µg": ("mcg", 1e-6), "mg": ("", 0.001), "g": ("gr gram grams", 1), "kg": ("kgs kilo kilos", 1000),
             "t": ("tonne tonnes", 1e6)},
    "weight": {"oz": ("ounce ounces", 1), "lb": ("lbs pound pounds", 16)},
    "length": {"µm": ("", 1e-6), "mm": ("", 0.001), "cm": ("", 0.01), "m": ("metre metres meter meters", 1),
               "km": ("kms", 1000)},
    "distance": {"in": ("inch inches", 1), "ft": ("foot feet", 12), "yd": ("yard yards", 36),
                 "mi": ("mile miles", 63_360)},
    "volume": {"ml": ("", 0.001), "cl": ("", 0.01), "dl": ("", 0.1), "l": ("litre litres liter liters", 1)},
    "data": {"kb": ("", 1e-3), "mb": ("", 1), "gb": ("", 1e3), "tb": ("", 1e6)},
    "energy": {"wh": ("", 0.001), "kwh": ("", 1), "mwh": ("", 1000)},
    "power": {"w": ("", 0.001), "kw": ("", 1)},
    "frequency": {"hz": ("", 1), "khz": ("", 1e3), "mhz": ("", 1e6), "ghz": ("", 1e9)},
    "span": {"month": ("months mth mths mo", 1), "year": ("years yr yrs y.o. yo", 12)},
}  # fmt: skip
FACTORS = {
    family: {
        spelled: (name, factor)
        for name, (all_, factor) in units.items()
        for spelled in (name, *all_.split())
    }
    for family, units in _FAMILIES.items()
}  # fmt: skip
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
