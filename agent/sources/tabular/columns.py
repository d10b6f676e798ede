"""Decides what each column of a file holds.

In: the columns' headers, their cells with how often each occurs, and what a plan has decided. Out: for each column its
plan completed, and the SQL expression that reads it. Columns of one file help each other: where one shows that people
write the day first or a comma before decimals, those that could be read in two ways are read so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent.sources.tabular import dates, measures, numbers
from agent.sources.tabular.notation import CURRENCIES, KNOWN, notation
from agent.sources.tabular.plan import ColumnPlan, Mark, Order
from agent.sources.tabular.sql import BLANKS, literal
from eval.language.lexicon import open_lexicon

NEVER_COMPUTED = "#CALC!"
"""In place of a formula that no spreadsheet has computed."""
Cells = Mapping[str, int]
"""Cells without blanks around them, with how often each occurs."""
_MISSING = frozenset(word for line in notation("missing") for word in line)
_NO_ANSWER = re.compile(
    r"(?:no|not|none)\b.{0,12}\b(?:answer(?:ed)?|available|applicable|data|entry|given|known|measured|provided|"
    r"reading|recorded|reply|response|specified|stated|value)|prefer not .{1,20}|do(?:n['’]?t| not) know|declined|"
    r"refused|skipped|absent|excused|keine angabe"
)
"""How people say that there is no value."""
MARKS_IN_TEXT = frozenset(word for line in notation("missing in text") for word in line)
_PAIRS = tuple(dict.fromkeys(pair for line in notation("truths") for pair in zip(line[::2], line[1::2], strict=True)))
_TRUTHS = {word: meant for yes, no in _PAIRS for word, meant in ((yes, True), (no, False))}
_LANGUAGES = tuple(map(frozenset, notation("truths")))
_PLAIN_PAIRS = (("yes", "no"), ("true", "false"), ("on", "off"))
_NO_TRUTHS = re.compile(
    r"(?i)(?<![a-z])(countr\w*|nation\w*|land|pays|país|state|province|region|lang\w*|sprache|locale|currency|ticker|"
    r"symbol|element|airport|airline|carrier|code|iso|cc|initials?|(?:sur|last|first|middle|full)?[ _]?names?)(?![a-z])"
)
"""Headers that speak against truths in other words than those."""
_TICKS = frozenset(("x", "✓", "✔", "☑", "√", "•"))
"""Marks of which one alone in a column means yes, and a blank cell no."""
_SPELLED_ALIKE = re.compile(r"(?i)(^|[\W_])(id|ids|key|hash|token|uuid|guid|url|uri|path|password|slug)($|[\W_])")
_NUMBER_OF = re.compile(r"(?:(?i:[\W_](?:no|nr|num|number|ref))|[a-z](?:No|Nr|Num|Number|Ref))\.?\s*$")
"""Ends of headers of keys: `DocumentNo`, `Invoice number`."""
_SPAN = re.compile(
    r"[<>≤≥~]=?\s{0,3}[$£€¥₹]?[0-9].{0,30}|"
    r"[$£€¥₹]?[0-9][0-9.,]{0,20}\s{0,3}(?:(?:[-–]|to)\s{0,3}[$£€¥₹]?[0-9].{0,30}|\+)"
)
_MARKED = re.compile(r"[^\s0-9.,'’()+−-]")
"""What a number with a unit holds besides figures."""
_HEADER_UNIT = re.compile(
    r"[\[(]\s*([^\W\d_]{1,5}(?:/[^\W\d_]{1,5})?|[^\w\s\d()\[\]]{1,3})\s*[\])]\s*$|(?<=[\s_])([^\W\d_]{2,4})\s*$"
)


@dataclass(frozen=True, slots=True)
class Decision:
    plan: ColumnPlan
    """With a kind, and what was found of marks, order and unit."""
    number: numbers.Written | None = None
    date: dates.Written | None = None
    measure: measures.Written | None = None
    truths: tuple[str, ...] = ()
    """Some cells that mean yes or no, to be looked for first, which is by far the fastest; others are read, too."""
    clock: bool = False
    """Whether a text is a time of day, which is written so that it sorts: `08:05`."""
    tick: str | None = None
    """The mark that means yes where blank cells mean no."""
    doubt: str | None = None
    """What could also be meant, or why it stays text."""
    sure: bool = False
    """Whether the doubt need not be told again with an answer."""

    @property
    def type(self) -> str:
        """Of the column in the table."""
        if figures := self.number or self.measure:
            return "BIGINT" if figures.whole else "DOUBLE"
        if self.date is not None:
            return "TIMESTAMP" if self.date.clock else "DATE"
        return "BOOLEAN" if self.plan.kind == "truth" else "VARCHAR"

    def sql(self, column: str) -> str:
        """The expression that reads the column; NULL where a cell does not fit. Text stays as it is, but for times."""
        if self.number is not None:
            return numbers.sql(column, self.number)
        if self.date is not None:
            return dates.sql(column, self.date)
        if self.measure is not None:
            return measures.sql(column, self.measure)
        if self.clock:
            time = f"CASE WHEN regexp_full_match({column}, {literal(dates.TIME)}) THEN {dates.time_sql(column)} END"
            return f"coalesce({time}, {column})"
        if self.tick:
            word = f"coalesce(lower({trimmed(column)}), '')"
            return f"CASE {word} WHEN {literal(self.tick)} THEN true WHEN '' THEN false END"
        if self.plan.kind == "truth":
            seen = "".join(f"WHEN {column} = {literal(cell)} THEN {_TRUTHS[cell.casefold()]} " for cell in self.truths)
            words = ", ".join(map(literal, (word for pair in _PAIRS for word in pair)))
            place = f"list_position([{words}], lower({trimmed(column)}))"
            return f"CASE {seen}ELSE nullif({place}, 0) % 2 = 1 END" if seen else f"nullif({place}, 0) % 2 = 1"
        return column


def trimmed(column: str) -> str:
    return f"trim({column}, {literal(BLANKS)})"


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no value, in a column of anything but text."""
    folded = cell.casefold()
    return folded in _MISSING or _NO_ANSWER.fullmatch(folded) is not None


