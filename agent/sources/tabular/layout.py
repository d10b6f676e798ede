"""Where the table of a delimited file is: its encoding, its delimiter, the rows above its header, its columns.

In: a file as it came. Out: its layout, found from its beginning; the encoding is checked to the end of the file.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from agent.sources.errors import SourceRefused
from agent.sources.file_kinds import text_encoding
from agent.sources.tabular.encodings import Encoding, likely_encoding
from agent.sources.tabular.headers import found_header

_SAMPLE = 256 * 1024
_RECORDS = 500
RULE = re.compile(r"[-=_+*~\s]{10,}")
"""A line that is drawn, in a list as programs print it."""
FIELD = 1024 * 1024
"""Characters of a field."""


@dataclass(frozen=True, slots=True)
class Layout:
    encoding: Encoding
    delimiter: str
    headers: tuple[str, ...]
    """Empty texts where there is no header row."""
    has_header: bool
    lines: int
    """Lines of text in front of the first row of data."""
    row: int
    """Number of the first row of data, the file's first row being 1."""
    titles: int
    """Rows above the header."""
    joined: bool
    """Whether two rows are read as one header."""
    broken: bool
    """Whether a cell above the first row of data has a line break, which makes lines and rows differ."""
    irregular: bool
    """Whether only a lenient reader reads it: blanks in front of quotes, lines that end in several ways."""


def found_layout(path: Path) -> Layout:
    """Raises SourceRefused for what is no text or holds no rows."""
    encoding, ends_alike = _encoding(path)
    with path.open("rb") as file:
        head = file.read(_SAMPLE)
        is_all = not file.read(1)
    text = codecs.getincrementaldecoder(encoding.name)("strict").decode(head)
    lines = io.StringIO(text, newline="").readlines()
    named = re.fullmatch(r"sep=(.)\s*", lines[0], re.IGNORECASE) if lines else None
    delimiter = named[1] if named else _delimiter(lines if is_all else lines[:-1] or lines)
    start = 1 if named else 0
    records, ends = _records(lines[start:], delimiter, is_all)
    if not records:
        raise SourceRefused("the file contains no rows")
    found = found_header(records, ends)
    end = ends[found.first - 1] if found.first else 0
    return Layout(
        encoding=encoding,
        delimiter=delimiter,
        headers=found.names,
        has_header=found.rows > 0,
        lines=start + end,
        row=1 + end + start,
        titles=found.first - found.rows,
        joined=found.rows > 1,
        broken=any(end in cell for record in records[: found.first] for cell in record for end in "\r\n"),
        irregular=not ends_alike or any(f'{delimiter} "' in line for line in lines),
    )


def _encoding(path: Path) -> tuple[Encoding, bool]:
    """The encoding, and whether all lines end alike."""
    with path.open("rb") as file:
        head = file.read(64 * 1024)
        unicode = text_encoding(head)
        if unicode is None:
            raise SourceRefused("the file is neither text nor a database that is known here")
        try:
            return Encoding(unicode), _ends_alike(path, unicode)
        except UnicodeDecodeError:
            if not unicode.startswith("utf-8"):
                raise SourceRefused(f"the file begins as {unicode} and does not go on so") from None
        file.seek(0)
        telling = b"".join(islice((line for line in file if not line.isascii()), 1000))[:_SAMPLE]
    likely = likely_encoding(telling) or Encoding("latin-1", "another")
    try:
        return likely, _ends_alike(path, likely.name)
    except UnicodeDecodeError:
        return Encoding("latin-1", "another"), _ends_alike(path, "latin-1")


def _ends_alike(path: Path, encoding: str) -> bool:
    """Decode the whole file. Raises UnicodeDecodeError."""
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    ends: set[str] = set()
    before = ""
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            text = before + decoder.decode(piece)
            before = "\r" if text.endswith("\r") else ""
            text = text.removesuffix("\r")
            if "\r" in text and "\r\n" in text:
                ends.add("\r\n")
                text = text.replace("\r\n", "")
            ends.update(end for end in "\r\n" if end in text)
    decoder.decode(b"", final=True)
    return len(ends | set(before)) <= 1


def _delimiter(lines: Sequence[str]) -> str:
    """The delimiter that splits the most lines of a sample into the same number of fields (at least two)."""
    best = (0.0, 0, ",")
    for delimiter in ",;\t|":
        try:
            rows = [row for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True) if row][:_RECORDS]
        except csv.Error:
            continue
        widths = Counter(map(len, rows))
        several = [(count, width) for width, count in widths.items() if width > 1]
        if several:
            count, width = max(several)
            best = max(best, (round(count / len(rows), 1), width, delimiter))
    return best[2]


def _records(lines: Sequence[str], delimiter: str, is_all: bool) -> tuple[list[list[str]], list[int]]:
    """Rows that are not blank, and for each the number of lines up to its end."""
    csv.field_size_limit(FIELD)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    records, ends = [], []
    try:
        for row in reader:
            if any(cell.strip() for cell in row) and not RULE.fullmatch("".join(row)):
                records.append([cell.strip() for cell in row])
                ends.append(reader.line_num)
            if len(records) > _RECORDS:
                break
        else:
            if not is_all and len(records) > 1:  # the last one may be cut
                records.pop()
    except csv.Error as error:
        raise SourceRefused(f"the file cannot be read as CSV: {error}") from None
    return records, ends
