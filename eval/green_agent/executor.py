"""The evaluator over A2A's JSON-RPC: a message → an assessment → status updates and one artifact with one data part.

In: the SDK's request context. Out: events on its queue. A message without a request leaves the task `input-required`, a
request that cannot be used ends it as `rejected`, both with a sentence that says what to send. An internal error leaves
it `failed`, without a stack trace.
"""

from __future__ import annotations

import logging
from contextlib import aclosing

from a2a.helpers.proto_helpers import new_data_part, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types.a2a_pb2 import AgentCard, AgentSkill, Message
from google.protobuf.json_format import MessageToDict

from eval.a2a.card import card
from eval.a2a.jsonrpc import begun_task
from eval.errors import Busy
from eval.green_agent.assessment_run import Evaluator
from eval.green_agent.request import WHAT_TO_SEND, RequestMissing, RequestUnusable, read_parts
from eval.version import VERSION

log = logging.getLogger(__name__)


class AssessmentExecutor(AgentExecutor):
    """Runs assessments; holds no state of any of them."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.message is not None
        updater = await begun_task(context, event_queue)

        def message(text: str) -> Message:
            return updater.new_agent_message([new_text_part(text)])

        try:
            sent = context.message.parts
            request = read_parts([MessageToDict(p.data) if p.WhichOneof("content") == "data" else p.text for p in sent])
            await updater.start_work()
            async with aclosing(self._evaluator.assessing(request)) as steps:
                async for step in steps:
                    if isinstance(step, str):
                        await updater.start_work(message(step))
                    else:
                        await updater.add_artifact([new_data_part(step)], name="assessment", last_chunk=True)
            await updater.complete()
        except RequestMissing as problem:
            await updater.requires_input(message(str(problem)))
        except (RequestUnusable, Busy) as problem:
            await updater.reject(message(str(problem)))
        except Exception:
            log.exception("An assessment failed inside")
            await updater.failed(message("Something went wrong inside."))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """The SDK cancels `execute` right after this; that ends the calls and the judging processes."""
        await TaskUpdater(event_queue, context.task_id or "", context.context_id or "").cancel()


def agent_card(url: str) -> AgentCard:
    """The evaluator's agent card for that URL. Raises CardUrlUnusable."""
    return card(
        url,
        name="text2sql evaluator",
        description=(
            "Asks text-to-SQL agents the questions of a task library, runs what they write read-only beside the gold "
            "query, and ranks them: execution accuracy with intervals, seven dimensions, kinds of mistakes."
        ),
        version=VERSION,
        skill=AgentSkill(
            id="assess-text-to-sql",
            name="Assess text-to-SQL agents",
            description=f"{WHAT_TO_SEND} The answer is one artifact with rankings, scores, task results.",
            tags=["evaluation", "benchmark", "sql", "text-to-sql"],
            examples=[WHAT_TO_SEND.removeprefix("Send JSON: ").removesuffix(".")],
        ),
    )
