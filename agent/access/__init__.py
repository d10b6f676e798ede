"""Who may see which tables, columns and rows of a database.

In: a policy file, and the person of a request. Out: a `PersonalDatabase`, which shows and reads only what the person
may see. Every door gives the person's database to the rooms behind it, so none of them needs to know of policies.
docs/access.md has the format.
"""

from agent.access.database import PersonalDatabase, audit_of, personal
from agent.access.identity import Identity, IdentityRefused, KeysUnavailable
from agent.access.policies import Access, BadPolicies, Person, access_of

__all__ = [
    "Access",
    "BadPolicies",
    "Identity",
    "IdentityRefused",
    "KeysUnavailable",
    "Person",
    "PersonalDatabase",
    "access_of",
    "audit_of",
    "personal",
]
