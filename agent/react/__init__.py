"""The ReAct loop: a generator that works in steps with tools, as an alternative to writing a query in one reply.

In: a request for SQL and the run's context. Out: a `SqlReply`, as of a model. `loop` says which tool
may follow which, asks the model and keeps the bounds, `tools` what each does.
"""

from agent.react.loop import react

__all__ = ["react"]
