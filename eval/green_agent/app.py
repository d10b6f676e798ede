"""The evaluator's server: A2A at `/`, plain REST at `/assess` and `/assess/stream`, and a health check.

In: an `Evaluator` and the card's URL. Out: a Starlette app. It has no authentication, and it calls the URLs that
clients send: run it only on loopback or in an isolated network.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from eval.a2a.http_requests import GONE, BodyLimit, while_there
from eval.a2a.jsonrpc import RecentTasks, served
from eval.errors import Busy
from eval.green_agent.assessment_run import Evaluator
from eval.green_agent.executor import AssessmentExecutor, agent_card
from eval.green_agent.request import AssessmentRequest, RequestUnusable, read_request

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
