"""A lenient JSON parser for model output: comments, trailing commas, single quotes, bare words.

In: text and a position. Out: the value that starts there and where it ends, or `NotJson`. One pass with bounded
look-ahead and bounded depth, so hostile text takes time proportional to its length and never causes a recursion error.
"""

from __future__ import annotations

import json
import re

from eval.errors import InputError

MAX_DEPTH = 64

_BARE = re.compile(r"[^\s,:{}\[\]\"'`/#]{1,512}")
_GAP = r"(?:\s|/\*.{0,200}?\*/|//[^\n]{0,200}\n|#[^\n]{0,200}\n){0,100}+"
_KEY = r"[\"'`“]?[\w$ -]{1,64}[\"'`”]?\s{0,20}:"
_ENDS_MEMBER = re.compile(rf"{_GAP}(?:\}}|\Z|,{_GAP}(?:\}}|{_KEY})|(?<=\s)\s{{0,200}}[\"']\w{{1,64}}[\"']\s{{0,20}}:)")
_COMMENT = r"//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z)"
_BLANK = re.compile(rf"(?:\s|{_COMMENT})*+", re.DOTALL)
_BLANK_OR_COMMA = re.compile(rf"(?:[\s,]|{_COMMENT})*+", re.DOTALL)
"""Between members also commas, because models write too many or too few."""
_ENDS_ELEMENT = re.compile(r"\s{0,200}(?:[\],]|\Z)")
_ENDS_KEY = re.compile(r"\s{0,200}:")
_UNICODE = re.compile(r"u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}", re.ASCII)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": "\n"}
_NOTHING = ("null", "none", "undefined", "nan", "infinity", "-infinity")
_WORDS: dict[str, object] = {"true": True, "false": False, **dict.fromkeys(_NOTHING)}
_CLOSING = {'"': '"', "'": "'", "`": "`", "“": "”"}


class NotJson(InputError):
    """There is no complete JSON value at this place."""


class CutOff(NotJson):
    """The text ended before the value did."""


def read_value(text: str, start: int) -> tuple[object, int]:
    """The value that starts at `start`, and the position after it. Raises NotJson."""
    return _Reader(text).value(start, 0, _ENDS_ELEMENT)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def value(self, at: int, depth: int, ends: re.Pattern[str]) -> tuple[object, int]:
        at = self._blank(at)
        if depth > MAX_DEPTH:
            raise NotJson("nested too deeply")
        if at >= len(self.text):
            raise CutOff("cut off")
        first = self.text[at]
        if first == "{":
            return self._object(at + 1, depth)
        if first == "[":
            return self._array(at + 1, depth)
        if self.text.startswith('"""', at):
            end = self.text.find('"""', at + 3)
            if end < 0:
                raise CutOff("a string is cut off")
            return self.text[at + 3 : end], end + 3
        if first in _CLOSING:
            return self._string(at + 1, _CLOSING[first], ends)
        word = _BARE.match(self.text, at)
        if word is None:
            raise NotJson("a value is missing")
        written = word.group()
        if written.lower() in _WORDS:
            return _WORDS[written.lower()], word.end()
        for number in (int, float):
            try:
                return number(written), word.end()
            except ValueError:
                continue
        raise NotJson("a bare word is no value")

    def _object(self, at: int, depth: int) -> tuple[dict[str, object], int]:
        members: dict[str, object] = {}
        while True:
            at = self._blank(at, _BLANK_OR_COMMA)
            if self.text.startswith("}", at):
                return members, at + 1
            if at >= len(self.text):
                raise CutOff("cut off")
            first = self.text[at]
            if first in _CLOSING:
                key, at = self._string(at + 1, _CLOSING[first], _ENDS_KEY)
            else:
                word = _BARE.match(self.text, at)
                if word is None:
                    raise NotJson("a key is missing")
                key, at = word.group(), word.end()
            at = self._blank(at)
            if not self.text.startswith(":", at):
                raise NotJson("a colon is missing")
            members[key], at = self.value(at + 1, depth + 1, _ENDS_MEMBER)

    def _array(self, at: int, depth: int) -> tuple[list[object], int]:
        items: list[object] = []
        while True:
            at = self._blank(at, _BLANK_OR_COMMA)
            if self.text.startswith("]", at):
                return items, at + 1
            item, at = self.value(at, depth + 1, _ENDS_ELEMENT)
            items.append(item)

    def _string(self, at: int, closing: str, ends: re.Pattern[str]) -> tuple[str, int]:
        """A quote ends the string only if the text after it can follow a value: models forget to escape the quotes of
        SQL identifiers inside JSON strings."""
        pieces: list[str] = []
        text = self.text
        while at < len(text):
            special = re.compile(rf"[{closing}\\]").search(text, at)
            if special is None:
                break
            stop = special.start()
            pieces.append(text[at:stop])
            if text[stop] == "\\":
                piece, at = self._escape(stop + 1)
                pieces.append(piece)
            elif ends.match(text, stop + 1):
                return "".join(pieces), stop + 1
            else:
                pieces.append(closing)
                at = stop + 1
        raise CutOff("a string is cut off")

    def _escape(self, at: int) -> tuple[str, int]:
        unicode = _UNICODE.match(self.text, at)
        if unicode is None:
            letter = self.text[at : at + 1]
            return _ESCAPES.get(letter, letter), at + 1
        character: str = json.loads(f'"\\{unicode.group()}"')
        return "\ufffd" if "\ud800" <= character < "\ue000" else character, unicode.end()

    def _blank(self, at: int, blank: re.Pattern[str] = _BLANK) -> int:
        skipped = blank.match(self.text, at)
        return skipped.end() if skipped else at
