"""The line protocol of the batch commands: one JSON object per line in and out, in the same order, with the same `id`.

In: lines of bytes and a function that submits one record. Out: one line for each, written as soon as it and all earlier
ones are finished. A line that cannot be read, or whose work fails, becomes `{"id", "error"}`, and the rest continues.
When the reader closes the output, the work stops quietly. Progress goes to standard error.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import queue
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from typing import Any, TextIO, cast

from eval.errors import InputError

Record = dict[str, Any]
Submit = Callable[[Record], "Future[Record]"]

INTERRUPTED = 130
"""Exit code after Ctrl-C, as in shells."""

_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class LineError(InputError):
    """This line cannot be answered; the message says why, in one sentence."""


class NobodyWorks(InputError):
    """No worker can start, so no line can be answered; the run ends."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of input. Exactly one of `record` and `problem` is set."""

    number: int
    """Line number, from 1."""
    id: Any
    """The record's own `id`; None when it has none or cannot be read."""
    record: Record | None
    problem: str | None


_Item = tuple[Line, "Future[Record] | None"] | InputError | None
"""A line with its work, a reason to stop, or the end."""


def read_line(number: int, raw: bytes) -> Line | None:
    """Parse one line; None when it is blank. Never raises."""
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
    except UnicodeDecodeError:
        return Line(number, None, None, f"line {number} is not UTF-8")
    if not text:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        return Line(number, None, None, f"line {number} is not JSON: {reason}")
    if not isinstance(value, dict):
        return Line(number, None, None, f"line {number} is not a JSON object")
    return Line(number, value.get("id"), value, None)


def encode(value: object) -> str:
    """One line of JSON with readable letters; every character that could control a terminal is escaped.

    Raises ValueError for NaN and infinities, which are not JSON."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def text_field(record: Record, name: str) -> str:
    """A required field that must be a non-empty text. Raises LineError."""
    value = record.get(name)
    if not isinstance(value, str) or not value.strip():
        raise LineError(f"{name!r} is missing, empty or not a text")
    return value


def answer_lines(
    source: Iterable[bytes], submit: Submit, out: TextIO, *, ahead: int = 1, progress: TextIO | None = None
) -> int:
    """Answer every line in order and return an exit code: 0, or 130 after Ctrl-C.

    `ahead`: how many records may be in progress at once. A closed output ends the work with 0: the reader needs no
    more. Raises InputError that reading `source` raises.
    """
    pending: queue.Queue[_Item] = queue.Queue(maxsize=max(1, ahead - 1))
    stopped = threading.Event()
    threading.Thread(target=_read, args=(source, submit, pending, stopped), daemon=True).start()
    started, answers, failures = time.monotonic(), 0, 0

    def finished() -> str:
        errors = f", {failures} with an error" if failures else ""
        return f"{answers} lines in {time.monotonic() - started:.1f} s{errors}"

    shown = Progress(progress, finished)
    under_way: list[Future[Record]] = []
    try:
        while (item := pending.get()) is not None:
            if isinstance(item, InputError):
                raise item
            line, future = item
            under_way = [future] if future else []
            result = _outcome(line, future)
            out.write(encode({"id": line.id, **result}) + "\n")
            out.flush()
            answers += 1
            failures += "error" in result and len(result) == 1
            shown.show()
    except BrokenPipeError:
        forget_output(out)
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        stopped.set()
        for future in [*under_way, *_drain(pending)]:
            future.cancel()
        shown.end()
    return 0


def _read(
    source: Iterable[bytes],
    submit: Submit,
    pending: queue.Queue[_Item],
    stopped: threading.Event,
) -> None:
    number = 0
    try:
        for number, raw in enumerate(source, 1):
            if stopped.is_set():
                return
            line = read_line(number, raw)
            if line is not None:
                pending.put((line, _submitted(submit, line.record) if line.record is not None else None))
    except InputError as error:
        pending.put(error)
    except OSError as error:
        pending.put((Line(number + 1, None, None, f"line {number + 1} cannot be read: {error.strerror}"), None))
    finally:
        pending.put(None)


def _submitted(submit: Submit, record: Record) -> Future[Record]:
    try:
        return submit(record)
    except Exception as error:  # noqa: BLE001 - one line's failure, whatever it is, must not end the others
        failed: Future[Record] = Future()
        failed.set_exception(error)
        return failed


def _outcome(line: Line, future: Future[Record] | None) -> Record:
    if future is None:
        return {"error": line.problem}
    try:
        result = future.result()
        encode(result)
    except NobodyWorks:
        raise
    except LineError as error:
        return {"error": str(error)}
    except CancelledError:
        return {"error": "cancelled"}
    except Exception as error:  # noqa: BLE001 - as above
        return {"error": f"{type(error).__name__}: {error}"}
    return result


def _drain(pending: queue.Queue[_Item]) -> Iterator[Future[Record]]:
    with contextlib.suppress(queue.Empty):
        while True:
            item = pending.get_nowait()
            if isinstance(item, tuple) and item[1]:
                yield item[1]


def forget_output(out: TextIO) -> None:
    """Redirect a broken standard output to nothing, so that the interpreter's last flush does not complain."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, out.fileno())
        os.close(nowhere)


