"""Where the table of a delimited file is: its encoding, its delimiter, the rows above its header, its columns.

In: a file as it came. Out: its layout, found from its beginning; the encoding is checked to the end of the file.

The encoding of a text that is no Unicode is found by asking which encodings could also be meant: it is the one whose
reading has the fewest words that no language writes. Few bytes are no statistics: a word is judged by its alphabet, its
capitals and its signs (`encodings.txt`). Where these leave several, the statistics of charset-normalizer decide, if
there is text enough for them.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path

from charset_normalizer import from_bytes

from agent.sources import SourceRefused
from agent.sources.tabular import dates, measures, numbers
from agent.sources.tabular.columns import is_missing
from agent.sources.tabular.notation import CURRENCY_OF, KNOWN
from eval.language.lexicon import lines

_PLAIN = re.compile(r"[\x00-&(-@\[-`{-\x7f]+")
"""Between words: ASCII that is neither a letter nor an apostrophe."""
_BEFORE, _BEHIND = "“„«‘‚¿¡µ°\u00a0", "”»’…°ªº®™²³\u00a0"
"""Signs that may stand in front of a word and behind it."""
_ALONE = "€£¥«»“”„‘’‚…–—§©°¿¡½¼¾·•´×‰±\u00ad"
"""Signs that may stand beside figures and alone."""
_USUAL = ("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "mac_roman", "cp932", "cp949", "big5", "gb18030")
"""Encodings of which it is told that they could be meant."""
_COMMON = {
    "gb18030": ("gb2312", 0xB0, 0xD7),
    "big5": ("big5", 0xA4, 0xC6),
    "cp949": ("euc_kr", 0xB0, 0xC8),
    "cp932": ("cp932", 0x81, 0x97),
    "euc_jp": ("euc_jp", 0xA4, 0xCF),
}
"""By the encoding of several bytes: a character set of its language, and the first bytes of the common characters."""
_ALPHABETS = {
    name: tuple(map(frozenset, alphabets.split()))
    for name, _, alphabets in (line.partition(": ") for line in lines(Path(__file__).with_name("encodings.txt")))
}


@dataclass(frozen=True, slots=True)
class Encoding:
    name: str
    other: str | None = None
    """One that could also be meant and reads other words."""


def likely_encoding(text: bytes) -> Encoding | None:
    """`text`: at most some hundred KB. None where no encoding that is known here reads it."""
    found: list[tuple[tuple[int, int, int], int, str, str]] = []
    for place, (name, alphabets) in enumerate(_ALPHABETS.items()):
        try:
            read = text.decode(name)
        except UnicodeDecodeError:
            continue
        found.append((_faults(read, name, alphabets), place, name, read))
    if not found:
        return None
    least, _, name, read = min(found)
    as_good = [
        (other, text_)
        for faults, _, other, text_ in sorted(found)
        if faults == least and text_ != read and other in _USUAL
    ]
    if not as_good:  # a tenth of the words may be of no language: units, names from elsewhere
        return Encoding(name, "another" if least[0] > 0.1 * least[2] else None)
    counted = from_bytes(text, cp_isolation=[name, *(other for other, _ in as_good)]).best()
    if counted is not None and counted.coherence > 0.3:
        same = next((n for n in (name, *(o for o, _ in as_good)) if text.decode(n) == str(counted)), name)
        return Encoding(same)
    return Encoding(name, as_good[0][0])


def _faults(read: str, name: str, alphabets: tuple[frozenset[str], ...]) -> tuple[int, int, int]:
    """(words that no language writes, whether the words are of several languages, words beyond ASCII)."""
    found = {word.strip("'").lstrip(_BEFORE).rstrip(_BEHIND) for word in _PLAIN.split(read) if not word.isascii()}
    words = {word for word in found if not word.isascii() and word.strip(_ALONE)}
    if name in _COMMON:
        return sum(not _is_common(word, *_COMMON[name]) for word in words), 0, len(words)
    others = {word: {c for c in word.lower() if not c.isascii()} - set("’ʼ-‑\u0307") for word in words}
    wrong = sum(not _is_written(word, others[word], alphabets) for word in words)
    together = set().union(*others.values())
    return wrong, int(not any(together <= alphabet for alphabet in alphabets)), len(words)


def _is_written(word: str, others: set[str], alphabets: tuple[frozenset[str], ...]) -> bool:
    """Whether a word is of one alphabet, with capitals in front or all over, and if Latin not all beyond ASCII."""
    latin = any(c.isascii() and c.isalpha() for c in word)
    fits = [alphabet for alphabet in alphabets if others <= alphabet]
    own = fits and len(max(fits, key=len)) > 16 and not any("ß" < c < "ɐ" for c in fits[0])  # of another script
    if not fits or (own and latin):
        return False
    bare = word.replace("’", "").replace("'", "")
    capitals = any(a.islower() and b.isupper() and not b.isascii() for a, b in pairwise(bare))
    starts_low = bare[:1].islower() and bare[1:2].isupper()
    many = not own and len(bare) > 3 and sum(not c.isascii() for c in bare) > 0.8 * len(bare)
    return not (capitals or starts_low or many)


def _is_common(word: str, charset: str, first: int, last: int) -> bool:
    common = total = 0
    for c in word:
        if not c.isascii():
            encoded = c.encode(charset, "ignore")
            total += 1
            common += len(encoded) > 1 and first <= encoded[0] <= last
    return common >= 0.9 * total


_SAMPLE = 256 * 1024
_RECORDS = 500
_CONTROLS = bytes({*range(1, 32), 127} - set(b"\t\n\v\f\r\x1a\x1b"))
"""Bytes that no text is made of."""
RULE = re.compile(r"[-=_+*~\s]{10,}")
"""A line that is drawn, in a list as programs print it."""
_YEAR = re.compile(r"(1[89]|20|21)\d\d", re.ASCII).fullmatch
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


def text_encoding(head: bytes) -> str | None:
    """The encoding, detected from the beginning of a file; None for binary content."""
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if head.startswith(mark):
            return name
    zeros = head.count(0)
    if not zeros:
        return "utf-8" if len(head.translate(None, _CONTROLS)) >= 0.95 * len(head) else None
    for first, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        if head[first::2].count(0) > 0.8 * zeros and zeros > len(head) / 5:
            return name
    return None


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
    names, header_rows, first = _header(records, ends)
    end = ends[first - 1] if first else 0
    return Layout(
        encoding=encoding,
        delimiter=delimiter,
        headers=names,
        has_header=header_rows > 0,
        lines=start + end,
        row=1 + end + start,
        titles=first - header_rows,
        joined=header_rows > 1,
        broken=any(end in cell for record in records[:first] for cell in record for end in "\r\n"),
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


def _header(records: Sequence[Sequence[str]], ends: Sequence[int]) -> tuple[tuple[str, ...], int, int]:
    """(names, which are empty texts where there is no header; its rows, 0 to 2; the first record of data). Two rows are
    one header where a group spans several columns of the same names (`January`, `February` above `Sales`, `Returns`),
    and where units stand below the names. `ends`: lines of text up to the end of each record; blank lines are none."""
    above = _titles(records)
    first, body = records[above], records[above + 1 :]
    width = max(len(first), *(len(r) for r in body[:1]), 1)
    for at in (above - 1, above):
        pair = records[at : at + 2] if at >= 0 else ()
        follows = len(pair) == 2 and ends[at + 1] - ends[at] == 1 + sum(cell.count("\n") for cell in pair[1])
        if follows and (names := _joined(pair[0], pair[1], records[at + 2 :])):
            return _filled(names[0], width), names[1], at + 2
    if not _is_header(first, body):
        return ("",) * width, 0, above
    return _filled(first, width), 1, above + 1


def _filled(row: Sequence[str], width: int) -> tuple[str, ...]:
    return (*row, *[""] * width)[:width]


def _titles(records: Sequence[Sequence[str]]) -> int:
    """How many rows stand above the header: those that fill far fewer cells than the rows of the table do."""
    filled = [sum(cell != "" for cell in row) for row in records]
    usual = Counter(filled[1:] if len(filled) > 2 else filled).most_common(1)[0][0]
    usual = max(usual, sorted(filled)[len(filled) // 2])
    if usual < 2:
        return 0
    for number, (row, count) in enumerate(zip(records[:30], filled, strict=False)):  # no more titles than that
        if count >= 0.7 * usual or (row[0] == "" and count * 3 >= usual):
            return number
    return 0


def _is_header(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is a header: it is, unless it fits the types of the rows below it."""
    years = [cell for cell in first if _YEAR(cell)]
    if len(years) == len(set(years)) >= 2 and not all(_YEAR(cell) for cell in first):
        return True  # a column for each year
    typed = 0
    for i, cell in enumerate(first):
        below = Counter(row[i] for row in body if i < len(row) and row[i])
        kind = _kind(below)
        typed += kind is not None
        if kind is not None and cell and _kind({cell: 1}) == kind:
            return False
    return bool(typed) or not any(cell and _kind({cell: 1}) for cell in first)


