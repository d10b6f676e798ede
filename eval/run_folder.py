"""The folder of a long run: `run.json` has its settings, `results.jsonl` one line for each result.

In: settings and results as they arrive. Out: the earlier results, so that a killed run continues where it stopped. A
folder holds one run: different settings are refused by name, and so is a second process.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

from eval.errors import Text2SQLError
from eval.jsonl import encode
from eval.tasks.cache_folder import try_lock

FORMAT = 1
"""Version of both files."""


class RunItem(Protocol):
    """A result that can be stored in a run folder."""

    @property
    def key(self) -> tuple[str, str]:
        """What the result belongs to; of two results with the same key, the later one counts."""

    def record(self) -> dict[str, Any]:
        """The result as a JSON object."""

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """The result in a JSON object. Raises TypeError, KeyError, ValueError or AttributeError for any other
        object."""


Item = TypeVar("Item", bound=RunItem)


class RunFolderError(Text2SQLError):
    """The folder cannot be used for this run; the message says why."""


def load_run(folder: Path, kind: type[Item]) -> tuple[dict[str, Any], list[Item]]:
    """The settings and the results in a folder. A last line cut short by a kill is ignored. Raises RunFolderError."""
    settings = _settings(folder)
    results: dict[tuple[str, str], Item] = {}
    for number, line in enumerate(_whole_lines(folder / "results.jsonl"), 1):
        try:
            result = kind.from_record(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError):
            raise RunFolderError(f"{folder / 'results.jsonl'}: line {number} is no result") from None
        results[result.key] = result
    return settings, list(results.values())


class RunFolder(Generic[Item]):
    """A folder to which results are added. Use it as a context manager."""

    def __init__(self, folder: Path, settings: Mapping[str, Any], kind: type[Item]) -> None:
        """Open the folder, or create it. Raises RunFolderError, also when it holds results of other settings."""
        self.path = folder
        self.settings = {"format": FORMAT, **json.loads(json.dumps(settings))}
        self.results: list[Item] = []
        """What was there already, and what was added."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._out = (folder / "results.jsonl").open("ab")
        except OSError as error:
            raise RunFolderError(f"{folder} cannot be written: {error.strerror}") from None
        try:
            # until the file is closed, at the latest when the process ends
            if sys.platform != "win32" and not try_lock(self._out.fileno()):
                raise RunFolderError(f"another run is writing to {folder}")
            self._resume(kind)
        except BaseException:
            self._out.close()
            raise

    def _resume(self, kind: type[Item]) -> None:
        """Load the earlier results, or start a new run. A folder without results accepts any settings."""
        lines = _whole_lines(self.path / "results.jsonl")
        if lines and not (self.path / "run.json").exists():
            raise RunFolderError(f"{self.path} holds results without run.json; choose another folder")
        if lines:
            before, self.results = load_run(self.path, kind)
            now = self.settings
            differing = sorted(key for key in {**before, **now} if before.get(key) != now.get(key))
            if differing:
                changes = "; ".join(_change(key, before.get(key), now.get(key)) for key in differing)
                raise RunFolderError(f"{self.path} holds a run with other settings: {changes}. Choose another --out")
        else:
            _replace(self.path / "run.json", json.dumps(self.settings, indent=2, ensure_ascii=False) + "\n")
        self._out.truncate(sum(len(line) + 1 for line in lines))

    def add(self, result: Item) -> None:
        """Append one result; once this returns, it survives a kill of the process."""
        self.results.append(result)
        self._out.write(encode(result.record()).encode() + b"\n")
        self._out.flush()

    def __enter__(self) -> RunFolder[Item]:
        return self

    def __exit__(self, *_: object) -> None:
        self._out.close()


def _settings(folder: Path) -> dict[str, Any]:
    try:
        value = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    except OSError as error:
        raise RunFolderError(f"{folder} is not the folder of a run: run.json: {error.strerror}") from None
    except ValueError:
        raise RunFolderError(f"{folder / 'run.json'} is not JSON") from None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise RunFolderError(f"{folder / 'run.json'} is of another version")
    return value


def _change(key: str, before: Any, now: Any) -> str:
    if key == "tasks":  # a digest, meaningless to a reader
        return "the tasks differ"
    old, new = (json.dumps(value, ensure_ascii=False)[:200] for value in (before, now))
    return f"{key} was {old}, is {new}"


def _whole_lines(path: Path) -> list[bytes]:
    """The lines, without line feeds; a last line cut short by a kill is left out."""
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


def _replace(path: Path, text: str) -> None:
    """Write the whole file or nothing."""
    beside = path.with_name(path.name + f".{os.getpid()}.tmp")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)
