"""A profile as text: ten named sections, or the notes that a model needs for one question, within a token budget.

In: a `Schema` and its `Profile`. Out: `Section`s, whose level of detail depends on the size of the schema. If the text
still exceeds the budget, the detail is reduced, and finally each section is cut, which the text always states. For a
model: lines about the columns that a question is likely to need: first pitfalls, then the values and formats of text
columns used in predicates, then date ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from agent.knowledge.profile.facts import CELL, ColumnFacts, Counted, Profile
from agent.knowledge.schema_context import estimate_tokens, one_line, quoted_if_needed, within_budget
from eval.schema import Schema

DEFAULT_BUDGET = 24_000
"""Default budget in tokens, by `estimate_tokens`."""
_NAME = 120


@dataclass(frozen=True, slots=True)
class Depth:
    """The level of detail for each kind of item."""

    name: str
    columns: int
    """The size of schema that this depth is for."""
    samples: int
    values: int
    cell: int
    pitfalls: int
    structure: bool = True
    """Whether columns are listed with their types besides the detail."""


DEPTHS = (
    Depth("full", 150, samples=5, values=25, cell=60, pitfalls=80),
    Depth("medium", 300, samples=3, values=12, cell=40, pitfalls=60),
    Depth("short", 400, samples=2, values=8, cell=30, pitfalls=40),
    Depth("brief", 1_000_000, samples=1, values=4, cell=20, pitfalls=25, structure=False),
)


@dataclass(frozen=True, slots=True)
class Section:
    name: str
    title: str
    lines: tuple[str, ...]
    left_out: int = 0
    """Number of lines left out because of the budget."""

    @property
    def text(self) -> str:
        more = f"\n({self.left_out:,} more lines not shown)" if self.left_out else ""
        return f"## {self.title}\n" + ("\n".join(self.lines) or "(none)") + more

    @property
    def tokens(self) -> int:
        return estimate_tokens(self.text) + 2


def sections(schema: Schema, profile: Profile, budget: int | None = None) -> tuple[Section, ...]:
    """The ten sections, together at most `budget` tokens long; a budget too small for the titles gives only titles."""
    budget = DEFAULT_BUDGET if budget is None else max(budget, 0)
    fitting = [d for d in DEPTHS if schema.column_count <= d.columns] or [DEPTHS[-1]]
    parts: tuple[Section, ...] = ()
    for depth in fitting:
        parts = tuple(Section(name, title, tuple(write(schema, profile, depth))) for name, title, write in _SECTIONS)
        if sum(s.tokens for s in parts) <= budget:
            return parts
    # Give each section a fair share of the budget: the unused part of a short section goes to the longer ones
    left = budget
    kept: dict[str, Section] = {}
    by_length = sorted(parts, key=lambda s: s.tokens)
    for number, section in enumerate(by_length):
        share = left // (len(by_length) - number)
        if section.tokens > share:
            room = share - replace(section, lines=(), left_out=len(section.lines)).tokens
            lines = within_budget(section.lines, room)
            section = replace(section, lines=tuple(lines), left_out=len(section.lines) - len(lines))
        kept[section.name] = section
        left -= section.tokens
    return tuple(kept[s.name] for s in parts)


def as_text(sections: tuple[Section, ...]) -> str:
    """Sections one after another, with an empty line between them."""
    return "\n\n".join(s.text for s in sections)


def note(c: ColumnFacts, *, samples: int, values: int, cell: int) -> str:
    """A column's content in a few words: its values, its range, or examples."""
    if c.values and len(c.values) <= values and c.kind == "text":
        return "values: " + ", ".join(_text(v.value, cell) for v in c.values)
    if c.low is not None and c.high is not None:
        return f"{one_line(c.low, cell)} to {one_line(c.high, cell)}" if c.low != c.high else f"always {c.low}"
    written = _text if c.kind == "text" else one_line
    return "e.g. " + ", ".join(written(s, cell) for s in c.samples[:samples]) if c.samples else ""


def _text(value: str, cell: int) -> str:
    return "'" + one_line(value, cell).replace("'", "''") + "'"


