"""A kit: a folder that makes the agent better on one database, and that people can read, review and keep in Git.

In: a folder with any of `kit.yaml` (strategy, settings, parents), `instructions.md`, `glossary.yaml`,
`examples.jsonl`, `analysis.py` and `EVIDENCE.md`. Out: a `Kit`, named by the digest of its content. Raises `BadMemory`,
which names the bad line. docs/lab.md has the formats.
"""

from __future__ import annotations

import hashlib
import logging
import tempfile
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from agent.knowledge.memory.examples import read_examples
from agent.knowledge.memory.glossary import read_glossary
from agent.knowledge.memory.lines import BadMemory, Problem, text_of, yaml_node
from agent.knowledge.memory.retrieval import NO_GLOSSARY, Memory
from agent.knowledge.schema_context import estimate_tokens, within_budget
from agent.strategies import strategy
from eval.databases.base import Database
from eval.databases.types import DatabaseError
from eval.errors import Text2SQLError

log = logging.getLogger(__name__)

CONTENT = ("kit.yaml", "instructions.md", "glossary.yaml", "examples.jsonl", "analysis.py")
"""The files that a kit is named by."""
EVIDENCE = "EVIDENCE.md"
"""What the kit was measured to do; not part of its name."""
INSTRUCTION_TOKENS = 2_000
NOTE_TOKENS = 4_000
"""Maximum tokens of the analysis script's notes in a prompt; longer ones are cut at a line."""
NO_MEMORY = Memory()
KNOBS: dict[str, tuple[str, type, float, float]] = {
    "score_threshold": ("judging", float, 0.0, 1.0),
    "max_retries": ("judging", int, 0, 10),
    "schema_tokens": ("limits", int, 200, 100_000),
    "note_tokens": ("limits", int, 0, 100_000),
}
"""The settings that a kit may set: group, type, least, greatest."""


@dataclass(frozen=True, slots=True)
class Kit:
    digest: str = ""
    """12 hexadecimal digits; empty for the kit that changes nothing."""
    strategy: str = ""
    """Empty: as the settings say."""
    knobs: tuple[tuple[str, float], ...] = ()
    parents: tuple[str, ...] = ()
    memory: Memory = NO_MEMORY
    """Instructions, glossary, examples and the analysis script."""

    def settings(self, given: Mapping[str, Set[str]]) -> dict[str, dict[str, Any]]:
        """The settings that the kit changes, by group: those that the user has not `given`."""
        wanted: list[tuple[str, str, Any]] = [(KNOBS[name][0], name, value) for name, value in self.knobs]
        if self.strategy:
            wanted.append(("judging", "strategy", self.strategy))
        return {group: {n: v for g, n, v in wanted if g == group and n not in names} for group, names in given.items()}


