"""Starts a summary before its query is judged, and drops it when it is not needed.

In: an attempt, and the run's context, which holds the started summary, a `SummaryAhead`.
"""

from __future__ import annotations

from collections.abc import Callable

from agent.models.protocol import SummaryRequest
from agent.runtime.attempts import doubts, passes
from agent.runtime.context import RunContext
from agent.runtime.summary_ahead import SummaryAhead
from agent.state import AgentState, QueryResult, standalone


def begin_summary(state: AgentState, best: Callable[[], QueryResult], context: RunContext) -> None:
    """Start the summary of an attempt; `best` makes it with the best score that a judge can give it. Does so only if
    the strategy would otherwise call the judge and the summarizing model one after the other."""
    strategy, threshold = context.strategy, context.threshold
    capable = context.model.capabilities.remote and not context.model.capabilities.exact_summaries
    asked_for = strategy.summary_ahead and strategy.summary and strategy.judge and not strategy.verify_rounds
    single = len(state["plan"].tasks) == 1 and context.summary_ahead is None
    if not (capable and asked_for and single and context.execute):
        return
    expected = best()
    if passes(expected, threshold):
        request = SummaryRequest(standalone(state), state["plan"], (expected,), doubts((expected,), threshold))
        context.summary_ahead = SummaryAhead(request, context.model)


async def drop_summary(context: RunContext) -> None:
    """Cancel the summary of a query that did not pass, or of a run that ends without one."""
    ahead, context.summary_ahead = context.summary_ahead, None
    if ahead is not None:
        await ahead.cancel()
