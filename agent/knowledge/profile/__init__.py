"""The profile of a database: a description of its rows, computed without a model.

In: an open `Database` and its `Schema`. Out: a `Profile`, and as text ten named `Section`s within a budget of tokens.
`compute_profile` computes the profile, `kept_profile` checks the cache first, and `profile_soon` waits at most a given
time. `hints` selects the lines for a model.
"""

from __future__ import annotations

from agent.knowledge.profile.builder import compute_profile, kept_profile, profile_soon
from agent.knowledge.profile.facts import Profile
from agent.knowledge.profile.sections import Section, as_text, hints, sections

__all__ = ["Profile", "Section", "as_text", "compute_profile", "hints", "kept_profile", "profile_soon", "sections"]
