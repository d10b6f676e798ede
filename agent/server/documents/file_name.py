"""The name of a file to save, made from a question or a title.

In: any text. Out: the header that names the file: in plain ASCII for old programs, and as it is for all others.
"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

LONGEST = 60
"""Characters of a name without its ending."""


def disposition(title: str, ending: str) -> dict[str, str]:
    """`Content-Disposition` for a file named after the title."""
    name = "-".join(re.findall(r"\w+", title.lower()))[:LONGEST].strip("-_") or "text2sql"
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode() or "text2sql"
    value = f"attachment; filename=\"{plain}.{ending}\"; filename*=UTF-8''{quote(f'{name}.{ending}')}"
    return {"Content-Disposition": value, "Cache-Control": "no-store"}
