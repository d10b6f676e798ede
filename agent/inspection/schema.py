"""What is known of a database, for the doors: the part of a schema that a question needs, and the profile.

In: an open database. Out: values of `agent.knowledge`, which doors do not reach into. Nothing here is sent anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.knowledge.profile.facts import ColumnFacts, KeyFacts, Pattern, Pitfall, TableFacts

if TYPE_CHECKING:
    from agent.knowledge.linking import Linked
    from agent.knowledge.privacy import Privacy
    from agent.knowledge.profile import Profile, Section
    from eval.databases.base import Database
    from eval.schema import Schema

__all__ = [
    "ColumnFacts",
    "KeyFacts",
    "Pattern",
    "Pitfall",
    "ProfileReport",
    "TableFacts",
    "linked_schema",
    "profile_report",
]


def linked_schema(question: str, database: Database, schema: Schema, budget: int | None = None) -> Linked:
    """The tables, columns and stored values that a question needs, within `budget` tokens; the index of values is
    built first where it is not there yet."""
    from agent.knowledge.linking import link
    from agent.knowledge.values import complete_value_index

    return link(question, schema, complete_value_index(database, schema), budget)


@dataclass(frozen=True, slots=True)
class ProfileReport:
    """A database's profile with its text."""

    database: str
    fingerprint: str
    """Of the structure."""
    privacy: Privacy
    profile: Profile
    sections: tuple[Section, ...]

    @property
    def tokens(self) -> int:
        """Of all sections together."""
        return sum(s.tokens for s in self.sections)

    @property
    def text(self) -> str:
        from agent.knowledge.profile import as_text

        return as_text(self.sections)

    def as_json(self) -> dict[str, Any]:
        """One object: `database, dialect, fingerprint, privacy, tables_profiled, columns_profiled, tokens, seconds`,
        `sections` (by name: the lines of the text) and `facts`."""
        shown = {s.name: {"title": s.title, "lines": list(s.lines), "left_out": s.left_out} for s in self.sections}
        return {
            "database": self.database,
            "dialect": self.profile.dialect,
            "fingerprint": self.fingerprint,
            "privacy": self.privacy,
            "tables_profiled": len(self.profile.tables),
            "columns_profiled": len(self.profile.columns),
            "tokens": self.tokens,
            "seconds": self.profile.seconds,
            "sections": shown,
            "facts": self.profile.as_json(),
        }


def profile_report(
    database: Database, schema: Schema, budget: int | None = None, privacy: Privacy = "full"
) -> ProfileReport:
    """The profile of a database and its sections, at most `budget` tokens long together; kept from the last time where
    nothing has changed. `privacy`: for `masked` it holds no value, for `schema` no row is read."""
    from agent.knowledge.privacy import visible_schema
    from agent.knowledge.profile import kept_profile, sections

    profile = kept_profile(database, schema, privacy=privacy)
    visible = schema if privacy == "full" else visible_schema(schema, privacy)
    return ProfileReport(database.name, schema.fingerprint, privacy, profile, sections(visible, profile, budget))