def _ddl(schema: Schema, _: Profile, depth: Depth) -> Iterator[str]:
    def name(text: str) -> str:
        return one_line(quoted_if_needed(text, schema.dialect), _NAME)

    for table in schema.tables:
        head = f"{name(table.namespace)}.{name(table.name)}" if table.namespace else name(table.name)
        word = "VIEW" if table.kind == "view" else "TABLE"
        if not depth.structure:
            yield f"{word} {head} ({len(table.columns):,} columns)"
            continue
        parts = [f"{name(c.name)} {one_line(c.type, 40)}".strip() for c in table.columns]
        if table.primary_key:
            parts.append(f"PRIMARY KEY ({', '.join(name(c) for c in table.primary_key)})")
        for key in table.foreign_keys:
            if not key.inferred:
                own, ref = ", ".join(map(name, key.columns)), ", ".join(map(name, key.ref_columns))
                parts.append(f"FOREIGN KEY ({own}) REFERENCES {name(key.ref_table)} ({ref})")
        yield f"CREATE {word} {head} ({', '.join(parts)})"


def _overview(schema: Schema, profile: Profile, depth: Depth) -> Iterator[str]:
    for listed, t in zip(schema.tables, profile.tables, strict=False):
        rows = "rows not counted" if t.rows is None else f"{'about ' if t.estimated else ''}{t.rows:,} rows"
        looked = ""
        if t.sampled:
            looked = f", looked at {t.looked_at:,} ({t.how})" if t.looked_at else f", {t.how}"
        view = ", a view" if t.kind == "view" else ""
        comment = _comment(listed.comment, depth)
        yield f"{one_line(t.name, _NAME)}: {rows}, {t.columns:,} columns{view}{looked}{comment}"


def _columns(schema: Schema, profile: Profile, depth: Depth) -> Iterator[str]:
    known = {(c.table, c.column): c for c in profile.columns}
    for table in schema.tables:
        for column in table.columns:
            named = (
                f"{one_line(table.name, _NAME)}.{one_line(column.name, _NAME)} {one_line(column.type, CELL)}".strip()
            )
            text = "not read"
            if (c := known.get((table.name, column.name))) is not None:
                written = _text if c.kind == "text" else one_line
                frequent = ", ".join(written(s, depth.cell) for s in c.samples[: depth.samples])
                nulls = f", {c.nulls:,} NULL" if c.nulls else ""
                text = f"{c.distinct:,} distinct of {c.rows:,}{nulls}" + (f"; {frequent}" if frequent else "")
            yield f"{named}: {text}{_comment(column.comment, depth)}"


def _comment(comment: str | None, depth: Depth) -> str:
    """The schema's own comment on a table or column."""
    return f" -- {one_line(comment.strip(), 2 * depth.cell)}" if comment and comment.strip() else ""


def _keys(_: Schema, profile: Profile, __: Depth) -> Iterator[str]:
    for k in profile.keys:
        own, ref = ", ".join(k.columns), ", ".join(k.ref_columns)
        kind = "inferred" if k.inferred else "declared"
        yield one_line(f"{k.table}({own}) -> {k.ref_table}({ref}): {k.cardinality}, {kind}", 4 * _NAME)


def _enumerated(_: Schema, profile: Profile, depth: Depth) -> Iterator[str]:
    sampled = {t.name for t in profile.tables if t.sampled}
    for c in profile.columns:
        if c.key and c.kind == "number":
            continue  # numbers of rows elsewhere
        if c.values and len(c.values) <= max(depth.values, 2):
            yield f"{_of(c)}: {_counted(c, c.values, depth)}" + (
                f"; in {c.rows:,} rows looked at" if c.table in sampled else ""
            )


def _ranges(_: Schema, profile: Profile, __: Depth) -> Iterator[str]:
    sampled = {t.name for t in profile.tables if t.sampled}
    for c in profile.columns:
        if c.low is not None:
            mean = f", mean {c.mean:g}" if c.mean is not None else ""
            part = f"; in {c.rows:,} rows looked at" if c.table in sampled and not c.whole else ""
            yield f"{_of(c)}: {c.low} to {c.high}{mean}{part}"


def _formats(_: Schema, profile: Profile, depth: Depth) -> Iterator[str]:
    for c in profile.columns:
        if c.formats:
            text = "; ".join(f"{f.name} {f.share:.0%} ({one_line(f.example, depth.cell)})" for f in c.formats)
            yield f"{_of(c)}: {text}"
        if c.null_likes:
            yield f"{_of(c)}: like NULL: {_counted(c, c.null_likes, depth)}"


def _patterns(_: Schema, profile: Profile, depth: Depth) -> Iterator[str]:
    for p in profile.patterns[: depth.pitfalls]:
        yield one_line(f"{p.table}: {p.text}", 3 * _NAME)