def _kind(cells: dict[str, int] | Counter[str]) -> str | None:
    if not cells:
        return None
    if dates.written("day", cells, None, forced=False) and not all(cell.isdecimal() for cell in cells):
        return "date"
    if (how := numbers.written(cells, None, forced=False)) and how.why_not is None:
        return "number"
    if (amounts := measures.written("", cells, None, forced=False)) and amounts.why_not is None:
        return "number"
    return "truth" if all(cell.casefold() in ("true", "false", "yes", "no") for cell in cells) else None


def _joined(
    groups: Sequence[str], names: Sequence[str], body: Sequence[Sequence[str]]
) -> tuple[tuple[str, ...], int] | None:
    """(names, of how many rows) where both rows are of the header, or the second alone below groups that its names do
    not need; None where they are no two rows of a header."""
    width = max(len(groups), len(names), *(len(row) for row in body[:1]), 1)
    groups, names = _filled(groups, width), _filled(names, width)
    if not body or not _are_names(names, body) or not _are_names(groups, body, some=True):
        return None
    if all(_is_unit(name) for name in names if name) and not all(_is_unit(group) for group in groups if group):
        units = (
            f"{group} ({name.strip('()[]')})" if name else group for group, name in zip(groups, names, strict=True)
        )
        return tuple(units), 2
    spans = any(g and not after and name for g, after, name in zip(groups, groups[1:], names[1:], strict=False))
    occurs = Counter(name for name in names if name)
    named = [group for group in groups if group]
    whole = all(group or name for group, name in zip(groups, names, strict=True))
    if not (spans or len(set(named)) < len(named)) or (sum(occurs.values()) * 2 < width and not whole):
        return None
    if max(occurs.values()) == 1 and all(name or not group for group, name in zip(groups, names, strict=True)):
        return (names, 1) if groups[0] == "" and len(named) > 1 else None
    # Each name with its group in front. A group ends where the next begins, the last one where the names end that
    # other groups have, too
    last = max((i for i, name in enumerate(names) if occurs[name] > 1), default=width - 1)
    joined, group = [], ""
    for i, (above, name) in enumerate(zip(groups, names, strict=True)):
        group = (above or (group if i <= last else "")) if name else ""
        joined.append(f"{group} {name}".strip() if name else above)  # without a name, merged over both rows
    return tuple(joined), 2


def _are_names(row: Sequence[str], body: Sequence[Sequence[str]], *, some: bool = False) -> bool:
    """Whether the cells are names and no values: none is typed (but for years) or a mark for no value, and columns
    below them are typed. `some`: the row is of groups, below which that is not asked."""
    cells = [cell for cell in row if cell]
    if not cells or any(is_missing(cell) or (_kind({cell: 1}) and not _YEAR(cell)) for cell in cells):
        return False
    below = (Counter(r[i] for r in body if i < len(r) and r[i]) for i in range(len(row)))
    return some or any(cell and _kind(of) and cell not in of for cell, of in zip(row, below, strict=True))


def _is_unit(cell: str) -> bool:
    bare = cell.strip("()[] ").lower()
    return bare in CURRENCY_OF or bare in KNOWN
