"""A thread or a board as a document to take away: Markdown, or one HTML file that needs nothing else.

In: records of the store. Out: text in which no value, name or answer can become markup.
"""

from __future__ import annotations

from agent.server.documents.content import Document, Section, of_board, of_kept, of_thread
from agent.server.documents.markdown import as_html, as_markdown, cell_text

__all__ = ["Document", "Section", "as_html", "as_markdown", "cell_text", "of_board", "of_kept", "of_thread"]
