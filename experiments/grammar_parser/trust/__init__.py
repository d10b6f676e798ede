"""How far a reading can be trusted: its features, and the registry of doubts with their caps, sentences and choices.

`judged(view)` raises the doubts of `words`, `figures` and `links`; `features(view, …)` are the calibrator's numbers.
"""

from experiments.grammar_parser.trust import figures, links, words
from experiments.grammar_parser.trust.features import features
from experiments.grammar_parser.trust.observation import looker
from experiments.grammar_parser.trust.registry import DOUBTFUL, DOUBTS, OPEN, Choice, Judgement, judged
from experiments.grammar_parser.trust.view import Look, Seen, View
from experiments.grammar_parser.trust.words import unread

REGISTERED = (words, figures, links)
"""The rooms whose import registers their doubts."""

__all__ = ["DOUBTFUL", "DOUBTS", "OPEN", "Choice", "Judgement", "Look", "Seen", "View", "features", "judged", "looker",
           "unread"]  # fmt: skip