def may_fold(plan: ColumnPlan) -> bool:
    """Whether spellings of a column of text may be made one: not those of keys and addresses."""
    return plan.kind == "text" and plan.fold and not _SPELLED_ALIKE.search(plan.header)


def decided(
    plans: Sequence[ColumnPlan], cells: Sequence[Cells], gaps: Sequence[bool], *, semicolons: bool
) -> list[Decision]:
    """A decision for each column. `gaps`: whether some of its cells are blank."""
    first = [
        _decision(plan, of, plan.decimal, plan.order, gaps=blank)
        for plan, of, blank in zip(plans, cells, gaps, strict=True)
    ]
    # The decimal mark of the file's other numbers, and whether they show it; semicolons only hint at commas
    marks = {d.number.decimal for d in first if d.number and d.number.shows_mark}
    sure_mark = len(marks) == 1
    mark: Mark | None = next(iter(marks)) if sure_mark else "," if semicolons and not marks else None
    # The order of the file's other dates, and whether they show it; decimal commas and currencies only hint
    orders = {d.date.order for d in first if d.date and d.date.order and not d.date.either}
    sure_order = len(orders) == 1
    units = {d.plan.unit for d in first}
    hinted: Order | None = "dmy" if mark == "," or (units & {"€", "£"} and "$" not in units) else None
    order = next(iter(orders)) if sure_order else hinted
    result = []
    for decision, plan, of in zip(first, plans, cells, strict=True):
        sure = False
        if decision.number and decision.number.either and (plan.decimal or mark):
            decision, sure = _decision(plan, of, plan.decimal or mark, None), bool(plan.decimal) or sure_mark
        elif decision.date and decision.date.either and (plan.order or order):
            decision, sure = _decision(plan, of, None, plan.order or order), bool(plan.order) or sure_order
        if not semicolons and decision.number and decision.number.either and any("," in cell for cell in of):
            decision = replace(decision, sure=True)  # a file with commas between its columns hardly has them in numbers
        decision = replace(decision, doubt=None) if sure else decision
        if bare := of.get(NEVER_COMPUTED):
            told = f"formulas of {bare:,} cells were never computed: open and save the file in a spreadsheet"
            decision = replace(decision, doubt=told, sure=False)
        result.append(decision)
    return result


