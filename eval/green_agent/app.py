"""The evaluator's server: A2A at `/`, plain REST at `/assess` and `/assess/stream`, and a health check.

Over A2A a message without a request leaves the task `input-required`, a request that cannot be used ends it as
`rejected`, both with a sentence that says what to send. An internal error leaves it `failed`, without a stack trace.

In: an `Evaluator` and the card's URL. Out: a Starlette app. It has no authentication, and it calls the URLs that
clients send: run it only on loopback or in an isolated network.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from a2a.helpers.proto_helpers import new_data_part, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types.a2a_pb2 import AgentCard, AgentSkill, Message
from google.protobuf.json_format import MessageToDict
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from eval.a2a.http_requests import GONE, BodyLimit, while_there
from eval.a2a.jsonrpc import RecentTasks, begun_task, card, served
from eval.errors import Busy
from eval.green_agent.assessment_run import Evaluator
from eval.green_agent.request import (
    WHAT_TO_SEND,
    AssessmentRequest,
    RequestMissing,
    RequestUnusable,
    read_parts,
    read_request,
)
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


MAX_BYTES = 1024 * 1024
"""Size limit of one request body."""


def build_app(evaluator: Evaluator, card_url: str) -> Starlette:
    """The app with a card for `card_url`. Raises CardUrlUnusable."""
    rpc = served(AssessmentExecutor(evaluator), agent_card(card_url), RecentTasks())

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await rpc.aclose()

    async def assess(request: Request) -> Response:
        try:
            given = json.loads(await request.body())
        except (ValueError, RecursionError):
            return JSONResponse({"error": "The request is not JSON."}, 400)
        try:
            asked = read_request(given)
            if "text/event-stream" in request.headers.get("accept", ""):
                return _events(evaluator, asked, as_task=False)
            if request.url.path.endswith("/stream"):
                return _events(evaluator, asked, as_task=True)
            artifact = await while_there(request, _whole(evaluator, asked))
            if artifact is None:
                return JSONResponse(None, GONE)
            return JSONResponse({**artifact, "status": "completed", "artifact": artifact})
        except Busy as busy:
            return JSONResponse({"error": str(busy)}, 503)
        except RequestUnusable as problem:
            return JSONResponse({"error": str(problem)}, 400)

    routes = [
        Route("/assess", assess, methods=["POST"]),
        Route("/assess/stream", assess, methods=["POST"]),
        Route("/health", _healthy),
        Route("/ready", _healthy),
        Route("/", _about),
        *rpc.routes,
    ]
    limit = Middleware(BodyLimit, most=MAX_BYTES, refusal={"error": f"More than {MAX_BYTES:,} bytes."})
    return Starlette(routes=routes, lifespan=lifespan, middleware=[limit])


async def _healthy(_: Request) -> JSONResponse:
    return JSONResponse({"status": "ok"})


async def _about(_: Request) -> JSONResponse:
    return JSONResponse(
        {
            "name": "text2sql evaluator",
            "card": "/.well-known/agent-card.json",
            "endpoints": ["POST /", "POST /assess", "POST /assess/stream", "GET /health", "GET /ready"],
        }
    )


async def _whole(evaluator: Evaluator, asked: AssessmentRequest) -> dict[str, Any]:
    async with aclosing(evaluator.assessing(asked)) as steps:
        async for step in steps:
            if isinstance(step, dict):
                return step
    raise AssertionError("an assessment ends with its artifact")


def _events(evaluator: Evaluator, asked: AssessmentRequest, *, as_task: bool) -> Response:
    """An assessment as server-sent events: `progress` with a sentence, then `artifact`, or `error`; `as_task`: objects
    with a status, as tasks of A2A have it. It stops when the client disconnects."""
    from sse_starlette import EventSourceResponse

    def sent(event: dict[str, Any]) -> dict[str, str]:
        return {"data": json.dumps(event)}

    async def events() -> AsyncIterator[dict[str, str]]:
        try:
            async with aclosing(evaluator.assessing(asked)) as steps:
                async for step in steps:
                    if isinstance(step, str):
                        kind = {"status": "working"} if as_task else {"event": "progress"}
                        yield sent({**kind, "message": step})
                    elif as_task:
                        yield sent({"status": "completed", "message": "Done.", "artifact": step})
                    else:
                        yield sent({"event": "artifact", "data": step})
        except (Busy, RequestUnusable) as problem:
            text = str(problem)
            yield sent({"status": "error", "error": text} if as_task else {"event": "error", "message": text})

    return EventSourceResponse(events(), headers={"Cache-Control": "no-store, no-transform"})
