"""The offline engine: it answers everyday questions without any model, and says so when it cannot.

In: a question, a schema, an index of stored values. Out: SQL, a confidence, and an interpretation of the question.
`OfflineModel` implements the model protocol; `read` is the synchronous entry point for scoring and batch commands;
`restate` rewrites a follow-up as a standalone question.
"""

from agent.parser.engine import Reading, read
from agent.parser.follow_up import Turn, restate
from agent.parser.model import OfflineModel
from agent.parser.summary import summary_text

__all__ = ["OfflineModel", "Reading", "Turn", "read", "restate", "summary_text"]
