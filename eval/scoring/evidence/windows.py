"""Windows: rankings, neighbours and running figures against what the question wants them to run over.

Each check reads window, question and the condition on the window's result: a rank from the wrong end, a neighbour of
somebody else, a frame of other rows than the question names, the row after where the one before is meant.
"""

from __future__ import annotations

import re

from sqlglot import exp

from eval.language.inflection import light_stem
from eval.language.lexicon import word_set
from eval.language.numbers import NUMBER_WORDS
from eval.scoring.evidence.question_reading import Observation, Observations, Reading
from eval.sql.traversal import every

_RANKS = frozenset({"row_number", "rank", "dense_rank"})
_NEIGHBOURS = frozenset({"lag", "lead"})
_EACH = re.compile(r"\b(?:each|every|per|within|of the same|(?:their|its) own) ([^\W\d_]+)(?: ([^\W\d_]+))?")
_OWN = re.compile(r"\b(?:their|its|his|her) (?:own|first|last|second|previous|next)\b")
_OWNED = re.compile(r"\b(?:its|their|his|her|\w+'s) own\b")
_FIGURES = frozenset({"sum", "avg", "count"})
_TIED = re.compile(r"\bshares? (?:a|the same|one) (?:place|rank|position)\b")
_UNSKIPPED = re.compile(r"\bno (?:place|rank|position|number) is (?:skipped|left out)\b|\bwithout gaps\b")
_TIMES = word_set("day week month quarter year hour date row step time calendar period twelve group")
_BACK = re.compile(r"\b(?:oldest|earliest|first)\b")
_RECENT = re.compile(r"\b(?:latest|newest|most recent|last)\b(?! names?\b)")
_DATED = re.compile(r"date|time|year|_on$|_at$|since|from|created|born|birth", re.IGNORECASE)
_GROWTH = re.compile(r"\b(?:gr[eo]wth?|grown|grows|year[- ]over[- ]year|month[- ]over[- ]month)\b")
_COUNT = "|".join(NUMBER_WORDS)
_BEFORE = re.compile(
    rf"\b(\d+|{_COUNT}) (?:(?:calendar|full|whole) )?(?:(?:day|week|month|quarter|year)s? )?(?:before|preceding)\b"
)
_MOVING = re.compile(rf"\b(\d+|{_COUNT})[- ](?:day|week|month|quarter|year)s? (?:moving|rolling|running)\b")


def observe(reading: Reading) -> Observations:
    windows = every(reading.tree, exp.Window)
    if not windows:
        return
    yield from _partition(reading, windows)
    yield from _direction(reading, windows)
    yield from _frame(reading, windows)
    yield from _ties(reading, windows)
    functions = {_function(w) for w in windows}
    if _GROWTH.search(reading.question) and "lead" in functions and "lag" not in functions:
        text = "The question compares with what was before; the query looks at what comes after."
        yield Observation("later_for_earlier", 1, text)


def _partition(r: Reading, windows: list[exp.Window]) -> Observations:
    """A rank or a neighbour of each thing, taken over all things."""
    if any(w.args.get("partition_by") for w in windows):
        return
    functions = {_function(w) for w in windows if _function(w) not in _RANKS or _first_kept(r.tree, w)}
    owned = _OWNED.search(r.question) is not None and bool(functions & _FIGURES)
    if not (owned or functions & {*_RANKS, *_NEIGHBOURS, "ntile"}):
        return
    meant = any(
        light_stem(m[1]) not in _TIMES and light_stem(m[2] or "") not in _TIMES for m in _EACH.finditer(r.question)
    )
    owned |= _OWN.search(r.question) is not None and bool(functions & _NEIGHBOURS)
    if meant or owned:
        text = "The question asks within each thing, and the window runs over all rows."
        yield Observation("window_over_all", 1, text)


def _function(window: exp.Window) -> str:
    """The name of the window's function in small letters; the parser leaves some as unknown functions."""
    call = window.this
    call = call.this if isinstance(call, exp.IgnoreNulls | exp.RespectNulls) else call
    name = call.name if isinstance(call, exp.Anonymous) else call.sql_name() if isinstance(call, exp.Func) else ""
    return str(name).casefold()


def _direction(r: Reading, windows: list[exp.Window]) -> Observations:
    """`the latest order of each`, and the first place goes to the earliest."""
    ranked = [w for w in windows if _function(w) in _RANKS and w.args.get("order") is not None]
    if len(ranked) != 1 or not _first_kept(r.tree, ranked[0]):
        return
    key = ranked[0].args["order"].expressions[0]
    if not isinstance(key, exp.Ordered):
        return
    falling, name = bool(key.args.get("desc")), key.this.sql()
    back, recent = _BACK.search(r.question), _RECENT.search(r.question)
    if _DATED.search(name):
        wrong = (back is None) != (recent is None) and falling != (recent is not None)
    else:
        wrong = not (back or recent) and r.intent.most not in (r.intent.least, falling)
    if wrong:
        yield Observation("rank_direction_wrong", 1, "The query ranks from the wrong end.")


def _first_kept(tree: exp.Expr, window: exp.Window) -> bool:
    """Whether the first places of the window are what is kept: `WHERE place = 1`, `place <= 3`."""
    alias = window.parent.alias if isinstance(window.parent, exp.Alias) else ""
    return bool(alias) and any(
        isinstance(c.left, exp.Column) and c.left.name == alias and isinstance(c.right, exp.Literal)
        for c in every(tree, exp.EQ, exp.LTE, exp.LT)
    )


def _ties(r: Reading, windows: list[exp.Window]) -> Observations:
    """What comes after a shared place: ROW_NUMBER shares none, RANK skips some, DENSE_RANK skips none."""
    functions = {_function(w) for w in windows} & _RANKS
    shared = _TIED.search(r.question) and functions == {"row_number"}
    unskipped = _UNSKIPPED.search(r.question) and functions and "dense_rank" not in functions
    if shared or unskipped:
        text = f"The question says what becomes of ties, and {min(functions).upper()} does otherwise."
        yield Observation("ties_otherwise", 1, text)


def _frame(r: Reading, windows: list[exp.Window]) -> Observations:
    """`that month and the two before it` are two rows before, and none after."""
    before = _BEFORE.search(r.question)
    moving = None if before else _MOVING.search(r.question)
    found = before or moving
    if found is None:
        return
    said = int(found[1]) if found[1].isdecimal() else NUMBER_WORDS[found[1]]
    wanted = said if before else said - 1
    frames = [spec for w in windows if (spec := w.args.get("spec")) is not None and spec.args.get("kind") == "ROWS"]
    counted = [f for f in frames if isinstance(f.args.get("start"), exp.Literal)]
    if counted and not any(f.args["start"].name == str(wanted) and f.args.get("end") == "CURRENT ROW" for f in counted):
        yield Observation(
            "window_frame_differs", 1, f"The question means {wanted} rows before; the window takes others."
        )
