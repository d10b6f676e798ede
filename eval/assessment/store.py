"""The folder of a run: `run.json` says what was asked of whom, `results.jsonl` has one line for each result.

In: settings and results as they come. Out: what was there before, so that a run that was killed goes on where it
stopped. A folder takes results of one run only: other settings are refused, naming those that differ, and so is a
second process.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from eval.assessment.types import TaskResult
from eval.jsonl import encode

FORMAT = 1


class StoreError(Exception):
    """The folder cannot be used for this; the message says why."""


def load_run(folder: Path) -> tuple[dict[str, Any], list[TaskResult]]:
    """The settings and results in a folder. A last line that a kill cut short is left out. Raises StoreError."""
    settings = _settings(folder)
    found: dict[tuple[str, str], TaskResult] = {}
    for number, line in enumerate(_whole_lines(folder / "results.jsonl"), 1):  # a later line counts
        try:
            result = TaskResult.from_record(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError):
            raise StoreError(f"{folder / 'results.jsonl'}: line {number} is no result") from None
        found[result.participant, result.task_id] = result
    return settings, list(found.values())


class RunFolder:
    """A folder that results are added to. Use as a context manager."""

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        """Open or make it. Raises StoreError, when it holds results under other settings among others."""
        self.path = folder
        self.settings = {"format": FORMAT, **json.loads(json.dumps(settings))}
        self.results: list[TaskResult] = []
        """What was there already."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._out = (folder / "results.jsonl").open("ab")
        except OSError as error:
            raise StoreError(f"{folder} cannot be written: {error.strerror}") from None
        try:
            _lock(self._out, folder)
            self._take()
        except BaseException:
            self._out.close()
            raise

    def _take(self) -> None:
        """Find what is there, or begin. A folder without a result is free for other settings."""
        lines = _whole_lines(self.path / "results.jsonl")
        if lines and not (self.path / "run.json").exists():
            raise StoreError(f"{self.path} holds results without run.json; choose another folder")
        if lines:
            before, self.results = load_run(self.path)
            _refuse_other(self.path, before, self.settings)
        else:
            _write_whole(self.path / "run.json", json.dumps(self.settings, indent=2, ensure_ascii=False) + "\n")
        self._out.truncate(sum(len(line) + 1 for line in lines))

    def add(self, result: TaskResult) -> None:
        """Append one result; it survives a kill of this process as soon as this returns."""
        self.results.append(result)
        self._out.write(encode(result.record()).encode() + b"\n")
        self._out.flush()

    def without(self, keep: set[tuple[str, str]]) -> None:
        """Forget what is known of all others; their results are asked for anew, and the later line counts."""
        self.results = [r for r in self.results if (r.participant, r.task_id) in keep]

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self._out.close()


def _settings(folder: Path) -> dict[str, Any]:
    try:
        value = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    except OSError as error:
        raise StoreError(f"{folder} is not the folder of a run: run.json: {error.strerror}") from None
    except ValueError:
        raise StoreError(f"{folder / 'run.json'} is not JSON") from None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise StoreError(f"{folder / 'run.json'} is of another version")
    return value


def _refuse_other(folder: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    differ = [key for key in {**before, **now} if before.get(key) != now.get(key)]
    if differ:
        told = "; ".join(_changed(key, before.get(key), now.get(key)) for key in sorted(differ))
        raise StoreError(f"{folder} holds a run with other settings: {told}. Choose another --out")


def _changed(key: str, before: Any, now: Any) -> str:
    if key == "tasks":  # a digest, which tells nobody anything
        return "the tasks are others"
    was, is_now = (json.dumps(value, ensure_ascii=False)[:200] for value in (before, now))
    return f"{key} was {was}, is {is_now}"


def _whole_lines(path: Path) -> list[bytes]:
    """Without line feeds; a last line that a kill cut short is left out."""
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


def _lock(file: BinaryIO, folder: Path) -> None:
    """Held until the file is closed, by the end of the process at the latest. Raises StoreError."""
    if sys.platform == "win32":
        return
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise StoreError(f"another run is writing to {folder}") from None


def _write_whole(path: Path, text: str) -> None:
    beside = path.with_name(path.name + f".{os.getpid()}.tmp")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)
