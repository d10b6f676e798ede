"""The ReAct loop: a generator that works in steps with tools, as an alternative to writing a query in one reply.

In: a request for SQL and the run's context. Out: a `SqlReply`, as of a model. `order` has the tools and which may
follow which, `tools` what each does, `loop` asks the model and keeps the bounds.
"""

from agent.react.loop import react

__all__ = ["react"]