def _validation(_: Schema, profile: Profile, __: Depth) -> Iterator[str]:
    for k in profile.keys:
        name = f"{k.table}({', '.join(k.columns)}) -> {k.ref_table}"
        if k.checked is None:
            yield one_line(f"{name}: not checked", 3 * _NAME)
        else:
            lost = f"{k.orphans:,} find nothing" if k.orphans else "all found"
            yield one_line(f"{name}: {k.checked:,} keys looked up, {lost}", 3 * _NAME)


def _guidance(_: Schema, profile: Profile, depth: Depth) -> Iterator[str]:
    for p in profile.guidance[: depth.pitfalls]:
        name = ".".join(part for part in (p.table, p.column) if part)
        yield f"{one_line(name, _NAME)}: {one_line(p.text, 3 * _NAME)}"


def _counted(c: ColumnFacts, values: Iterable[Counted], depth: Depth) -> str:
    """Values of a column with their numbers of rows."""
    return ", ".join(f"{_text(v.value, depth.cell) if c.kind == 'text' else v.value} ({v.rows:,})" for v in values)


def _of(c: ColumnFacts) -> str:
    return f"{one_line(c.table, _NAME)}.{one_line(c.column, _NAME)}"


_Writer = Callable[[Schema, Profile, Depth], Iterator[str]]
_SECTIONS: tuple[tuple[str, str, _Writer], ...] = (
    ("ddl", "Structure", _ddl),
    ("tables", "Tables", _overview),
    ("columns", "Columns", _columns),
    ("keys", "Foreign keys", _keys),
    ("values", "Enumerated values", _enumerated),
    ("ranges", "Ranges", _ranges),
    ("formats", "Formats", _formats),
    ("patterns", "Patterns", _patterns),
    ("validation", "Keys checked", _validation),
    ("guidance", "Query guidance", _guidance),
)


TITLE = "Notes on the data:"
_LINE = 300
"""Maximum characters of one line."""
_VALUES = 12
"""Maximum distinct values of a column whose values are all listed."""


VALUED = 0.1
"""Least chance of a column whose values are listed: a word that is spelled as it is stored is worth most."""
NEEDED = 0.3
"""Least chance of a column, or a table, of which anything else is told."""


def hints(profile: Profile, likely: Mapping[tuple[str, str], float], budget: int) -> str:
    """The lines that fit `budget` tokens, under a title; empty if there are none. `likely`: the chance 0..1 that the
    question needs a column, by (table, column), or a table, by (table, "")."""
    tables = {table for (table, column), chance in likely.items() if not column and chance >= NEEDED}
    possible = {table for (table, column), chance in likely.items() if not column and chance >= VALUED}
    valued = frozenset(key for key, chance in likely.items() if key[1] and key[0] in possible and chance >= VALUED)
    needed = frozenset(key for key in valued if likely[key] >= NEEDED)
    lines = (f"- {one_line(line, _LINE)}" for line in _lines(profile, tables, needed, valued))
    kept = within_budget(lines, budget - estimate_tokens(TITLE) - 1)
    return "\n".join([TITLE, *kept]) if kept else ""


def _lines(
    profile: Profile, tables: Collection[str], needed: Collection[tuple[str, str]], valued: Collection[tuple[str, str]]
) -> Iterator[str]:
    facts = [c for c in profile.columns if (c.table, c.column) in needed]
    for pitfall in profile.guidance:
        if not pitfall.table or pitfall.table not in tables:
            continue
        if not pitfall.column:
            yield f"{pitfall.table}: {pitfall.text}"
        elif (pitfall.table, pitfall.column.split(", ")[0]) in needed:
            yield f"{pitfall.table}.{pitfall.column}: {pitfall.text}"
    for c in profile.columns:
        if (c.table, c.column) in valued and c.values and c.kind == "text" and len(c.values) <= _VALUES:
            yield f"{c.table}.{c.column}: {note(c, samples=0, values=_VALUES, cell=40)}"
    for c in facts:
        if c.formats and not c.values:
            form = c.formats[0]
            shown = form.name if form.share > 0.95 else f"{form.name} ({form.share:.0%})"
            written = shown + (f", {c.low} to {c.high}" if c.low is not None else f", e.g. {form.example}")
            yield f"{c.table}.{c.column}: {written}"
    for c in facts:
        if c.kind == "date" and c.low is not None:
            yield f"{c.table}.{c.column}: {c.low} to {c.high}"
    for pattern in profile.patterns:
        if pattern.table in tables and pattern.kind == "hierarchy":
            yield f"{pattern.table}: {pattern.text}"
