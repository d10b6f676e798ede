"""`Answer`: what a question returns, with its rows as a data frame, an Arrow table and a chart, and its view in a
notebook."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from agent.runtime import answer
from text2sql.errors import NoChart, PackageMissing

if TYPE_CHECKING:
    import pandas
    import pyarrow
    from matplotlib.axes import Axes

ROWS_SHOWN = 20
"""Rows of the table in a notebook."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?")
_STYLE = "border:0;padding:2px 10px;text-align:"


class Answer(answer.Answer):
    """The result of a question. `df`, `arrow` and `plot` need `pip install 'askwell[notebook]'`."""

    @property
    def df(self) -> pandas.DataFrame:
        """The rows as a data frame (rows x columns). Columns of ISO dates become datetimes. Raises PackageMissing."""
        try:
            import pandas
        except ImportError:
            raise PackageMissing("A data frame", "pandas") from None
        frame = pandas.DataFrame(self.rows, columns=self.columns)
        for place in range(frame.shape[1]):
            filled = [row[place] for row in self.rows if row[place] is not None]
            if filled and all(isinstance(cell, str) and _DATE.fullmatch(cell) for cell in filled):
                dates = pandas.to_datetime(frame.iloc[:, place], format="ISO8601", errors="coerce")
                if dates.count() == len(filled):
                    frame.isetitem(place, dates)
        return frame

    @property
    def arrow(self) -> pyarrow.Table:
        """The rows as an Arrow table (rows x columns), with the types of `df`. Raises PackageMissing."""
        try:
            import pyarrow
        except ImportError:
            raise PackageMissing("An Arrow table", "pyarrow") from None
        return pyarrow.Table.from_pandas(self.df, preserve_index=False)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the rows with matplotlib: a line over time, bars by category, or points of two measures.

        Draws on `ax`, else on a new figure. Raises PackageMissing, and NoChart for rows that no chart fits.
        """
        from text2sql.chart import draw

        return draw(self.df, ax)

    def _repr_html_(self) -> str:
        """The view in a notebook: the answer, how sure it is, a chart if one fits, the first rows, and the SQL."""
        parts = [_markdown(self.answer), f"<p><i>{escape(self.verdict)}</i></p>", self._picture(), self._table()]
        if self.sql:
            parts.append(f"<details open><summary>SQL</summary><pre>{escape(self.sql)}</pre></details>")
        return "".join(parts)

    def _picture(self) -> str:
        from text2sql.chart import picture

        try:
            source = picture(self.df)
        except (NoChart, PackageMissing):
            return ""
        return f'<img alt="Chart of the rows" style="max-width:640px" src="data:image/png;base64,{source}">'

    def _table(self) -> str:
        if not self.columns:
            return ""
        right = [all(_is_number(row[i]) or row[i] is None for row in self.rows) for i in range(len(self.columns))]
        sides = ["right" if number else "left" for number in right]
        head = "".join(
            f'<th style="{_STYLE}{side}">{escape(name)}</th>' for name, side in zip(self.columns, sides, strict=True)
        )
        body = "".join(
            "<tr>"
            + "".join(f'<td style="{_STYLE}{side}">{_cell(value)}</td>' for value, side in zip(row, sides, strict=True))
            + "</tr>"
            for row in self.rows[:ROWS_SHOWN]
        )
        rest = len(self.rows) - ROWS_SHOWN
        more = f"<p>{rest:,} more row{'s' if rest > 1 else ''}</p>" if rest > 0 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _markdown(text: str) -> str:
    """Markdown as HTML, without raw HTML, links and images, which could load something."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).disable(["link", "image", "autolink", "reference"])
    return str(reader.render(text))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _cell(value: object) -> str:
    return "<i>NULL</i>" if value is None else escape(str(value))