def read_kit(folder: str | Path) -> Kit:
    """The kit in a folder, read again when a file has changed. Raises BadMemory."""
    path = Path(folder)
    if not path.is_dir():
        raise BadMemory(path, [Problem(1, "a kit must be a folder")])
    files = [path / name for name in CONTENT if (path / name).is_file()]
    if not files and not (path / EVIDENCE).is_file():
        raise BadMemory(path, [Problem(1, f"the folder has none of {', '.join(CONTENT)}")])
    return _read(path, tuple((file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files))


@lru_cache(maxsize=256)
def _read(path: Path, state: tuple[tuple[str, int, int], ...]) -> Kit:
    names = [name for name, _, _ in state]
    texts = {name: text_of(path / name) for name in names}
    instructions = texts.get("instructions.md", "").strip()
    if (size := estimate_tokens(instructions)) > INSTRUCTION_TOKENS:
        problem = f"{size:,} tokens of instructions; at most {INSTRUCTION_TOKENS:,} are taken"
        raise BadMemory(path / "instructions.md", [Problem(1, problem)])
    examples = read_examples(path / "examples.jsonl") if "examples.jsonl" in names else []
    glossary = read_glossary(path / "glossary.yaml") if "glossary.yaml" in names else NO_GLOSSARY
    chosen, knobs, parents = _header(path / "kit.yaml") if "kit.yaml" in names else ("", (), ())
    return Kit(
        digest=digest(texts),
        strategy=chosen,
        knobs=knobs,
        parents=parents,
        memory=Memory(tuple(examples), glossary, instructions, texts.get("analysis.py", "")),
    )


def digest(texts: dict[str, str]) -> str:
    """The name of a kit with these files."""
    digest = hashlib.sha256()
    for name in sorted(texts):
        digest.update(f"{name}\0{len(texts[name])}\0{texts[name]}\0".encode())
    return digest.hexdigest()[:12]


def _header(path: Path) -> tuple[str, tuple[tuple[str, float], ...], tuple[str, ...]]:
    """Strategy, knobs and parents of a `kit.yaml`. Raises BadMemory."""
    root = yaml_node(path)
    header = root.plain() or {}
    if not isinstance(root.value, dict) and header:
        raise BadMemory(path, [Problem(root.line, "strategy, settings and parents are expected")])
    unknown = set(header) - {"strategy", "settings", "parents"}
    problems = [Problem(1, f"{name!r} is none of strategy, settings, parents") for name in sorted(unknown)]
    chosen, settings, parents = header.get("strategy") or "", header.get("settings") or {}, header.get("parents") or []
    try:
        name = strategy(chosen).name if chosen else ""
    except (ValueError, AttributeError) as error:
        problems.append(Problem(1, str(error)))
    if not isinstance(parents, list) or not all(isinstance(one, str) for one in parents):
        problems.append(Problem(1, "parents must be a list of names"))
    knobs: list[tuple[str, float]] = []
    for knob, text in settings.items() if isinstance(settings, dict) else [("settings", "")]:
        value = _knob(knob, text)
        if isinstance(value, str):
            problems.append(Problem(1, value))
        else:
            knobs.append((knob, value))
    if problems:
        raise BadMemory(path, problems)
    return name, tuple(knobs), tuple(parents)


def _knob(name: str, text: Any) -> float | str:
    """The value of a setting, or what is wrong with it."""
    if name not in KNOBS:
        return f"{name!r} is none of {', '.join(KNOBS)}"
    _, kind, least, greatest = KNOBS[name]
    value: float | None
    try:
        value = int(text) if kind is int else float(text)
    except (TypeError, ValueError):
        value = None
    if value is None or not least <= value <= greatest:
        return f"{name} must be a number from {least:g} to {greatest:g}, not {str(text)[:40]!r}"
    return value


_kept: dict[tuple[str, str, str], str] = {}


def analysis_notes(script: str, database: Database) -> str:
    """What a kit's analysis script says of a database, cached while the data stay the same. Empty, with a line in the
    log, where the script fails or the system or engine cannot run it: the question is then answered without notes."""
    if not script.strip():
        return ""
    key = (script, database.url, database.data_version())
    notes = _kept.get(key)
    if notes is None:
        try:
            lines = run_analysis(script, database).strip().splitlines()
        except Text2SQLError as error:
            log.warning("The kit's analysis.py gave no notes: %s", error)
            lines = []
        while len(_kept) >= 64:
            _kept.pop(next(iter(list(_kept)), key), None)
        notes = _kept[key] = "\n".join(within_budget(lines, NOTE_TOKENS))
    return notes


def run_analysis(script: str, database: Database) -> str:
    """What the script prints, run sealed off on a copy. Raises ScriptFailed, ConfinementUnavailable, DatabaseError."""
    from eval.databases.sqlite import copy_sqlite
    from eval.untrusted_script import run_script

    with tempfile.TemporaryDirectory() as folder:
        try:
            copy_sqlite(database, Path(folder, "database.sqlite"))
        except OSError as error:
            raise DatabaseError(f"The database cannot be copied: {error.strerror}") from None
        return run_script(script, Path(folder))
