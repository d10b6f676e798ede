"""Rows as a person reads them: what is a number, what is missing, what was cut."""

from __future__ import annotations

import re

import pytest

from agent.cli.table import rows_shown, rows_table
from tests.agent.cli.conftest import Screen
from tests.pairs import rows


def printed(screen: Screen, columns: list[str], rows: list[list[object]]) -> list[str]:
    screen.console.print(rows_table(screen.console, columns, rows))
    return [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in screen.lines]


@pytest.mark.parametrize(
    ("value", "shown"),
    rows("kinds/cells.jsonl"),
)
def test_a_cell_is_shown_as_it_is(pipe: Screen, value: object, shown: str) -> None:
    assert printed(pipe, ["a"], [[value]])[3].strip("| ") == shown


def test_escape_sequences_in_cells_and_names_are_shown_not_obeyed(terminal: Screen) -> None:
    printed(terminal, ["na\x1b[31mme"], [["\x1b]0;title\x07"], ["\x9b31m"], ["a\u202eb"], ["x\ry"], ["\ud800"]])

    ours = re.sub(r"\x1b\[[0-9;]*m", "", terminal.text)
    assert "na\\x1b[31mme" in ours
    assert "\\x1b]0;title\\x07" in ours
    assert "\\x9b31m" in ours
    assert "a\\u202eb" in ours
    assert "x\\x0dy" in ours
    assert "\\ud800" in ours
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800]", ours)


def test_columns_that_do_not_fit_become_blocks_and_a_number_is_never_cut_short() -> None:
    narrow = Screen(terminal=True, width=60)

    lines = printed(narrow, [f"column_{n}" for n in range(20)], [list(range(20)), list(range(20, 40))])

    assert lines[0] == "─ row 1 ─"
    assert "column_3   3" in lines
    assert "─ row 2 ─" in lines
    assert "column_19  39" in lines

    narrow = Screen(terminal=True, width=40)

    text = "\n".join(printed(narrow, ["name", "amount"], [["a long name that must give way to it", 123456789012345]]))

    assert "123456789012345" in text
    assert max(len(line) for line in text.splitlines()) <= 40


@pytest.mark.parametrize(
    ("shown", "returned", "truncated", "text"),
    rows("kinds/row_counts.jsonl"),
)
def test_the_line_under_the_table_says_what_is_missing(shown: int, returned: int, truncated: bool, text: str) -> None:
    assert rows_shown(shown, returned, truncated) == text
