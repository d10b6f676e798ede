"""Log lines of the whole process: structlog and the standard library's loggers, in one form, to standard error.

In: records of our own code and of every library. Out: a JSON object a line, or coloured text where standard error is a
terminal. A line has the time, level, logger, request id and run id. Removed are tokens and keys (by value in any place,
and by the name of their field) and passwords in URLs. Messages of exceptions are also removed, because they may quote
row values: an exception is logged with its type and its location.
"""

from __future__ import annotations

import logging
import re
import sys
import traceback
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

import structlog
from structlog.typing import EventDict, Processor

if TYPE_CHECKING:
    from agent.config import Settings

_SECRET_NAMES = re.compile(r"authorization|token$|api_?key|password|secret|cookie", re.I)
_IN_URL = re.compile(r"(?<=://)[^/\s@]*:[^@\s]*(?=@)")
_BEARER = re.compile(r"(?i)\bbearer\s+[A-Za-z0-9._~+/=-]+")
_KEY = re.compile(r"\bsk-[A-Za-z0-9_-]{8,}")
_HIDDEN = "***"
_FRAMES = 40


class _OurHandler(logging.StreamHandler[Any]):
    """Marks the handler as ours."""


def configure_logging(settings: Settings, stream: IO[str] | None = None, *, level: int | None = None) -> None:
    """Send every log record of the process to `stream` (default: standard error). A later call without a level keeps
    the previous level (initially info). Existing handlers that do not write to a terminal or pipe are kept."""
    stream = stream or sys.stderr
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.PositionalArgumentsFormatter(),
        where_it_failed,
        without_secrets(settings),
    ]
    renderer: Processor = (
        structlog.dev.ConsoleRenderer(colors=True)
        if stream.isatty()
        else structlog.processors.JSONRenderer(default=repr)
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        use_get_message=True,
    )
    handler = _OurHandler(stream)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    again = any(isinstance(other, _OurHandler) for other in root.handlers)
    replaced = (_OurHandler, logging.StreamHandler)
    root.handlers[:] = [*(other for other in root.handlers if type(other) not in replaced), handler]
    if level is not None or not again:
        root.setLevel(logging.INFO if level is None else level)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    for name in ("httpx", "httpx2", "httpcore", "openai", "sse_starlette", "mcp"):  # one line a request, with its body
        logging.getLogger(name).setLevel(logging.WARNING)


def where_it_failed(_: Any, __: str, event: EventDict) -> EventDict:
    """Put an exception's type and place into the line, never its message; remove the copies of the line's own message
    that other formatters leave on the record under other names."""
    for name in ("message", "color_message"):
        event.pop(name, None)
    info = event.pop("exc_info", None)
    error = sys.exc_info()[1] if info is True else info[1] if isinstance(info, tuple) else info
    if isinstance(error, BaseException):
        frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
        event["error"] = type(error).__name__
        event["at"] = [
            f"{frame.filename.rpartition('site-packages/')[2]}:{frame.lineno} {frame.name}" for frame in frames
        ]
    return event


def without_secrets(settings: Settings) -> Processor:
    """A processor that removes this process's tokens and keys, and anything that looks like one, from a line."""
    secrets = [settings.model.api_key.get_secret_value()] if settings.model.api_key else []
    if settings.server.tokens:
        secrets += [entry.partition("=")[2].strip() for entry in settings.server.tokens.get_secret_value().split(",")]
    secrets = [secret for secret in secrets if len(secret) >= 4]
    hide = _hider(secrets)

    def processor(_: Any, __: str, event: EventDict) -> EventDict:
        return {
            key: _HIDDEN if value and _SECRET_NAMES.search(key) else _cleaned(value, hide)
            for key, value in event.items()
        }

    return processor


def _cleaned(value: Any, hide: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {key: _cleaned(one, hide) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(one, hide) for one in value]
    if value is None or isinstance(value, bool | int | float | logging.LogRecord):
        return value
    return hide(str(value))


def _hider(secrets: list[str]) -> Callable[[str], str]:
    exact = re.compile("|".join(re.escape(s) for s in sorted(secrets, key=len, reverse=True))) if secrets else None

    def hide(text: str) -> str:
        if exact is not None:
            text = exact.sub(_HIDDEN, text)
        text = _IN_URL.sub(_HIDDEN, text)
        return _KEY.sub(_HIDDEN, _BEARER.sub(f"Bearer {_HIDDEN}", text))

    return hide
