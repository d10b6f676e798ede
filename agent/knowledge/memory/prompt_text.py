"""The part of the memory that a model sees for one question, in each privacy mode.

In: a question, a `Memory`, the schema. Out: a text for the prompt, and the same terms for the offline engine. Examples
hold values of the database, so they are shown only in modes that may show rows. In the other modes, the glossary's
constants are hidden.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent.knowledge.memory.examples import Example
from agent.knowledge.memory.glossary import Entry, as_query, statements
from agent.knowledge.memory.loader import Memory
from agent.knowledge.memory.similarity import nearest
from agent.knowledge.privacy import Privacy, without_constants
from agent.knowledge.schema_context import one_line
from eval.databases.base import Database
from eval.schema import Schema

_NOTE = 300


@dataclass(frozen=True, slots=True)
class Remembered:
    """The part of the memory that is relevant to one question."""

    examples: tuple[Example, ...] = ()
    entries: tuple[Entry, ...] = ()
    privacy: Privacy = "full"
    instructions: str = ""

    @property
    def glossary_text(self) -> str:
        return "\n".join(self._line(entry) for entry in self.entries)

    @property
    def examples_text(self) -> str:
        return "\n\n".join(f"Question: {one_line(e.question, 2_000)}\nSQL: {e.sql}" for e in self.examples)

    @property
    def statements(self) -> tuple[str, ...]:
        """For the offline engine."""
        return tuple(statements(self.entries))

    def _line(self, entry: Entry) -> str:
        expression = entry.expression if self.privacy == "full" else without_constants(entry.expression)
        note = f" ({one_line(entry.note, _NOTE)})" if entry.note and self.privacy == "full" else ""
        names = ", ".join(one_line(name, 80) for name in entry.names)
        if entry.kind == "filter":
            return f"- rows of {entry.name} are meant with {expression}, unless the question says otherwise{note}"
        if entry.kind in ("date", "amount"):
            return f"- where no {entry.kind} of {entry.name} is named, {expression} is meant"
        return f"- {names}: {expression}{note}"


def remembered(
    question: str,
    memory: Memory,
    schema: Schema,
    *,
    db: str,
    examples: int,
    glossary: bool,
    privacy: Privacy = "full",
    reader: Database | None = None,
) -> Remembered:
    """At most `examples` examples, and the entries of the glossary that the question names; of both only those that
    the `reader` of the database may see."""
    shown = examples if privacy == "full" else 0
    return Remembered(
        nearest(question, memory.examples, schema, shown, db=db, reader=reader),
        readable(memory.glossary.named_in(question, schema), reader) if glossary else (),
        privacy,
        instructions=memory.instructions if privacy == "full" else "",  # they may quote values
    )


def readable(entries: tuple[Entry, ...], reader: Database | None) -> tuple[Entry, ...]:
    """The entries whose constants the reader may see; notes, which may say anything, are for those who see all."""
    if reader is None or reader.sees_all:
        return entries
    seen = []
    for entry in entries:
        parsed = as_query(entry.expression, reader.dialect)
        if not isinstance(parsed, str) and reader.may_show(parsed):
            seen.append(replace(entry, note=""))
    return tuple(seen)
