"""The form in which a question wants its answer: `plot sales by month`, `orders by city as a pie chart`, `… to Excel`.

In: a question. Out: the form, and the question without the words that ask for it. Only a verb at the beginning or a
closed phrase at either end counts, and none whose word the schema uses for something of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from eval.language.inflection import lemma
from eval.language.lexicon import word_set

Form = Literal["chart", "table", "file"]

_VERBS: dict[str, Form] = {
    "plot": "chart", "chart": "chart", "graph": "chart", "draw": "chart", "visualize": "chart", "visualise": "chart",
    "tabulate": "table", "export": "file", "download": "file",
}  # fmt: skip
_NOUNS: dict[str, Form] = {
    "chart": "chart", "graph": "chart", "plot": "chart", "diagram": "chart", "histogram": "chart", "table": "table",
    "excel": "file", "csv": "file", "xlsx": "file", "spreadsheet": "file", "file": "file",
}  # fmt: skip
_CHARTS = frozenset(("bar", "column", "line", "pie", "area", "scatter", "histogram"))
_KINDS = _CHARTS | {"excel", "csv"}
_SHOW = frozenset(("show", "give", "make", "draw", "create"))
_POLITE = frozenset(("please", "can", "could", "you"))
_BEFORE = frozenset(("as", "in", "to", "into", "with", "using"))
_BEHIND = frozenset(("of", "for", "with", "showing"))
_SAME = word_set("show it that this them these those all now me the same result results and")
"""Words of a question that asks for nothing but a form of what was asked before: `plot it`, `now as a pie chart`."""
_NOTES: dict[Form, str] = {
    "chart": "to be seen as a chart",
    "table": "",
    "file": "the rows can be taken away with Export",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question without its form; `form` is None where none was asked for."""

    text: str
    form: Form | None = None
    kind: str = ""
    """Of chart, where one was named: `pie`."""

    @property
    def note(self) -> str:
        """What the reader of an answer should know of the form."""
        return _NOTES[self.form] if self.form else ""


def asked_form(text: str, named: Callable[[str], bool]) -> Asked:
    """`named`: whether the schema uses a word for something of its own."""
    words = text.split()
    lower = [lemma(word.strip(",.!?").lower()) for word in words]
    start, before = _at_the_beginning(lower, named)
    end, behind = _at_the_end(lower, named)
    form = behind or before
    if form is None or start >= end:
        return Asked(text)
    rest = " ".join(words[start:end]).rstrip(",")
    kind = next((word for word in (*lower[end:], *lower[:start]) if word in _CHARTS), "")
    return Asked(f"show {rest}" if start else rest, form, kind)


def in_that_form(text: str, before: str) -> str | None:
    """An earlier question in the form that a text asks for, where the text asks for nothing else."""
    bare = text.rstrip("?!. ").removesuffix(" please")
    for asked in (asked_form(f"show it {bare}", _unnamed), asked_form(bare, _unnamed)):
        if asked.form and _SAME.issuperset(asked.text.lower().split()):
            base = asked_form(before, _unnamed).text.rstrip("?!. ")
            kind = f"{asked.kind} " if asked.kind else ""
            return f"{base} {'to Excel' if asked.form == 'file' else f'as a {kind}{asked.form}'}"
    return None


def _unnamed(_: str) -> bool:
    return False


def _at_the_beginning(words: list[str], named: Callable[[str], bool]) -> tuple[int, Form | None]:
    """How many words ask for a form (`please plot`, `show me a bar chart of`), and for which."""
    at = _past(words, 0, _POLITE)
    if at >= len(words):
        return 0, None
    form = _VERBS.get(words[at])
    if form and named(words[at]):
        form = None
    if form and form != "chart":
        return _past(words, at + 1, frozenset(("me",))), form
    shown = words[at] in _SHOW or form is not None
    noun = _past(words, _past(words, at + shown, frozenset(("me", "a", "an"))), _KINDS)
    # a kind that needs no word behind it
    noun -= words[noun - 1] == "histogram" and words[noun : noun + 1] != ["chart"]
    known = noun + 1 < len(words) and words[noun] in _NOUNS and words[noun + 1] in _BEHIND and not named(words[noun])
    if known:
        return noun + 2, _NOUNS[words[noun]]
    return (_past(words, at + 1, frozenset(("me",))), form) if form else (0, None)


def _at_the_end(words: list[str], named: Callable[[str], bool]) -> tuple[int, Form | None]:
    """Where the words end that do not ask for a form, and for which the rest asks (`as a pie chart`, `to Excel`)."""
    at = len(words) - 1
    if at < 2 or words[at] not in _NOUNS or named(words[at]):
        return len(words), None
    form, noun = _NOUNS[words[at]], words[at]
    while words[at - 1] in _KINDS:
        at -= 1
    if noun == words[at] == "file":
        return len(words), None  # `in a file` may be anything
    at -= words[at - 1] in ("a", "an")
    return (at - 1, form) if at > 1 and words[at - 1] in _BEFORE else (len(words), None)


def _past(words: list[str], at: int, passed: frozenset[str]) -> int:
    """The first place from `at` on whose word is none of these."""
    while at < len(words) and words[at] in passed:
        at += 1
    return at
