"""Wording: everyday phrasings of business questions in words that the reader knows.

A rule (`rules`) is a pattern of words and what stands in its place; the other files hold the rules by what they are
about, and `pipeline` the order in which they apply.
"""

from agent.parser.wording.pipeline import worded
from agent.parser.wording.rules import Known, Wording

__all__ = ["Known", "Wording", "worded"]