def _decision(
    plan: ColumnPlan, cells: Cells, mark: Mark | None, order: Order | None, *, gaps: bool = False
) -> Decision:
    """What a person has decided is followed; the rest of a plan only says what is likelier."""
    wanted = plan.kind if plan.decided or plan.kind in ("left out", "as it is") else None
    words = {cell.casefold() for cell in cells}
    may_tick = gaps and (wanted == "truth" or not (wanted or plan.decided))
    if may_tick and len(words) == 1 and words <= _TICKS:
        return Decision(_with(plan, kind="truth"), tick=words.pop())
    if wanted in ("left out", "as it is", "text"):
        return Decision(plan)
    filled = {cell: count for cell, count in cells.items() if not is_missing(cell)}
    if not filled:
        empty = numbers.Written(whole=False) if NEVER_COMPUTED in cells and wanted is None else None
        return Decision(_with(plan, kind="number" if empty else wanted or "text"), number=empty)
    if wanted == "truth" or (wanted is None and _are_truths(plan.header, filled)):
        truths = tuple(cell for cell in filled if cell.casefold() in _TRUTHS)
        return Decision(_with(plan, kind="truth"), truths=truths[:8])
    when = dates.written(plan.header, filled, order, forced=wanted is not None) if wanted != "number" else None
    if when and when.why_not is None:
        doubt = "day and month could also be the other way round" if when.either else None
        if when.several_zones:
            doubt = "its times are of several time zones; of each, its own clock is read"
        return Decision(_with(plan, kind="date", order=when.order), date=when, doubt=doubt)
    why = when.why_not if when else None
    if wanted == "number" or (wanted is None and not _is_code(plan, filled)):
        figures, why = _figures(plan, filled, mark, why, forced=wanted is not None)
        if figures:
            return figures
    times = sum(count for cell, count in filled.items() if dates.is_time(cell))
    if wanted is None and numbers.is_power_or_name(filled):
        power = next(cell for cell in filled if not cell.isdecimal())
        why = f"{power} could also be a number" if not numbers.is_identifier(plan.header, filled) else None
    doubt = f"stays text: {why}" if why else None
    return Decision(_with(plan, kind="text"), doubt=doubt, clock=times >= numbers.ENOUGH * sum(filled.values()))


def _figures(
    plan: ColumnPlan, cells: Cells, mark: Mark | None, why: str | None, *, forced: bool
) -> tuple[Decision | None, str | None]:
    """The column as one of numbers, or why it is none."""
    how = numbers.written(cells, mark, forced=False)
    measure = None if how and how.why_not is None else measures.written(plan.header, cells, mark, forced=forced)
    if measure and measure.why_not is None:
        of = _with(plan, kind="number", decimal=measure.decimal, unit=measure.unit)
        return Decision(of, measure=measure, doubt=measure.doubt), None
    if forced:
        how = numbers.written(cells, mark, forced=True)
    if how and how.why_not is None:
        of = _with(plan, kind="number", decimal=how.decimal, unit=how.unit or _unit_of(plan.header))
        return Decision(of, number=how, doubt=_number_doubt(how, cells)), None
    # The numbers of a column whose other cells are one word or two that repeat: `ND`, `below limit`
    codes = {cell: n for cell, n in cells.items() if not numbers.is_number(cell)} if how is None else {}
    repeat = all(n > 1 and not any(c.isdecimal() for c in cell) for cell, n in codes.items())
    if 0 < len(codes) <= 2 and repeat and sum(codes.values()) * 2 <= sum(cells.values()):
        how = numbers.written({cell: n for cell, n in cells.items() if cell not in codes}, mark, forced=False)
        unit = (how and how.unit) or _unit_of(plan.header)
        if how and how.why_not is None and (unit or not how.whole):
            return Decision(_with(plan, kind="number", decimal=how.decimal, unit=unit), number=how), None
    found = measure.why_not if measure else how.why_not if how else _mostly_numbers(cells)
    return None, found or why


