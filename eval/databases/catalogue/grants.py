"""What an account may do beyond reading, from the lines of SHOW GRANTS."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable


def granted_writes(grants: Iterable[str], pattern: re.Pattern[str], writes: Collection[str]) -> tuple[str, ...]:
    """The privileges among `writes`, one text for each place.

    `pattern` finds the privileges and their place in a line, the rest of which may contain a password hash.
    """
    privileges = []
    for line in grants:
        if match := pattern.match(line):
            granted = {word.strip().upper() for word in re.sub(r"\([^)]*\)", "", match[1]).split(",")}
            if present := [name for name in writes if name in granted]:
                privileges.append(f"has {', '.join(present)} on {match[2].replace('`', '')}")
    return tuple(privileges)
