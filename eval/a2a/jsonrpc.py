"""A2A's JSON-RPC endpoint, HTTP+JSON and the agent card, for protocol 1.0 and 0.3, on the official SDK.

In: the executor of messages, and its card. Out: Starlette routes, and a function that stops the runs they started. The
agent and the evaluator both use it, and `begun_task` as the first step of a message.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any

from a2a.auth.user import UnauthenticatedUser, User
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.cluster import TaskEventStream, VersionedTaskStore
from a2a.server.context import ServerCallContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandlerV2
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.routes.common import DefaultServerCallContextBuilder, StarletteUser
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import a2a_pb2 as pb
from a2a.utils.constants import A2A_JSON_MEDIA_TYPE, PROTOCOL_VERSION_0_3, PROTOCOL_VERSION_1_0
from pydantic import ValidationError
from starlette.authentication import SimpleUser
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from eval.a2a.card_url import CARD_PATHS, checked_card_url
from eval.a2a.http_requests import from_web_page

KEPT_TASKS = 1_000
"""Tasks that can still be queried; the oldest inactive one is dropped first."""
PARKED_SECONDS = 30.0
"""After this time, a task that waits for input is released; a follow-up resumes it from the store."""
CARD_SECONDS = 300
"""How long a client may cache the card."""
_CONTENT_TYPE_NOT_SUPPORTED = -32005


@dataclass(frozen=True, slots=True)
class RpcRoutes:
    routes: list[Route]
    aclose: Callable[[], Awaitable[None]]
    """Stops every active run; call it when the server shuts down."""


def served(
    executor: AgentExecutor,
    card: pb.AgentCard,
    store: RecentTasks | VersionedTaskStore,
    *,
    stream: TaskEventStream | None = None,
    path: str = "/",
    also_at: tuple[str, ...] = (),
) -> RpcRoutes:
    """JSON-RPC at `path`, with and without its trailing slash, and at the paths of `also_at`; HTTP+JSON below `path`;
    the card.

    Tasks belong to the client that the server identified (`request.scope["state"]["client"].name`). Without
    identification, all tasks belong to the same client. `stream`: the events of tasks of other processes, for a store
    that they share.
    """
    handler = DefaultRequestHandlerV2(
        agent_executor=executor,
        task_store=store,
        agent_card=card,
        event_stream=stream,
        interrupted_task_timeout=PARKED_SECONDS,
        validate_input_modes=True,
    )
    [endpoint] = create_jsonrpc_routes(handler, path, context_builder=_Callers(), enable_v0_3_compat=True)
    rpc = _with_checked_params(endpoint.endpoint)
    base = path.rstrip("/")
    routes = [Route(at, rpc, methods=["POST"]) for at in dict.fromkeys((path, f"{base}/", *also_at))]
    rest = create_rest_routes(handler, context_builder=_Callers(), enable_v0_3_compat=True, path_prefix=base)
    routes += [  # all but tenant routes; there are no tenants
        Route(route.path, _as_plain_json(route.endpoint), methods=[*(route.methods or ())])
        for route in rest
        if isinstance(route, Route)
    ]
    for card_path in CARD_PATHS:
        [served_card] = create_agent_card_routes(card, card_url=card_path, cache_control=f"max-age={CARD_SECONDS}")
        routes.append(Route(card_path, _dated(served_card.endpoint), methods=["GET"]))
    return RpcRoutes(routes, handler.aclose)


async def begun_task(context: RequestContext, event_queue: EventQueue) -> TaskUpdater:
    """The updater of the message's task; a new task is reported as submitted first."""
    assert context.message is not None
    task_id = context.task_id or ""
    if context.current_task is not None:
        return TaskUpdater(event_queue, task_id, context.current_task.context_id or "")
    context_id = context.context_id or ""
    submitted = pb.TaskStatus(state=pb.TaskState.TASK_STATE_SUBMITTED)
    await event_queue.enqueue_event(
        pb.Task(id=task_id, context_id=context_id, status=submitted, history=[context.message])
    )
    return TaskUpdater(event_queue, task_id, context_id)


_Endpoint = Callable[[Request], Awaitable[Response]]


def _as_plain_json(endpoint: _Endpoint) -> _Endpoint:
    """The SDK sends `application/a2a+json`. The specification's requirements for HTTP+JSON ask for `application/json`,
    so the SDK's type is for clients that name it."""

    async def call(request: Request) -> Response:
        response = await endpoint(request)
        kind = response.headers.get("content-type", "")
        if kind.startswith(A2A_JSON_MEDIA_TYPE) and A2A_JSON_MEDIA_TYPE not in request.headers.get("accept", ""):
            response.headers["content-type"] = "application/json"
        return response

    return call


def _dated(endpoint: _Endpoint) -> _Endpoint:
    """The card with a Last-Modified header: it changes only when the server starts."""
    began = formatdate(usegmt=True)

    async def card(request: Request) -> Response:
        response = await endpoint(request)
        response.headers["Last-Modified"] = began
        return response

    return card


