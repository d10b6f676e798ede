"""Texts that are figures, and those that only look like them."""

from __future__ import annotations

import pytest

from eval.language.numbers import TextFigures, text_figures


@pytest.mark.parametrize(
    ("values", "figures"),
    [
        (["9.50", "120.00", "7"], TextFigures()),
        (["8", "60", "100", "n/a"], TextFigures("", ("n/a",))),
        (["$12.00", "$1,250.00", ""], TextFigures("$,")),
        (["-3", "12 %", "4.5"], TextFigures("% ")),
        (["8", "n/a"], None),  # as many words as figures
        (["0012", "0120", "7"], None),
        (["101", "102", "315"], None),  # rooms, courses
        (["2.2", "2.20", "2.0"], None),  # versions
        (["7A", "12", "9"], None),
        (["1E5", "20", "3"], None),
        (["red", "blue"], None),
        ([], None),
    ],
)
def test_which_texts_are_figures(values: list[str], figures: TextFigures | None) -> None:
    assert text_figures(values) == figures
