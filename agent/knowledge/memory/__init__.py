"""A team's knowledge of its database, kept in Git: verified examples and a glossary.

In: files. Out: `Memory`, from which `remembered` selects what is relevant to one question. Examples are questions with
the SQL that answers them. A glossary defines business terms. Both are checked against the schema and the guard before
use. docs/memory.md has the formats.
"""
