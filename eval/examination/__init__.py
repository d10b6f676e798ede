"""One examination of a query, for the agent, the batch commands, the benchmark and react alike.

In: a `Query` (a question, SQL, and what its writer said) and an open database. Out: a `Case`, everything that
`eval.scoring.score` reads. Nothing else in the tree puts a `Case` together.
"""

from __future__ import annotations

from eval.examination.pipeline import Query, examine, examine_async, inspect

__all__ = ["Query", "examine", "examine_async", "inspect"]
