"""What was learned on a database, kept in one JSON file: each writer's prior, and weights.

In: a path and a name, `owner/database`. Out: a `LocalJudge`. The one before is kept beside it, so that `forget` brings
it back.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from eval.errors import Text2SQLError
from eval.tasks.cache_folder import write_private

OWNER = "local"
"""Whose the answers of the command line are."""


class BadJudge(Text2SQLError):
    """The file is not what `keep` writes."""


@dataclass(frozen=True, slots=True)
class LocalJudge:
    priors: dict[str, float] = field(default_factory=dict)
    """By the writer's name, the probability (0..1) that an answer of which nothing is seen is right."""
    weights: dict[str, float] | None = None
    """In place of the shipped ones; None where too few answers were judged, or they gained nothing."""
    answers: int = 0
    """From which it was learned."""
    without_vote: tuple[str, ...] = ()
    """Models whose opinion does not count, because a trial on this database showed that it tells nothing."""


def name_of(owner: str, database: str) -> str:
    return f"{owner}/{database}"


def local_judge(path: str | None, owner: str, database: str) -> LocalJudge | None:
    """What was learned on a database; None if nothing was. Raises BadJudge."""
    judges = kept(Path(path)).get(name_of(owner, database)) if path else None
    return judges[0] if judges else None


def kept(path: Path) -> Mapping[str, list[LocalJudge]]:
    """By `owner/database`, what holds there and what held before, the latest first. Raises BadJudge."""
    try:
        state = path.stat()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadJudge(f"{path} cannot be read: {error.strerror}") from None
    return _read(path, (state.st_size, state.st_mtime_ns))


def keep(path: Path, name: str, judge: LocalJudge) -> None:
    """Put a judge before the one that held. Raises BadJudge."""
    known = dict(kept(path))
    known[name] = [judge, *known.get(name, [])[:1]]
    _write(path, known)


def keep_vote(path: Path, name: str, model: str, *, has_vote: bool) -> None:
    """Give a model its vote on a database, or take it. Raises BadJudge."""
    held = (kept(path).get(name) or [LocalJudge()])[0]
    others = tuple(m for m in held.without_vote if m != model)
    keep(path, name, replace(held, without_vote=others if has_vote else (*others, model)))


def forget(path: Path, name: str) -> bool:
    """Bring back what held before, or the shipped judge. False if nothing was learned there. Raises BadJudge."""
    known = dict(kept(path))
    if not known.get(name):
        return False
    known[name] = known[name][1:]
    _write(path, {n: judges for n, judges in known.items() if judges})
    return True


def _write(path: Path, known: Mapping[str, list[LocalJudge]]) -> None:
    """In one step, so that a reader never sees half a file."""
    text = json.dumps({name: [asdict(judge) for judge in judges] for name, judges in known.items()}, indent=1)
    try:
        write_private(path, text + "\n")
    except OSError as error:
        raise BadJudge(f"{path} cannot be written: {error.strerror}") from None


@lru_cache(maxsize=16)
def _read(path: Path, _: tuple[int, int]) -> dict[str, list[LocalJudge]]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return {name: [_judge(one) for one in judges] for name, judges in document.items()}
    except (OSError, ValueError, TypeError, AttributeError, KeyError) as error:
        raise BadJudge(f"{path} holds no learned judge: {error}") from None


def _judge(record: dict[str, Any]) -> LocalJudge:
    priors = {str(name): _number(value, 0.0, 1.0) for name, value in record["priors"].items()}
    weights = record["weights"]
    if weights is not None:
        weights = {str(name): _number(value, -20.0, 20.0) for name, value in weights.items()}
    without = tuple(str(name) for name in record.get("without_vote", ()))
    return LocalJudge(priors, weights, int(record["answers"]), without)


def _number(value: object, least: float, most: float) -> float:
    number = float(value) if isinstance(value, int | float) else math.nan
    if not least <= number <= most:
        raise ValueError(f"{value!r} is not a number from {least:g} to {most:g}")
    return number
