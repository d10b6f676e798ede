"""Loads a `Memory` from paths and reloads it when a file has changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from agent.knowledge.memory.examples import Example, read_examples
from agent.knowledge.memory.glossary import Glossary, read_glossary
from agent.knowledge.memory.lines import BadMemory, Problem

NO_GLOSSARY = Glossary()


@dataclass(frozen=True, slots=True)
class Memory:
    examples: tuple[Example, ...] = ()
    glossary: Glossary = NO_GLOSSARY
    instructions: str = ""
    """Instructions of a kit, for a model that writes or reviews queries."""
    analysis: str = ""
    """A kit's script that prints notes on the database."""

    def joined(self, other: Memory) -> Memory:
        """Both; where both answer a question or define a term, this memory's own entry counts."""
        return replace(
            self.with_examples(other.examples),
            glossary=self.glossary.joined(other.glossary),
            instructions=self.instructions or other.instructions,
            analysis=self.analysis or other.analysis,
        )

    def with_examples(self, more: Sequence[Example]) -> Memory:
        """This memory with confirmed examples added; a question that a file answers keeps the file's SQL."""
        known = {(e.question.casefold(), e.db) for e in self.examples}
        new = [e for e in more if (e.question.casefold(), e.db) not in known]
        return replace(self, examples=(*self.examples, *new))


def load_memory(examples: str | None, glossary: str | None) -> Memory:
    """The content of the files. `examples` is a file or a folder of files. Raises BadMemory."""
    collected: list[Example] = []
    for path in _files(Path(examples)) if examples else ():
        collected += _examples(path, _state(path))
    terms = NO_GLOSSARY
    if glossary:
        path = Path(glossary)
        terms = _glossary(path, _state(path))
    return Memory(tuple(collected), terms)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(p for p in path.iterdir() if p.suffix.lower() in (".jsonl", ".ndjson", ".yaml", ".yml"))


def _state(path: Path) -> tuple[int, int]:
    try:
        state = path.stat()
    except OSError as error:
        raise BadMemory(path, [Problem(1, f"the file cannot be read: {error.strerror}")]) from None
    return state.st_size, state.st_mtime_ns


@lru_cache(maxsize=64)
def _examples(path: Path, _: tuple[int, int]) -> tuple[Example, ...]:
    return tuple(read_examples(path))


@lru_cache(maxsize=16)
def _glossary(path: Path, _: tuple[int, int]) -> Glossary:
    return read_glossary(path)
