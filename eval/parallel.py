"""Work spread over processes or over a Ray cluster, behind one `Submit`.

In: a picklable function of one record, and where it runs. Out: a `submit` whose futures end in any order. On Ray, each
worker process keeps what its function opens (databases, value indexes, models) and takes records in chunks, since a
task costs a millisecond and a question less. When a worker dies, its chunk is repeated record by record, so that
nothing is lost and only a record that kills its worker again and again fails.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import queue
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
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
DEATHS = 3
"""A record whose worker died this often fails."""
PACE = "text2sql-pace"
"""Name of the actor that spaces the model requests of all workers."""
_PASSED_ON = ("TEXT2SQL_", "OPENAI_")


@dataclass(slots=True)
class _Item:
    record: Record
    future: Future[Record]
    deaths: int = 0


def answered(work: Callable[[Record], Record], records: list[Record]) -> list[Record | str]:
    """Runs on a worker: the results of a chunk of records, each a text where the record could not be answered."""

    def one(record: Record) -> Record | str:
        try:
            return work(record)
        except LineError as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 - one record's failure must not end the others
            return f"{type(error).__name__}: {error}"

    return [one(record) for record in records]


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
    """Yield `submit` and how many records may be under way: this process or `jobs` processes, or workers of Ray where
    `on` names a cluster, which take `chunk` records at a time. Raises InputError for an unknown or unreachable one."""
    if on is not None and is_ray(on):
        with ray_workers(work, on, jobs if jobs > 1 else None, chunk=chunk, progress=progress) as crew:
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
    progress: TextIO | None = None,
) -> Iterator[tuple[Submit, int]]:
    """Yield `submit` and how many records may usefully be under way. `address`: `ray` starts a cluster on this machine,
    `auto` joins the running one, `ray://HOST:PORT` connects as a client. `jobs`: workers; None: one for each CPU.

    Raises InputError when Ray is not installed or the cluster cannot be reached.
    """
    # Ray reports dead workers on standard output, where results go
    with contextlib.redirect_stdout(sys.stderr), contextlib.ExitStack() as stack:
        ray = _connected(address, jobs, progress)
        stack.callback(ray.shutdown)
        count = jobs or max(1, int(ray.cluster_resources().get("CPU", 1)))
        pace = ray.remote(num_cpus=0)(Pace).options(name=PACE, get_if_exists=True).remote()  # noqa: F841 (kept alive)
        crew = _Crew(ray, work, count, chunk)
        stack.callback(crew.end)
        yield crew.submit, count * chunk * 2  # one chunk at work and the next one


def _connected(address: str, jobs: int | None, progress: TextIO | None) -> Any:
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
    if progress is not None:
        dashboard = getattr(context, "dashboard_url", None)
        cpus = int(ray.cluster_resources().get("CPU", 1))
        progress.write(f"Ray cluster: {cpus} CPUs" + (f", http://{dashboard}\n" if dashboard else "\n"))
        progress.flush()
    return ray


class _Crew:
    """Hands chunks of records to Ray, as many at once as there are workers."""

    def __init__(self, ray: Any, work: Callable[[Record], Record], workers: int, chunk: int) -> None:
        died = ray.exceptions
        self._deaths = (died.WorkerCrashedError, died.NodeDiedError, died.OutOfMemoryError)
        self._work = ray.put(work)
        self._answered = ray.remote(num_cpus=1, max_retries=0)(answered)
        self._workers = workers
        self._chunk = chunk
        self._events: queue.SimpleQueue[_Item | tuple[list[_Item], Future[Any]] | None] = queue.SimpleQueue()
        self._broken: NobodyWorks | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def submit(self, record: Record) -> Future[Record]:
        if self._broken is not None:
            raise self._broken
        item = _Item(record, Future())
        self._events.put(item)
        return item.future

    def end(self) -> None:
        """Hand out nothing more; what is under way ends with the connection."""
        self._events.put(None)
        self._thread.join(10)

    def _run(self) -> None:
        waiting: deque[_Item] = deque()
        under_way = 0
        while (event := self._events.get()) is not None:
            if isinstance(event, _Item):
                if event.future.set_running_or_notify_cancel():
                    waiting.append(event)
            else:
                under_way -= 1
                waiting.extendleft(self._unanswered(*event))
            while waiting and under_way < self._workers:
                items = [waiting.popleft()]
                while waiting and len(items) < self._chunk and not items[0].deaths + waiting[0].deaths:
                    items.append(waiting.popleft())
                under_way += 1
                done = self._answered.remote(self._work, [item.record for item in items]).future()
                done.add_done_callback(functools.partial(self._report, items))

    def _report(self, items: list[_Item], done: Future[Any]) -> None:
        self._events.put((items, done))

    def _unanswered(self, items: list[_Item], done: Future[Any]) -> Iterator[_Item]:
        """Hand on the results of a chunk. Yields the items to be tried again, each alone, as their worker died."""
        try:
            for item, result in zip(items, done.result(), strict=True):
                if isinstance(result, str):
                    item.future.set_exception(LineError(result))
                else:
                    item.future.set_result(result)
        except self._deaths as error:
            for item in items:
                item.deaths += 1
                if item.deaths < DEATHS:
                    yield item
                else:
                    reason = f"The worker of this line died {DEATHS} times: {first_line(error)}"
                    item.future.set_exception(LineError(reason))
        except Exception as error:  # noqa: BLE001 - no worker can take up the work; nothing is tried again
            reason = next((line for line in reversed(str(error).splitlines()) if line.strip()), "")
            self._broken = NobodyWorks(f"No worker could start on the cluster: {reason.strip()[:300]}")
            for item in items:
                item.future.set_exception(self._broken)
