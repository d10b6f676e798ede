"""Quoting of identifiers in a dialect's SQL: a name stays bare where that means the same, else it is quoted."""

from __future__ import annotations

import re

from eval.engines import ENGINES
from eval.schema import Dialect

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*\Z")
_PLAIN_ANY_CASE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

FOLDS_UPPER: frozenset[Dialect] = frozenset({"snowflake", "oracle"})
"""Where bare names become upper case: a name in mixed case was quoted when it was made."""
RESERVED = frozenset(
    """
    add all alter analyse analyze and any array as asc asymmetric attach between both by call cascade case cast change
    character check collate column condition constraint convert create cross cube cume_dist current_catalog
    current_date current_role current_schema current_time current_timestamp current_user database databases declare
    default deferrable delayed delete dense_rank desc describe detach distinct distinctrow div drop each else elseif
    empty end escape except exists explain false fetch first_value for force foreign freeze from full fulltext function
    generated glob grant group grouping groups having if ignore ilike in index initially inner insert int integer
    intersect interval into is isnull iterate join key keys kill lag last_value lateral lead leading leave left like
    limit linear lines load localtime localtimestamp lock loop match mod natural not notnull nth_value ntile null
    numeric of offset on only option optimize or order outer outfile over overlaps partition percent_rank pivot placing
    primary procedure purge qualify range rank read real recursive references regexp release rename repeat replace
    require restrict return returning revoke right rlike row row_number rows schema schemas select separator
    session_user set show similar smallint some spatial sql ssl starting summarize symmetric system table tablesample
    terminated then
    to trailing transaction trigger true undo union unique unlock unpivot unsigned update usage use user using values
    variadic varying verbose view when where while window with within without write xor year_month zerofill
    """.split()  # noqa: SIM905 (a wall of words reads better than a wall of quotes)
)
"""Words that at least one engine refuses or misreads as a bare name. Unnecessary quoting is harmless."""


def quoted_if_needed(name: str, dialect: Dialect) -> str:
    """`name` as SQL text that means exactly this name. PostgreSQL folds bare names to lower case, so capitals are
    quoted there."""
    plain = _PLAIN if dialect == "postgres" else _PLAIN_ANY_CASE
    one_case = dialect not in FOLDS_UPPER or name in (name.lower(), name.upper())
    if plain.match(name) and one_case and name.lower() not in RESERVED:
        return name
    return ENGINES[dialect].quoted(name)
