"""Documents read well as they are: only what would be markup is escaped."""

from __future__ import annotations

import pytest

from agent.server.documents import escaped, plain_text
from tests.pairs import rows


@pytest.mark.parametrize(("text", "written"), rows("server/documents_escaped.jsonl"))
def test_a_sign_is_escaped_only_where_it_would_be_markup(text: str, written: str) -> None:
    assert escaped(text) == written


@pytest.mark.parametrize(("markdown", "text"), rows("server/documents_copied.jsonl"))
def test_an_answer_is_copied_in_words(markdown: str, text: str) -> None:
    assert plain_text(markdown) == text


def test_a_link_that_ends_in_the_next_line_is_no_link() -> None:
    assert escaped("[click") + "\n" + escaped("here](//example.org)") == "\\[click\nhere](//example.org)"
