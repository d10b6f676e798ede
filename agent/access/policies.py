"""The person behind a request, and the policy file: rules that say who sees which tables, columns and rows.

In: a YAML file. Out: `Access`, which gives the grant of one person on one database. The first rule that matches both
decides; without a matching rule nothing is visible. A rule that does not fit the database is an error, never ignored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from eval.errors import InputError

if TYPE_CHECKING:
    from agent.config import DatabaseSettings

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


MAX_BYTES = 1_000_000
_KEY = r"^[a-z][a-z0-9_]{0,62}$"


class BadPolicies(InputError):
    """The policy file cannot be used; the message says what is wrong and where."""


Claim = Literal["text", "number", "truth", "texts", "numbers"]
"""What a claim holds; `texts` and `numbers` are lists."""
RESERVED = frozenset(("name", "person", "groups"))
"""What every person has by itself; no entry and no claim can set it."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Mask(_Part):
    mask: str
    """An SQL expression over the table's columns that is shown instead of the column."""


class TableRule(_Part):
    columns: dict[str, Literal["visible", "hidden"] | Mask] = Field(default_factory=dict)
    """By name; `*` stands for all others, which are visible unless it says otherwise."""
    rows: str = ""
    """An SQL condition; `:name` is an attribute of the person. Empty: all rows."""


class Who(_Part):
    name: str | None = None
    group: str | None = None
    claims: dict[str, Value] = Field(default_factory=dict)

    def matches(self, person: Person) -> bool:
        """Everything that is named has to hold; `who: {}` matches everybody."""
        has = person.attributes
        return (
            (self.name is None or self.name == person.name)
            and (self.group is None or self.group in person.groups)
            and all(v in own if isinstance(own := has.get(k), tuple) else own == v for k, v in self.claims.items())
        )


class Rule(_Part):
    who: Who
    database: str
    """Its name, as answers and `/presets` show it; `*` for every database."""
    tables: Literal["visible"] | dict[str, Literal["visible", "hidden"] | TableRule]
    """By name; `*` stands for all others, which are hidden unless it says otherwise."""


class JwtRule(_Part):
    issuer: str
    audience: str
    keys: str
    """A file with the issuer's public keys (JWKS), or the https address of one."""
    name: str = "sub"
    """The claim that names the person."""
    groups: str = "groups"
    """The claim that lists the person's groups."""
    claims: dict[Annotated[str, Field(pattern=_KEY)], Claim] = Field(default_factory=dict)
    """The claims that become attributes of the person; all others are ignored."""


class ProxyRule(_Part):
    addresses: list[str] = Field(min_length=1)
    """The addresses of the proxy; a header from anywhere else is refused."""
    name: str = "X-Forwarded-User"
    groups: str = "X-Forwarded-Groups"
    """Headers; groups are separated by commas."""


class _PersonEntry(_Part):
    model_config = ConfigDict(extra="allow")

    groups: list[str] = Field(default_factory=list)
    __pydantic_extra__: dict[Annotated[str, Field(pattern=_KEY)], Value | list[Value]] = Field(init=False)


class _File(_Part):
    people: dict[str, _PersonEntry] = Field(default_factory=dict)
    jwt: JwtRule | None = None
    proxy: ProxyRule | None = None
    rules: list[Rule]


@dataclass(frozen=True, slots=True)
class Grant:
    """What one person may see of one database."""

    person: Person
    rule: Rule | None
    """None: nothing."""

    @property
    def unrestricted(self) -> bool:
        return self.rule is not None and self.rule.tables == "visible"

    def table(self, name: str, namespace: str | None = None) -> TableRule | None:
        """The rule for a table; None if it is hidden."""
        if self.rule is None:
            return None
        if self.rule.tables == "visible":
            return _WHOLE
        rules = {key.casefold(): value for key, value in self.rule.tables.items()}
        rule = rules.get(f"{namespace}.{name}".casefold(), rules.get(name.casefold(), rules.get("*", "hidden")))
        if isinstance(rule, TableRule):
            return rule
        return _WHOLE if rule == "visible" else None


_WHOLE = TableRule()


@dataclass(frozen=True)
class Access:
    """The rules, the people that the file describes, and how others prove who they are."""

    rules: tuple[Rule, ...]
    people: Mapping[str, Person] = field(default_factory=dict)
    jwt: JwtRule | None = None
    proxy: ProxyRule | None = None

    def person(self, name: str) -> Person:
        """A person known by name alone (a token, a setting)."""
        return self.people.get(name, Person(name))

    def grant(self, person: Person, database: str) -> Grant:
        for rule in self.rules:
            if rule.database.casefold() in ("*", database.casefold()) and rule.who.matches(person):
                return Grant(person, rule)
        return Grant(person, None)

    def digest(self, person: Person) -> str:
        """Twelve hex digits that change with anything that the person may see."""
        rules = [rule.model_dump_json() for rule in self.rules if rule.who.matches(person)]
        parts = repr((rules, person.name, sorted(person.groups), sorted(person.attributes.items())))
        return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def access_of(settings: DatabaseSettings) -> Access | None:
    """The policies that the settings name; None without any. Raises BadPolicies."""
    return _read(settings.policies) if settings.policies else None


@lru_cache(maxsize=16)
def _read(path: str) -> Access:
    import yaml

    place = Path(path)
    try:
        if place.stat().st_size > MAX_BYTES:
            raise BadPolicies(f"{place.name} is larger than {MAX_BYTES // 1_000_000} MB.")
        loaded = yaml.load(place.read_text(encoding="utf-8-sig"), Loader=_loader())  # noqa: S506 (a SafeLoader)
        file = _File.model_validate(loaded)
    except OSError as error:
        raise BadPolicies(f"The policies {place.name} cannot be read: {error.strerror}.") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise BadPolicies(f"{place.name} is no YAML: {' '.join(str(error).split())[:200]}") from None
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_input=False)[:10]]
        raise BadPolicies(f"{place.name} cannot be used: {'; '.join(problems)}") from None
    named = {key for entry in file.people.values() for key in entry.__pydantic_extra__ or {}}
    named |= set(file.jwt.claims) if file.jwt else set()
    if taken := sorted(RESERVED & named):
        raise BadPolicies(f"{place.name} cannot be used: {taken[0]!r} is given by the person and cannot be set.")
    asked = {key for rule in file.rules for key in rule.who.claims}
    if file.jwt and (unlisted := sorted(asked - named)):
        raise BadPolicies(f"{place.name} cannot be used: a rule asks for the claim {unlisted[0]!r}; list it in `jwt`.")
    people = {}
    for name, entry in file.people.items():
        attributes = {key: attribute(value) for key, value in (entry.__pydantic_extra__ or {}).items()}
        people[name] = Person(name, frozenset(entry.groups), attributes)
    return Access(tuple(file.rules), people, file.jwt, file.proxy)


def attribute(value: Value | list[Value]) -> Attribute:
    """A value of YAML or JSON as an attribute."""
    return tuple(value) if isinstance(value, list) else value


@lru_cache(maxsize=1)
def _loader() -> Any:
    """YAML without aliases, which can expand to gigabytes, and without repeated keys, of which only one would count."""
    import yaml

    class Strict(yaml.SafeLoader):  # type: ignore[misc]
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("aliases (`*name`) are not taken")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys = [key.value for key, _ in node.value]
            if repeated := {key for key in keys if keys.count(key) > 1}:
                raise yaml.YAMLError(f"{min(repeated)!r} is there twice, line {node.start_mark.line + 1}")
            return super().construct_mapping(node, deep)

    return Strict
