"""Charts of the rows of an answer with matplotlib. Names and values are drawn as plain text, never as formulas."""

from __future__ import annotations

import base64
import io
import re
from typing import TYPE_CHECKING

from text2sql.errors import NoChart, PackageMissing

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

MAX_BARS = 40
_LABEL = 24
"""Longest label of a bar, in characters."""
_KEY = re.compile(r"(^|_)id$|(?<=[a-z])Id$", re.IGNORECASE)
_YEAR = re.compile(r"year|yr", re.IGNORECASE)


def picture(frame: pandas.DataFrame) -> str:
    """The chart as PNG in Base64. Raises NoChart, PackageMissing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise PackageMissing("A chart", "matplotlib") from None
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    draw(frame, figure.add_subplot())
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=144)
    return base64.b64encode(image.getvalue()).decode("ascii")


def draw(frame: pandas.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the rows on `ax`, else on a new figure. Raises NoChart, PackageMissing."""
    x, y = _axes(frame)
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError:
            raise PackageMissing("A chart", "matplotlib") from None
        ax = pyplot.subplots(layout="constrained")[1]
    across, measure = frame.iloc[:, x], frame.iloc[:, y].astype(float)
    if _is_time(frame, x):
        order = across.argsort()
        ax.plot(across.iloc[order], measure.iloc[order], marker="o")
        for label in ax.get_xticklabels():
            label.set_rotation(30)
    elif _is_measure(frame, x):
        ax.scatter(across.astype(float), measure)
    else:
        places = range(len(frame))
        ax.barh(places, measure)
        ax.set_yticks(places, [_short(value) for value in across], parse_math=False)
        ax.invert_yaxis()
        ax.set_xlabel(str(frame.columns[y]), parse_math=False)
        return ax
    ax.set_xlabel(str(frame.columns[x]), parse_math=False)
    ax.set_ylabel(str(frame.columns[y]), parse_math=False)
    return ax


def _axes(frame: pandas.DataFrame) -> tuple[int, int]:
    """The columns of the horizontal axis (or the names of the bars) and of the measure."""
    width, height = frame.shape[1], frame.shape[0]
    measures = [i for i in range(width) if _is_measure(frame, i)]
    times = [i for i in range(width) if _is_time(frame, i)]
    names = [i for i in range(width) if i not in measures and i not in times]
    if height >= 2 and measures:
        if times and frame.iloc[:, times[0]].is_unique:
            return times[0], measures[-1]
        if names and height <= MAX_BARS and frame.iloc[:, names[0]].is_unique:
            return names[0], measures[-1]
        if len(measures) >= 2 and height >= 3 and not names:
            return measures[0], measures[1]
    raise NoChart("No chart fits these rows: it takes a measure over time, by category, or against another measure.")


def _is_measure(frame: pandas.DataFrame, place: int) -> bool:
    import pandas

    column, name = frame.iloc[:, place], str(frame.columns[place])
    types = pandas.api.types
    number = types.is_numeric_dtype(column) and not types.is_bool_dtype(column)
    return bool(number and not _KEY.search(name) and not _is_time(frame, place))


def _is_time(frame: pandas.DataFrame, place: int) -> bool:
    import pandas

    column, types = frame.iloc[:, place], pandas.api.types
    year = types.is_integer_dtype(column) and _YEAR.search(str(frame.columns[place]))
    return bool(types.is_datetime64_any_dtype(column) or year)


def _short(value: object) -> str:
    text = "NULL" if value is None else str(value)
    return text if len(text) <= _LABEL else text[: _LABEL - 1] + "…"
