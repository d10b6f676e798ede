"""How the dates of a column are stored, where neither its type nor ISO text says so.

In: values of one column, as text. Out: a form such as `%d.%m.%Y`, `unix` or `iso`; empty if they are no dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

UNIX, UNIX_MS, ISO = "unix", "unix_ms", "iso"
SAMPLE = 200
"""How many values are looked at."""
_DAY, _MONTH, _YEAR = r"(?:0[1-9]|[12]\d|3[01])", r"(?:0[1-9]|1[0-2])", r"(?:1[89]|20|21)\d\d"
_TIME = r"(?P<time> \d\d:\d\d(?::\d\d)?)?"
_FORMS = {
    form: re.compile(pattern)
    for form, pattern in (
        (ISO, rf"{_YEAR}-{_MONTH}-{_DAY}(?:[ T]\d\d:\d\d.*)?"),
        *(
            (f"%d{sign}%m{sign}%Y", rf"{_DAY}{re.escape(sign)}{_MONTH}{re.escape(sign)}{_YEAR}{_TIME}")
            for sign in "./-"
        ),
        *(
            (f"%m{sign}%d{sign}%Y", rf"{_MONTH}{re.escape(sign)}{_DAY}{re.escape(sign)}{_YEAR}{_TIME}")
            for sign in "./-"
        ),
        *((f"%Y{sign}%m{sign}%d", rf"{_YEAR}{re.escape(sign)}{_MONTH}{re.escape(sign)}{_DAY}{_TIME}") for sign in "./"),
        ("%Y%m%d", rf"{_YEAR}{_MONTH}{_DAY}"),
        (UNIX, r"[1-9]\d{8,9}"),
        (UNIX_MS, r"[1-9]\d{11,12}"),
    )
}
_OF_NUMBERS = ("%Y%m%d", UNIX, UNIX_MS)


def date_form(values: Iterable[str], dated: bool) -> str:
    """The form that all values have. Numbers are dates only in a column that is `dated` by its name."""
    sample = [v for v in islice(values, SAMPLE) if v.strip()]
    if not sample:
        return ""
    forms = [
        form
        for form, pattern in _FORMS.items()
        if (dated or form not in _OF_NUMBERS) and all(pattern.fullmatch(v) for v in sample)
    ]
    if not forms:
        return ""
    best = forms[0]
    if best == "%d/%m/%Y" and "%m/%d/%Y" in forms:
        return ""  # no day after the 12th tells the two apart
    timed = any((m := _FORMS[best].fullmatch(v)) and m.groupdict().get("time") for v in sample)
    return f"{best} %H:%M" if timed else best
