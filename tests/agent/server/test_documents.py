"""Documents read well as they are: only what would be markup is escaped."""

from __future__ import annotations

import pytest

from agent.server.documents.content import plain_text
from agent.server.documents.markdown import escaped


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("order_date", "order_date"),
        ("COUNT(*)", "COUNT(*)"),
        ("COUNT(*) - COUNT(*)", r"COUNT(\*) - COUNT(\*)"),
        ("a - b, c #1!", "a - b, c #1!"),
        ("_private_", r"\_private\_"),
        ("first_name and last_name", "first_name and last_name"),
        ("# title", r"\# title"),
        ("1. first", r"1\. first"),
        ("1.5", "1.5"),
        ("[x](http://evil)", r"\[x](http&#58;//evil)"),
        ("a < b and b > c", "a < b and b > c"),
        ("<script>", "&lt;script>"),
        ("R&D", "R&D"),
        ("&lt;", "&amp;lt;"),
        ("`a` and `b`", r"\`a\` and \`b\`"),
        ("back\\slash", r"back\\slash"),
        ("two\nlines", "two lines"),
    ],
)
def test_a_sign_is_escaped_only_where_it_would_be_markup(text: str, written: str) -> None:
    assert escaped(text) == written


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        (r"There are **480** rows in order\_date.", "There are 480 rows in order_date."),
        (r"The largest COUNT(\*) is *11*.", "The largest COUNT(*) is 11."),
        ("Two\n\n> Doubt: `x` is new.", "Two\n\nDoubt: x is new."),
        ("See [this](https://a.b).", "See this."),
        ("3 * 4 * 5 = 60", "3 * 4 * 5 = 60"),
        ("snake_case_name", "snake_case_name"),
    ],
)
def test_an_answer_is_copied_in_words(markdown: str, text: str) -> None:
    assert plain_text(markdown) == text


def test_a_link_that_ends_in_the_next_line_is_no_link() -> None:
    assert escaped("[click") + "\n" + escaped("here](//example.org)") == "\\[click\nhere](//example.org)"
