"""What a team knows of its database and keeps in Git: verified examples and a glossary.

In: files. Out: `Memory`, of which `remembered` gives a model what bears on one question. Examples are questions with
the SQL that answers them; a glossary says what business words mean. Both are checked against the schema and the guard
before anything of them is used. docs/memory.md has the formats.
"""

from agent.knowledge.memory.examples import Example
from agent.knowledge.memory.glossary import Glossary
from agent.knowledge.memory.lines import BadMemory, Problem
from agent.knowledge.memory.loading import Memory, load_memory
from agent.knowledge.memory.showing import Remembered, remembered

__all__ = ["BadMemory", "Example", "Glossary", "Memory", "Problem", "Remembered", "load_memory", "remembered"]
