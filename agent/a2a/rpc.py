"""The agent's JSON-RPC endpoint and its card, and a standalone app with both doors; `eval.a2a.jsonrpc` has the
protocol.

In: settings, and the public URL of the endpoint. Out: Starlette routes, and a function that stops their tasks; a
FastAPI app for any ASGI server.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from typing import Any
from urllib.parse import urlsplit

from a2a.helpers.proto_helpers import new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types.a2a_pb2 import AgentCard, AgentSkill, Message, Role
from fastapi import FastAPI
from google.protobuf.json_format import MessageToDict

from agent.a2a.answer import answered, answering
from agent.a2a.rest import MAX_BYTES, rest_router
from agent.a2a.shared_tasks import Place, SharedEvents, SharedTasks
from agent.a2a.task import InputMissing, TaskAnswer, TaskContext, TaskUnusable, read_parts, read_task
from agent.config import Settings
from agent.events import Event
from agent.models import OFFLINE
from agent.models.protocol import Model
from agent.server.middleware.addresses import OriginCheck, listed
from agent.server.middleware.request_limits import Limits
from agent.server.middleware.tokens import Authentication, Tokens, tokens_needed
from eval.a2a.http_requests import BodyLimit
from eval.a2a.jsonrpc import RecentTasks, RpcRoutes, begun_task, card, served
from eval.schema import ALL_DIALECTS
from eval.version import VERSION

log = logging.getLogger(__name__)

EXAMPLE = {
    "task_id": "t1",
    "question": "How many customers are there?",
    "schema": {"tables": {"customers": {"columns": [{"name": "id", "type": "INTEGER", "primary_key": True}]}}},
    "dialect": "sqlite",
}
"""A whole task, as the card shows it."""
MAX_SENTENCE = 400
_STEPS = {
    "schema_analyzer": "Reading the schema",
    "query_generator": "Writing SQL",
    "executor_eval": "Checking the SQL",
}


class SqlExecutor(AgentExecutor):
    """A message → a run → status updates and one artifact. A task that is answered is `completed` with one artifact of
    one text part, the JSON of the contract; so is one for which no SQL was found, whose JSON holds the error. A message
    that holds no task leaves it `input-required`, with a message that says what to send. The next message is read
    together with the earlier ones. A task without a schema continues the conversation of its context: it takes the
    schema from there, and may refer to the earlier questions. A fault of this program makes it `failed`, without a
    stack trace.

    `store`: the tasks of this endpoint, in which a context's schema is looked up."""

    def __init__(self, config: Settings, store: RecentTasks | SharedTasks, model: Model | None = None) -> None:
        self._config = config
        self._store = store
        self._model = model
        self._working: dict[str, TaskUpdater] = {}
        self._nudges: set[asyncio.Task[None]] = set()

    def cancelled_elsewhere(self, task_id: str) -> None:
        """Another process has stored that this task is cancelled. The SDK sees it with the next status, and then stops
        the work."""
        if (updater := self._working.get(task_id)) is not None:
            nudge = asyncio.create_task(updater.start_work())
            self._nudges.add(nudge)
            nudge.add_done_callback(self._nudges.discard)

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.message is not None
        earlier = [*context.current_task.history] if context.current_task else []
        updater = await begun_task(context, event_queue)
        try:
            known = TaskContext()  # what the earlier tasks of this context leave for the next one
            tasks = await self._store.of_context(updater.context_id, context.call_context)
            for task_before in reversed([one for one in tasks if one.id != updater.task_id]):
                given: dict[str, Any] = (
                    json.loads(task_before.artifacts[0].parts[0].text) if task_before.artifacts else {}
                )
                known.heard(_parts([*task_before.history]), given)
            task = read_parts(_parts([*earlier, context.message]), self._config.database.dialect, known)
        except InputMissing as problem:
            await updater.requires_input(updater.new_agent_message([_part(problem.answer)]))
            return
        except TaskUnusable as problem:
            await updater.add_artifact([_part(problem.answer)], name="answer", last_chunk=True)
            await updater.complete()
            return
        try:
            await updater.start_work()
            self._working[updater.task_id] = updater
            try:
                async with aclosing(answering(task, self._config, self._model)) as events:
                    async for event in events:
                        if isinstance(event, TaskAnswer):
                            await updater.add_artifact([_part(event)], name="answer", last_chunk=True)
                        elif text := _progress(event):
                            await updater.start_work(updater.new_agent_message([new_text_part(text)]))
            finally:
                self._working.pop(updater.task_id, None)
            await updater.complete()
        except Exception:
            log.exception("A task failed inside")
            failure = TaskAnswer(sql="", error="Something went wrong inside.", task_id=task.task_id)
            await updater.failed(updater.new_agent_message([_part(failure)]))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """The SDK cancels `execute` right after this, which closes the run: its model call and its SQL stop."""
        await TaskUpdater(event_queue, context.task_id or "", context.context_id or "").cancel()