def _with_checked_params(endpoint: _Endpoint) -> _Endpoint:
    """Refuses what a web page may send without being asked. The SDK answers wrong parameters of a 0.3 method with
    -32600 and pydantic's whole text; the protocol requires -32602. Everything else is left to the SDK, including bodies
    that are not JSON-RPC."""

    async def call(request: Request) -> Response:
        if from_web_page(request.headers.get("content-type", "")):
            refused = {"code": _CONTENT_TYPE_NOT_SUPPORTED, "message": "Send the request as application/json."}
            return JSONResponse({"jsonrpc": "2.0", "id": None, "error": refused}, 415)
        try:
            body = await request.json()
        except (ValueError, RecursionError):
            body = None
        if isinstance(body, dict) and (problem := _params_problem(body)):
            error = {"code": -32602, "message": "Invalid params", "data": problem}
            return JSONResponse({"jsonrpc": "2.0", "id": body.get("id"), "error": error})
        return await endpoint(request)

    return call


def _params_problem(body: dict[str, Any]) -> str | None:
    from a2a.compat.v0_3.jsonrpc_adapter import JSONRPC03Adapter  # before the SDK's routes it would import in a circle

    request_id, method = body.get("id"), body.get("method")
    model = JSONRPC03Adapter.METHOD_TO_MODEL.get(method) if isinstance(method, str) else None
    is_request = body.get("jsonrpc") == "2.0" and (request_id is None or type(request_id) in (str, int))
    if model is None or not is_request:
        return None
    try:
        model.model_validate(body)
    except ValidationError as error:
        wrong = [e for e in error.errors(include_input=False, include_url=False) if e["loc"][:1] == ("params",)]
        return "; ".join(f"{'.'.join(str(p) for p in e['loc'])}: {e['msg']}" for e in wrong[:5]) or None
    return None


class _Callers(DefaultServerCallContextBuilder):
    """The client, as identified by the server in front."""

    def build_user(self, request: Request) -> User:
        client = request.scope.get("state", {}).get("client")
        name = str(getattr(client, "name", "") or "")
        return StarletteUser(SimpleUser(name)) if name else UnauthenticatedUser()


class RecentTasks(InMemoryTaskStore):
    """The most recent tasks, in memory; the limit keeps a server from growing over weeks."""

    def __init__(self, kept: int = KEPT_TASKS) -> None:
        super().__init__()
        self._kept = kept
        self._order: OrderedDict[tuple[str, str], tuple[ServerCallContext, bool]] = OrderedDict()

    async def of_context(self, context_id: str, context: ServerCallContext) -> list[pb.Task]:
        """The client's tasks of one context, the newest first; at most 50."""
        wanted = pb.ListTasksRequest(context_id=context_id, page_size=50)
        return list((await self.list(wanted, context)).tasks)

    async def save(self, task: pb.Task, context: ServerCallContext) -> None:
        await super().save(task, context)
        at_rest = task.status.state not in (pb.TaskState.TASK_STATE_SUBMITTED, pb.TaskState.TASK_STATE_WORKING)
        key = (context.user.user_name, task.id)
        self._order[key] = (ServerCallContext(user=context.user), at_rest)
        self._order.move_to_end(key)
        while len(self._order) > self._kept:
            oldest = next((k for k, (_, rests) in self._order.items() if rests), None)
            if oldest is None or oldest == key:
                return
            await self.delete(oldest[1], self._order[oldest][0])

    async def delete(self, task_id: str, context: ServerCallContext) -> None:
        self._order.pop((context.user.user_name, task_id), None)
        await super().delete(task_id, context)


_BEARER = "bearer"


def card(
    url: str, *, name: str, description: str, version: str, skill: pb.AgentSkill, bearer_token: bool = False
) -> pb.AgentCard:
    """The card at that URL, the endpoint of both transports and protocol versions. `bearer_token`: whether a client
    must send one. Raises CardUrlUnusable."""
    url = checked_card_url(url)
    versions = (PROTOCOL_VERSION_1_0, PROTOCOL_VERSION_0_3)
    scheme = pb.HTTPAuthSecurityScheme(scheme="Bearer", description="A token that the server's owner gives out.")
    return pb.AgentCard(
        name=name,
        description=description,
        version=version,
        supported_interfaces=[
            *(pb.AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version=v) for v in versions),
            *(
                pb.AgentInterface(url=url.rstrip("/"), protocol_binding="HTTP+JSON", protocol_version=v)
                for v in versions
            ),
        ],
        capabilities=pb.AgentCapabilities(streaming=True, push_notifications=False, extended_agent_card=False),
        default_input_modes=["application/json", "text/plain"],
        default_output_modes=["application/json", "text/plain"],
        skills=[skill],
        security_schemes={_BEARER: pb.SecurityScheme(http_auth_security_scheme=scheme)} if bearer_token else {},
        security_requirements=[pb.SecurityRequirement(schemes={_BEARER: pb.StringList()})] if bearer_token else [],
    )
