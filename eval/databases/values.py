"""Convert the cells of a result to strict JSON values, which any JSON parser in any language reads back unchanged.

In: the plain Python values of an `ExecutionResult`. Out: None, bool, int, float, str, list and dict only, with no NaN,
no Infinity and no lone surrogate. docs/databases.md lists the forms:

- integers stay integers of any size (JavaScript rounds those beyond 2**53 when it parses them);
- NaN and infinities are the strings "NaN", "Infinity", "-Infinity";
- a Decimal is a number when a float holds it exactly as written (12.50), otherwise a string;
- dates and times are ISO 8601 strings; an interval is "1 day 02:03:04.5";
- bytes are {"$blob": base64, "size": bytes};
- text that was not valid UTF-8 shows each bad byte as `\\xff`.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Sequence
from datetime import date, time, timedelta
from decimal import Decimal

from eval.databases.types import Value

JSON = bool | int | float | str | list["JSON"] | dict[str, "JSON"] | None


def json_rows(rows: Iterable[Sequence[Value]]) -> list[list[JSON]]:
    """Rows as lists of JSON values, in order."""
    return [[json_value(cell) for cell in row] for row in rows]


def json_value(value: Value) -> JSON:
    """One cell as a JSON value; an object of an unknown type becomes its text. Never raises."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return _encodable(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, Decimal):
        if not value.is_finite():
            return "NaN" if value.is_nan() else ("Infinity" if value > 0 else "-Infinity")
        if value == value.to_integral_value() and abs(value.adjusted()) < 400:
            return int(value)
        number = float(value)
        return number if math.isfinite(number) and Decimal(repr(number)) == value else format(value, "f")
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"$blob": base64.b64encode(value).decode("ascii"), "size": len(bytes(value))}
    if isinstance(value, (date, time)):  # datetime is a subclass of date
        return value.isoformat()
    if isinstance(value, timedelta):
        return interval_text(value)
    if isinstance(value, dict):
        return {_encodable(str(k)): json_value(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [json_value(v) for v in value]
    return _encodable(str(value))


def interval_text(value: timedelta) -> str:
    """`-1 day 02:00:00` reads as minus (1 day and 2 hours), unlike Python's own form."""
    sign, size = ("-", -value) if value < timedelta(0) else ("", value)
    minutes, seconds = divmod(size.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    clock = f"{hours:02}:{minutes:02}:{seconds:02}"
    if size.microseconds:
        clock += f".{size.microseconds:06}".rstrip("0")
    days = f"{size.days} day{'' if size.days == 1 else 's'} " if size.days else ""
    return f"{sign}{days}{clock}"


def _encodable(text: str) -> str:
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "".join(_escaped(c) if "\ud800" <= c <= "\udfff" else c for c in text)
    return text


def _escaped(surrogate: str) -> str:
    """`surrogateescape` maps a bad byte b to U+DC00+b; any other surrogate was already in the text."""
    code = ord(surrogate)
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"
