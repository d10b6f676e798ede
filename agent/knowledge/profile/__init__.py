"""The profile of a database: what its rows look like, worked out without any model.

In: an open `Database` and its `Schema`. Out: a `Profile`, and as text ten named `Section`s within a budget of tokens.
`compute_profile` computes, `kept_profile` asks the cache first, `profile_soon` never waits longer than it is told to;
`hints` is what of it a model is told.
"""

from __future__ import annotations

from agent.knowledge.profile.computing import compute_profile
from agent.knowledge.profile.facts import ColumnFacts, Profile, profile_from_json
from agent.knowledge.profile.hints import hints
from agent.knowledge.profile.keeping import kept_profile, profile_soon
from agent.knowledge.profile.sections import DEFAULT_BUDGET, Section, as_text, sections

__all__ = [
    "DEFAULT_BUDGET",
    "ColumnFacts",
    "Profile",
    "Section",
    "as_text",
    "compute_profile",
    "hints",
    "kept_profile",
    "profile_from_json",
    "profile_soon",
    "sections",
]
