"""The offline engine: answers everyday questions with no model at all, and says so when it cannot.

In: a question, a schema, an index of stored values. Out: SQL, how sure it is, and how it understood the question.
`OfflineModel` speaks the model protocol; `read` is the synchronous door for scoring and batch
commands; `restate` makes a follow-up question whole.
"""

from agent.models.offline.followup import Turn, restate
from agent.models.offline.model import OfflineModel
from agent.models.offline.reading import Reading, read
from agent.models.offline.summary import summary_text

__all__ = ["OfflineModel", "Reading", "Turn", "read", "restate", "summary_text"]
