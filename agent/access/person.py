"""The person behind a request: a name, groups, and attributes that conditions on rows may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Value = str | int | float | bool
Attribute = Value | tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Person:
    name: str
    groups: frozenset[str] = frozenset()
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    """What the policy file or verified claims say of the person (`region`, `customer_id`)."""

    def attribute(self, name: str) -> Attribute | None:
        """`name` and `groups` are attributes of everybody."""
        if name == "name":
            return self.name
        if name == "groups":
            return tuple(sorted(self.groups))
        return self.attributes.get(name)

    def settings(self) -> tuple[tuple[str, str], ...]:
        """The person as PostgreSQL settings, for the database's own row-level security."""
        values = {
            key: ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
            for key, value in self.attributes.items()
        }
        values |= {"person": self.name, "groups": ",".join(sorted(self.groups))}
        return tuple((f"text2sql.{key}", value) for key, value in sorted(values.items()))
