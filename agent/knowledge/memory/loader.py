"""Loads a `Memory` from paths and reloads it when a file has changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agent.knowledge.memory.examples import Example, read_examples
from agent.knowledge.memory.glossary import Glossary, read_glossary
from agent.knowledge.memory.lines import kept_while_unchanged

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
    files = [Path(examples)] if examples else []
    if files and files[0].is_dir():
        files = sorted(p for p in files[0].iterdir() if p.suffix.lower() in (".jsonl", ".ndjson", ".yaml", ".yml"))
    collected = tuple(example for path in files for example in _examples(path))
    return Memory(collected, _glossary(Path(glossary)) if glossary else NO_GLOSSARY)


_examples = kept_while_unchanged(read_examples)
_glossary = kept_while_unchanged(read_glossary)
