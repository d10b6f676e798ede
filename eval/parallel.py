"""Work spread over processes or over a Ray cluster, behind one `Submit`.

In: a picklable function of one record, and where it runs. Out: a `submit` whose futures end in any order. On Ray, each
actor keeps what its function opens (databases, value indexes, models) and takes records in chunks, since a task costs
a millisecond and a question less. When an actor dies, its chunk is repeated record by record on another one, so that
nothing is lost and only a record that kills its worker again and again fails.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, NoReturn, TextIO

import typer

from eval.errors import InputError, first_line
from eval.jsonl import INTERRUPTED, LineError, NobodyWorks, Record, Submit, answer_lines, input_lines, results, workers


def _elsewhere(where: str | None) -> str | None:
    """The cluster that `--on` names; None for this machine."""
    try:
        return where if is_ray(where) else None
    except InputError as error:
        raise typer.BadParameter(str(error)) from None


File = Annotated[str | None, typer.Argument(metavar="FILE", help="Lines to read; default: standard input.")]
Jobs = Annotated[int, typer.Option(min=1, max=64, help="Processes at work.")]
On = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="WHERE",
        callback=_elsewhere,
        help="here (processes), ray (a cluster on this machine), auto, ray://HOST:PORT.",
    ),
]
Out = Annotated[
    str | None, typer.Option("--out", "-o", metavar="FILE", help="Write here; a run that was stopped goes on.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]


USAGE = 2
"""Exit code for a wrong option or an unreadable input; 0 otherwise, whatever the lines contain."""
CHUNK = 25
"""Records of one task."""
SLOW_CHUNK = 4
"""The same where a record takes seconds: what a death repeats, and what the last actor still has to do."""
UNDER_WAY = 2
"""Chunks that an actor has at once: one at work and the next one, so that it never waits."""
DEATHS = 3
"""A record whose worker died this often fails."""
PACE = "text2sql-pace"
"""Name of the actor that spaces the model requests of all workers."""
_PASSED_ON = ("TEXT2SQL_", "OPENAI_")
_POLL = 0.05

_Reply = tuple[str, Any]
"""("done", result), ("line", message of a LineError) or ("error", type and message)."""


@dataclass(slots=True)
class _Item:
    record: Record
    future: Future[Record]
    deaths: int = 0


class Worker:
    """Runs in an actor: a chunk of records, one after the other."""

    def __init__(self, work: Callable[[Record], Record]) -> None:
        self._work = work

    def run(self, records: list[Record]) -> list[_Reply]:
        return [self._one(record) for record in records]

    def _one(self, record: Record) -> _Reply:
        try:
            return "done", self._work(record)
        except LineError as error:
            return "line", str(error)
        except Exception as error:  # noqa: BLE001 - one record's failure must not end the others
            return "error", f"{type(error).__name__}: {error}"


class Pace:
    """Runs in one actor for all workers: when may the next request to an endpoint be sent?"""

    def __init__(self) -> None:
        self._next: dict[str, float] = {}

    def wait(self, endpoint: str, per_minute: int) -> float:
        """Seconds to wait before a request; each call takes one place in the row."""
        now = time.monotonic()
        turn = max(now, self._next.get(endpoint, now))
        self._next[endpoint] = turn + 60.0 / per_minute
        return turn - now


def is_ray(address: str | None) -> bool:
    """Whether `--on` names Ray. Raises InputError for anything else that is named."""
    if address is None or address == "here":
        return False
    if address in ("ray", "auto") or address.startswith("ray://"):
        return True
    raise InputError(f"--on {address!r} is none of: here, ray (a cluster on this machine), auto, ray://HOST:PORT")


@contextlib.contextmanager
def spread(
    work: Callable[[Record], Record],
    jobs: int,
    on: str | None,
    *,
    chunk: int = CHUNK,
    progress: TextIO | None = None,
) -> Iterator[tuple[Submit, int]]:
    """Yield `submit` and how many records may be under way: this process or `jobs` processes, or actors of Ray where
    `on` names a cluster, which take `chunk` records at a time. Raises InputError for an unknown or unreachable one."""
    if on is not None and is_ray(on):

        def say(text: str) -> None:
            if progress is not None:
                progress.write(f"{text}\n")
                progress.flush()

        with ray_workers(work, on, jobs if jobs > 1 else None, chunk=chunk, say=say) as crew:
            yield crew
    else:
        with workers(work, jobs) as submit:
            yield submit, jobs * 8


def results_in_order(
    work: Callable[[Record], Record],
    records: Iterable[Record],
    jobs: int,
    on: str | None,
    *,
    progress: TextIO | None = None,
) -> Iterator[Record]:
    """The results of all records, in the records' order, for runs that keep them in a folder of their own. Raises
    LineError for the first record whose work failed."""
    with spread(work, jobs, on, chunk=SLOW_CHUNK, progress=progress) as (submit, ahead):
        under_way: deque[Future[Record]] = deque()
        for record in records:
            under_way.append(submit(record))
            if len(under_way) >= ahead:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()


Opening = Callable[[], contextlib.AbstractAsyncContextManager[Callable[[Record], Awaitable[Record]]]]


class Lasting:
    """Work on an event loop, with what it opens: each process opens it once, with its first record, and keeps it. The
    opening has to be picklable."""

    _open: ClassVar[dict[str, tuple[asyncio.Runner, Callable[[Record], Awaitable[Record]], Any]]] = {}

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._key = uuid.uuid4().hex

    def __call__(self, record: Record) -> Record:
        if self._key not in self._open:
            runner, opened = asyncio.Runner(), self._opening()
            self._open[self._key] = runner, runner.run(opened.__aenter__()), opened
        runner, work, _ = self._open[self._key]
        return runner.run(_awaited(work(record)))


async def _awaited(result: Awaitable[Record]) -> Record:
    return await result


def answer_file(
    work: Callable[[Record], Record], file: str | None, jobs: int, on: str | None, out: str | None, quiet: bool
) -> NoReturn:
    """The body of a batch command: answer the lines of `file` (None: standard input) into `out` (None: standard
    output), here or on Ray, and exit the process with its code."""
    answer_with(lambda: spread(work, jobs, on, progress=None if quiet else sys.stderr), file, out, quiet)


def answer_with(
    submitting: Callable[[], contextlib.AbstractContextManager[tuple[Submit, int]]],
    file: str | None,
    out: str | None,
    quiet: bool,
) -> NoReturn:
    """The same with any `submit`; `submitting` is entered when input and output are open."""
    with (
        _exit_codes(file),
        input_lines(file) as given,
        results(out, given) as (lines, stream),
        submitting() as (submit, ahead),
    ):
        code = answer_lines(lines, submit, stream, ahead=ahead, progress=None if quiet else sys.stderr)
    raise SystemExit(code)


@contextlib.contextmanager
def _exit_codes(file: str | None) -> Iterator[None]:
    """2 with a sentence for an input or option that cannot be used, 130 after Ctrl-C."""
    try:
        yield
    except OSError as error:
        typer.echo(f"{error.filename or file}: {error.strerror}", err=True)
    except InputError as error:
        typer.echo(str(error), err=True)
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    else:
        return
    raise SystemExit(USAGE)


@contextlib.contextmanager
def ray_workers(
    work: Callable[[Record], Record],
    address: str,
    jobs: int | None,
    *,
    chunk: int = CHUNK,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[Submit, int]]:
    """Yield `submit` and how many records may usefully be under way. `address`: `ray` starts a cluster on this machine,
    `auto` joins the running one, `ray://HOST:PORT` connects as a client. `jobs`: actors; None: one for each CPU.

    Raises InputError when Ray is not installed or the cluster cannot be reached.
    """
    # Ray reports dead workers on standard output, where results go
    with contextlib.redirect_stdout(sys.stderr), contextlib.ExitStack() as stack:
        ray = _connected(address, jobs, say)
        stack.callback(ray.shutdown)
        actors = jobs or max(1, int(ray.cluster_resources().get("CPU", 1)))
        pace = ray.remote(num_cpus=0)(Pace).options(name=PACE, get_if_exists=True).remote()  # noqa: F841 (kept alive)
        crew = _Crew(ray, work, actors, chunk)
        stack.callback(crew.end)
        yield crew.submit, actors * chunk * UNDER_WAY


def _connected(address: str, jobs: int | None, say: Callable[[str], None]) -> Any:
    try:
        import ray
    except ImportError:
        raise InputError("--on needs Ray: pip install 'askwell[ray]'") from None
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anybody
    os.environ.setdefault("RAY_raylet_start_wait_time_s", "180")  # a busy machine starts slowly
    passed_on = {name: value for name, value in os.environ.items() if name.startswith(_PASSED_ON)}
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address == "ray":
        options |= {"num_cpus": jobs, "include_dashboard": None}
    else:
        options |= {"address": address, "runtime_env": {"env_vars": passed_on}}
    try:
        context = ray.init(**options)
    except Exception as error:  # noqa: BLE001 - ray raises many kinds, and all of them mean the same here
        raise InputError(f"No Ray cluster at {address!r}: {error}") from None
    dashboard = getattr(context, "dashboard_url", None)
    say(
        f"Ray cluster: {int(ray.cluster_resources().get('CPU', 1))} CPUs"
        + (f", http://{dashboard}" if dashboard else "")
    )
    return ray


@dataclass(slots=True)
class _Actor:
    handle: Any
    chunks: int = 0
    alone: bool = False
    """It works on a record whose worker died before, and gets nothing else meanwhile."""


@dataclass(slots=True)
class _Task:
    actor: _Actor
    items: list[_Item] = field(default_factory=list)


class _Crew:
    """The actors, and the thread that hands chunks to them."""

    def __init__(self, ray: Any, work: Callable[[Record], Record], actors: int, chunk: int) -> None:
        self._ray = ray
        self._chunk = chunk
        self._work = ray.put(work)
        self._class = ray.remote(num_cpus=1, max_restarts=0)(Worker)
        self._new: queue.SimpleQueue[_Item] = queue.SimpleQueue()
        self._again: deque[_Item] = deque()
        self._ended = threading.Event()
        self._broken: NobodyWorks | None = None
        self._actors = [self._hired() for _ in range(actors)]
        self._tasks: dict[Any, _Task] = {}
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def submit(self, record: Record) -> Future[Record]:
        if self._broken is not None:
            raise self._broken
        item = _Item(record, Future())
        self._new.put(item)
        return item.future

    def end(self) -> None:
        """Stop at once; work that nobody will read is dropped."""
        self._ended.set()
        self._thread.join(10)
        for actor in self._actors:
            with contextlib.suppress(Exception):
                self._ray.kill(actor.handle)

    def _hired(self) -> _Actor:
        return _Actor(self._class.remote(self._work))

    def _run(self) -> None:
        while not self._ended.is_set():
            self._hand_out()
            if not self._tasks:
                continue
            ready, _ = self._ray.wait(list(self._tasks), timeout=_POLL)
            for reference in ready:
                self._take(reference)

    def _hand_out(self) -> None:
        """Give each actor with room a chunk of what has come in; a record whose worker died is given alone."""
        for actor in sorted(self._actors, key=lambda a: a.chunks):
            if actor.chunks >= UNDER_WAY or actor.alone:
                continue
            actor.alone = bool(self._again) and actor.chunks == 0
            items = [self._again.popleft()] if actor.alone else self._collected(wait=not self._tasks)
            if not items:
                return
            reference = actor.handle.run.remote([item.record for item in items])
            actor.chunks += 1
            self._tasks[reference] = _Task(actor, items)

    def _collected(self, *, wait: bool) -> list[_Item]:
        items: list[_Item] = []
        with contextlib.suppress(queue.Empty):
            if wait:
                items.append(self._new.get(timeout=_POLL))
            while len(items) < self._chunk:
                items.append(self._new.get_nowait())
        return [item for item in items if item.future.set_running_or_notify_cancel()]

    def _take(self, reference: Any) -> None:
        task = self._tasks.pop(reference)
        task.actor.chunks -= 1
        task.actor.alone = False
        try:
            replies = self._ray.get(reference)
        except self._ray.exceptions.RayActorError as error:
            if error.actor_init_failed:
                self._give_up(task.items, error)
                return
            self._replace(task.actor)
            for item in task.items:
                item.deaths += 1
                if item.deaths >= DEATHS:
                    item.future.set_exception(
                        LineError(f"The worker of this line died {DEATHS} times: {first_line(error)}")
                    )
                else:
                    self._again.append(item)
        except Exception as error:  # noqa: BLE001 - whatever it is, it belongs to these records alone
            for item in task.items:
                item.future.set_exception(LineError(f"{type(error).__name__}: {first_line(error)}"))
        else:
            for item, reply in zip(task.items, replies, strict=True):
                kind, value = reply
                if kind == "done":
                    item.future.set_result(value)
                else:
                    item.future.set_exception(LineError(value))

    def _give_up(self, items: Sequence[_Item], error: Exception) -> None:
        """A worker that cannot start says why for all others; nothing is tried again."""
        reason = next((line for line in reversed(str(error).splitlines()) if line.strip()), "")
        self._broken = NobodyWorks(f"No worker could start on the cluster: {reason.strip()[:300]}")
        for item in items:
            item.future.set_exception(self._broken)

    def _replace(self, actor: _Actor) -> None:
        if actor in self._actors:
            self._actors.remove(actor)
            self._actors.append(self._hired())
