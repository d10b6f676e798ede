"""A team's knowledge of its database, kept in Git: verified examples and a glossary.

In: files. Out: `Memory`, from which `remembered` selects what is relevant to one question. Examples are questions with
the SQL that answers them. A glossary defines business terms. Both are checked against the schema and the guard before
use. docs/memory.md has the formats.
"""

from agent.knowledge.memory.examples import Example
from agent.knowledge.memory.lines import BadMemory
from agent.knowledge.memory.loader import Memory, load_memory
from agent.knowledge.memory.prompt_text import remembered

__all__ = ["BadMemory", "Example", "Memory", "load_memory", "remembered"]