class Progress:
    """What is finished, in one line: updated in place on a terminal, otherwise a line every ten seconds and, with
    `last`, one at the end."""

    def __init__(self, stream: TextIO | None, line: Callable[[], str], *, last: bool = True) -> None:
        self._stream = stream
        self._line = line
        self._live = bool(stream and stream.isatty())
        self._last = last or self._live
        self._shown = time.monotonic()

    def show(self) -> None:
        now = time.monotonic()
        if now - self._shown >= (0.2 if self._live else 10.0):
            self._shown = now
            self._say("" if self._live else "\n")

    def end(self) -> None:
        if self._last:
            self._say("\n")

    def _say(self, after: str) -> None:
        if self._stream is None:
            return
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(("\r" if self._live else "") + self._line() + after)
            self._stream.flush()


@contextlib.contextmanager
def workers(work: Callable[[Record], Record], jobs: int) -> Iterator[Submit]:
    """Yield a `submit` that runs `work` in this process (one job), or in that many processes (`work` must then be
    picklable).

    Leaving the block ends the processes without waiting for work that nobody will read.
    """
    if jobs <= 1:
        yield lambda record: _done(work, record)
        return
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_belong_to_the_parent)
    try:
        yield lambda record: pool.submit(work, record)
    finally:
        processes = list((pool._processes or {}).values())  # before shutdown, which clears them
        manager = cast("threading.Thread | None", pool._executor_manager_thread)
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()
        if manager is not None:
            manager.join()  # otherwise it may close its pipe while the ending interpreter wakes it through it


def _done(work: Callable[[Record], Record], record: Record) -> Future[Record]:
    future: Future[Record] = Future()
    try:
        future.set_result(work(record))
    except Exception as error:  # noqa: BLE001 - kept for whoever asks for the result
        future.set_exception(error)
    return future


def _belong_to_the_parent() -> None:
    """Leave interrupts to the parent, and end when it has ended, however that came."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if (parent := parent_process()) is not None:
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


@contextlib.contextmanager
def results(path: str | None, lines: Iterable[bytes]) -> Iterator[tuple[Iterable[bytes], TextIO]]:
    """Where results go, and the lines that are still to be answered: standard output and all of them, or a file that
    a run that was stopped continues. Lines that the file answers are passed on as blank ones, so that their numbers
    stay. Raises InputError when the file answers other lines, OSError when it cannot be written."""
    if path is None:
        yield lines, output()
        return
    with open(path, "ab+") as stream:  # noqa: PTH123 - the path is whatever the shell gave
        stream.seek(0)
        answered: list[Any] = []
        whole = 0
        for raw in stream:
            if not raw.endswith(b"\n"):
                break
            line = read_line(len(answered) + 1, raw)
            answered.append(line.id if line else None)
            whole += len(raw)
        stream.truncate(whole)  # a line that was cut off is answered again
        stream.seek(0, io.SEEK_END)
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="\n")
        yield _after(answered, lines, path), text
        text.detach()


def _after(answered: list[Any], lines: Iterable[bytes], path: str) -> Iterator[bytes]:
    waiting = iter(answered)
    left = len(answered)
    for number, raw in enumerate(lines, 1):
        line = read_line(number, raw) if left else None
        if not left or line is None:
            yield raw if not left else b"\n"
            continue
        if (known := next(waiting)) != line.id:
            raise InputError(f"{path} answers other lines: it has id {known!r} where line {number} has {line.id!r}.")
        left -= 1
        yield b"\n"


def output() -> TextIO:
    """Standard output as UTF-8, which JSON requires, regardless of the locale."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    return sys.stdout


@contextlib.contextmanager
def input_lines(path: str | None) -> Iterator[Iterable[bytes]]:
    """The file to read, or standard input for None and `-`. Raises OSError."""
    if path is None or path == "-":
        try:
            descriptor = sys.stdin.fileno()
        except io.UnsupportedOperation:  # replaced by an in-memory stream
            yield sys.stdin.buffer
        else:
            yield _descriptor_lines(descriptor)
        return
    with open(path, "rb") as stream:  # noqa: PTH123 - the path is whatever the shell gave, /dev/stdin included
        yield stream


def _descriptor_lines(descriptor: int) -> Iterator[bytes]:
    """Lines as they arrive. A daemon thread cannot wait on Python's own buffered standard input: if its lock is still
    held when the interpreter ends, the interpreter aborts."""
    started = b""
    while block := os.read(descriptor, 1 << 16):
        *lines, started = (started + block).split(b"\n")
        yield from lines
    if started:
        yield started