def _progress(event: Event) -> str | None:
    """One sentence for an event that adds information, for clients that stream. Names and messages in it come from the
    task's own data."""
    if event.event == "node" and event.status == "running" and event.node in _STEPS:
        again = f" (attempt {event.attempt})" if event.attempt and event.attempt > 1 else ""
        return f"{_STEPS[event.node]}{again}."
    if event.event == "retry":
        return " ".join(event.data.feedback.split())[:MAX_SENTENCE]
    if event.event == "revision":
        return " ".join(event.data.reasoning.split())[:MAX_SENTENCE]
    return None


def _part(answer: TaskAnswer) -> Any:
    """JSON in a text part, which clients that join the parts of an answer read as they are."""
    return new_text_part(json.dumps(answer.wire(), ensure_ascii=False), media_type="application/json")


def _parts(messages: list[Message]) -> Iterator[Any]:
    """What the user sent, in order: texts and data values. A message that is in the history already comes once."""
    for message in {m.message_id: m for m in messages}.values():
        for part in message.parts if message.role != Role.ROLE_AGENT else ():
            if part.WhichOneof("content") == "data":
                yield MessageToDict(part.data)
            elif part.text:
                yield part.text


def agent_card(url: str, *, bearer_token: bool = False) -> AgentCard:
    """The card of this agent at that URL; `bearer_token`: whether clients need one. Raises CardUrlUnusable."""
    return card(
        url,
        name="text2sql",
        description=(
            "Writes one read-only SQL query for a question in plain words about a database whose structure comes with "
            "the question. The query is checked on an empty database of that structure before it is handed out."
        ),
        version=VERSION,
        bearer_token=bearer_token,
        skill=AgentSkill(
            id="text-to-sql",
            name="Text to SQL",
            description=(
                "A task is JSON in a data part or a text part: question, schema (tables with their columns) and "
                f"dialect ({', '.join(ALL_DIALECTS)}). The answer is JSON in one text part: sql and reasoning, or an "
                "empty sql and error; task_id is echoed."
            ),
            tags=["sql", "text-to-sql", "database", *ALL_DIALECTS],
            examples=[json.dumps(EXAMPLE)],
        ),
    )


def rpc_routes(
    config: Settings,
    card_url: str,
    *,
    path: str = "/",
    also_at: tuple[str, ...] = (),
    model: Model | None = None,
    place: Callable[[], Place] | None = None,
) -> RpcRoutes:
    """The endpoint at `path` and `also_at`, and the card that says `card_url`. Tasks belong to the authenticated client
    (`request.scope["state"]["client"].name`); without one, all tasks share one owner. `place`: where all processes of
    the server keep tasks; None: in the memory of this one. Raises CardUrlUnusable."""
    own_card = agent_card(card_url, bearer_token=tokens_needed(config.server))
    if place is None:
        store = RecentTasks()
        return served(SqlExecutor(config, store, model), own_card, store, path=path, also_at=also_at)
    shared = SharedTasks(place)
    executor = SqlExecutor(config, shared, model)
    shared.cancelled_elsewhere = executor.cancelled_elsewhere
    return served(executor, own_card, shared, stream=SharedEvents(place), path=path, also_at=also_at)


def build_app(config: Settings, card_url: str, *, model: Model | None = None) -> FastAPI:
    """Plain REST and JSON-RPC beside each other, no page, no state on disk; the card shows `card_url`. The app accepts
    loopback host names, its card's host and TEXT2SQL_SERVER_HOSTS, and refuses pages of other origins. Without tokens
    in the settings it authenticates nobody, as evaluators expect; then it must listen on loopback or behind a proxy
    that authenticates. `model`: None means the model of the settings. Raises CardUrlUnusable, and TokensInvalid for
    unusable tokens."""
    rpc = rpc_routes(config, card_url, model=model)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        # Run the card's example once, without a model, so that no task waits a second for the graph to load
        app.state.warming = asyncio.ensure_future(answered(read_task(EXAMPLE), config, OFFLINE))
        try:
            yield
        finally:
            app.state.warming.cancel()
            await asyncio.gather(rpc.aclose(), app.state.warming, return_exceptions=True)

    app = FastAPI(title="text2sql over A2A", lifespan=lifespan)
    app.include_router(rest_router(config, model=model))
    app.router.routes.extend(rpc.routes)
    too_large = TaskAnswer(sql="", error=f"More than {MAX_BYTES:,} bytes.").wire()
    app.add_middleware(BodyLimit, most=MAX_BYTES, refusal=too_large)
    tokens = Tokens.of(config.server)
    if tokens_needed(config.server):
        app.add_middleware(Authentication, tokens=tokens, limits=Limits(config.server))
    hosts = {*listed(config.server.hosts), urlsplit(card_url).hostname or ""}
    app.add_middleware(OriginCheck, needed=tokens.needed, hosts=frozenset(hosts), origins=frozenset())
    return app