def _mostly_numbers(cells: Cells) -> str | None:
    """Why a column is none of numbers though most of its cells are, or half of them begin with one."""
    total = sum(cells.values())
    odd = sum(n for cell, n in cells.items() if not numbers.is_number(cell))
    if total > 2 and odd and total - odd >= 0.6 * total:
        return f"{odd:,} of {total:,} cells are no numbers"
    spans = sum(n for cell, n in cells.items() if _SPAN.fullmatch(cell))
    return f"{spans:,} of {total:,} cells are no single number" if spans * 2 > total else None


def _with(plan: ColumnPlan, **changes: object) -> ColumnPlan:
    return plan.model_copy(update=changes)


def _are_truths(header: str, cells: Cells) -> bool:
    """Whether the cells are of one language's yes and no, both of which occur."""
    words = {cell.casefold() for cell in cells}
    against = _NO_TRUTHS.search(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", header)) is not None
    if not any(words <= language for language in _LANGUAGES):
        return False
    both = any(yes in words and no in words for yes, no in (_PLAIN_PAIRS if against else _PAIRS) if yes != "1")
    return both or (len(words) == 1 and words <= {"yes", "true", "false"} and not against)  # `NO` may be Norway


def _is_code(plan: ColumnPlan, cells: Cells) -> bool:
    lengths = {len(cell) if cell.isdecimal() else 0 for cell in cells}
    are_keys = len(lengths) == 1 and min(lengths) >= 5 and len(cells) >= 0.9 * sum(cells.values())
    if are_keys and _NUMBER_OF.search(plan.header):  # long whole numbers of one length, nearly all different
        return True
    if numbers.is_identifier(plan.header, cells) or numbers.is_power_or_name(cells):
        return True
    figures = sum(count for cell, count in cells.items() if cell.lstrip("+").isdecimal())
    return figures * 2 > sum(cells.values()) and numbers.looks_like_codes(cells)


def _unit_of(header: str) -> str | None:
    """The unit that a header names: `Price (EUR)`, `Weight [kg]`, `Consumption kWh`."""
    found = _HEADER_UNIT.search(header)
    bare = found[2] if found else None
    if bare is not None and (bare.lower() not in KNOWN or open_lexicon(bare.lower())):
        return None
    return found[1] or bare if found else None


def without_unit(header: str, unit: str | None) -> str:
    """The header without the unit that it ends in."""
    found = _HEADER_UNIT.search(header) if unit and _unit_of(header) == unit else None
    return header[: found.start()].strip(" _") if found else header


def _number_doubt(how: numbers.Written, cells: Cells) -> str | None:
    twice = None if how.unit else numbers.spelled_twice(cells)
    if twice and all(cell.count(".") == 1 for cell in cells):
        return f"{twice[0]} and {twice[1]} are one number, and could be two names"
    if how.either:
        commas = any("," in cell for cell in cells)
        between = commas == (how.decimal == ".")
        mark = "comma" if commas else "point"
        return f"the {mark} could also " + ("be the decimal mark" if between else "stand between thousands")
    if how.unit and how.unit not in CURRENCIES and any(not _MARKED.search(cell) for cell in cells):
        return f"some cells have no {'% sign' if how.unit == '%' else 'unit'}"
    return None
