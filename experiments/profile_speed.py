"""Profile many databases and print the cost: `python -m experiments.profile_speed FILE_OR_URL…`.

In: SQLite files, folders of them, URLs. Out: one line per database (columns, sections that have lines, tokens,
seconds), then the largest and the slowest. The exit status is 1 when a section is missing or the budget is exceeded.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from agent.knowledge.profile.builder import compute_profile
from agent.knowledge.profile.sections import DEFAULT_BUDGET, sections
from eval.databases import open_database

_SECTIONS = 10


def main(arguments: list[str] | None = None) -> int:
    """Profile each database once, past the cache."""
    parser = argparse.ArgumentParser(prog="python -m experiments.profile_speed", description=main.__doc__)
    parser.add_argument("place", nargs="+")
    parser.add_argument("--budget", type=int, default=DEFAULT_BUDGET)
    parser.add_argument("--quiet", action="store_true", help="the sums alone")
    chosen = parser.parse_args(arguments)
    wrong, done, most, slowest = 0, 0, (0, ""), (0.0, "")
    for place in chosen.place:
        targets = sorted(map(str, Path(place).rglob("*.sqlite"))) if Path(place).is_dir() else [place]
        for target in targets:
            with open_database(target) as database:
                schema = database.schema()
                profile = compute_profile(database, schema)
                text = sections(schema, profile, chosen.budget)
                tokens = sum(s.tokens for s in text)
                unread = [t.name for t in profile.tables if t.rows and not t.looked_at]
                bad = len(text) != _SECTIONS or tokens > chosen.budget or bool(unread)
                wrong += bad
                done += 1
                most, slowest = max(most, (tokens, database.name)), max(slowest, (profile.seconds, database.name))
                if bad or not chosen.quiet:
                    filled = sum(bool(s.lines) for s in text)
                    sys.stdout.write(
                        f"{database.name}: {schema.column_count:,} columns, {filled} sections with lines, "
                        f"{tokens:,} tokens, {profile.seconds:.2f} s"
                        + (f"; not read: {', '.join(unread[:5])}" if unread else "")
                        + (f"; cut: {sum(s.left_out for s in text):,} lines" if any(s.left_out for s in text) else "")
                        + "\n"
                    )
    sys.stdout.write(
        f"{done:,} databases, {wrong:,} with a fault; most tokens {most[0]:,} ({most[1]}), "
        f"slowest {slowest[0]:.2f} s ({slowest[1]})\n"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
