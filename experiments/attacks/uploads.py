"""Files that are small to send and large to read, or no files at all, sent to a running server.

In: nothing; the files are made here. Out: for each what the server said of it, the seconds, the growth of its memory,
and what it left on the disk.
"""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx

from experiments.attacks.serving import Served
from experiments.processes import resident_mb

MOST_GROWTH_MB = 150.0
MOST_LEFT_MB = 300.0
_LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_PARTS = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default '
    'Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName='
    '"/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    '<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'spreadsheetml.worksheet+xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship '
    'Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook {_MAIN} xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/'
    'relationships"><sheets><sheet name="S" sheetId="1" r:id="r"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
    'Target="worksheets/sheet1.xml"/></Relationships>',
}

_PARQUET = {
    "Parquet: 4 GB of one repeated text": "SELECT repeat('a', 2000000) AS t FROM range(2000)",
    "Parquet: 50,000,000 rows": "SELECT 1 AS n FROM range(50000000)",
    "Parquet: lists of 100,000,000 numbers": "SELECT range(1000000) AS l FROM range(100)",
}


@dataclass(frozen=True, slots=True)
class Sent:
    kind: str
    bytes: int
    status: int
    said: str
    seconds: float
    growth_mb: float
    left_mb: float

    @property
    def failures(self) -> list[str]:
        failed = {
            f"HTTP {self.status}": self.status not in (201, 400, 413, 415, 422),
            f"the server grew by {self.growth_mb:.0f} MB": self.growth_mb > MOST_GROWTH_MB,
            f"{self.left_mb:.0f} MB stayed on the disk": self.left_mb > MOST_LEFT_MB,
        }
        return [f"{self.kind}: {words}" for words, is_so in failed.items() if is_so]

    def __str__(self) -> str:
        return (
            f"| {self.kind} | {self.bytes / 1000:,.0f} kB | {self.status} | {self.seconds:.1f} s | "
            f"{self.growth_mb:+.0f} MB | {' '.join(self.said.split())[:90]} |"
        )


HEAD = "| file | sent | status | time | server's memory | the server said |\n|---|---|---|---|---|---|"


def hostile_files(folder: Path) -> Iterator[tuple[str, str, Callable[[], bytes]]]:
    """(what it is, its name, what makes its bytes)."""

    def cell(text: str, at: str = "A1", doctype: str = "") -> bytes:
        body = f'<row><c r="{at}" t="inlineStr"><is><t>{text}</t></is></c></row>'
        return _workbook(body, doctype)

    multiply = f'<!DOCTYPE worksheet [<!ENTITY l0 "lol">{_LAUGHS}]>'
    names_file = '<!DOCTYPE worksheet [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    yield "workbook: one cell of 400 MB", "cell.xlsx", lambda: cell("a" * 400_000_000)
    yield "workbook: 6,000,000 rows", "rows.xlsx", lambda: _workbook("<row><c><v>1</v></c></row>" * 6_000_000)
    yield "workbook: a cell in the last row and column", "far.xlsx", lambda: cell("1", "XFD1048576")
    yield "workbook: entities that multiply", "laughs.xlsx", lambda: cell("&l9;", doctype=multiply)
    yield "workbook: entity that names a file", "file.xlsx", lambda: cell("&f;", doctype=names_file)
    yield "ZIP of ZIPs of nulls", "zips.xlsx", lambda: _zips(4)
    yield "ZIP with names outside", "slip.xlsx", lambda: _zip({"../../../tmp/slip": "x", "/etc/slip": "x"})
    yield "ZIP of 100,000 empty files", "many.xlsx", lambda: _zip({f"f{n}": "" for n in range(100_000)})
    for number, (kind, query) in enumerate(_PARQUET.items()):
        yield kind, f"{number}.parquet", partial(_parquet, folder / f"{number}.parquet", query)
    yield "Parquet, cut off", "cut.parquet", lambda: _parquet(folder / "cut.parquet", "SELECT 1")[:80] + b"PAR1"
    yield "JSON, 1,000,000 brackets deep", "deep.json", lambda: b"[" * 1_000_000
    yield "JSON, 100,000 objects deep", "objects.json", lambda: b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    yield "JSON, a number of 10,000,000 digits", "number.json", lambda: b'[{"n":' + b"9" * 10_000_000 + b"}]"
    yield "CSV, 1,000,000 columns", "wide.csv", lambda: b",".join(b"c%d" % n for n in range(1_000_000)) + b"\n"
    yield "CSV, a quote that never ends", "quote.csv", lambda: b'a,b\n1,"' + b"x,\n" * 10_000_000
    yield "CSV of nulls", "nulls.csv", lambda: bytes(20_000_000)
    yield "SQLite, header alone", "head.sqlite", lambda: b"SQLite format 3\x00" + bytes(84)
    yield "DuckDB, header alone", "head.duckdb", lambda: bytes(8) + b"DUCK" + bytes(4_000)


def _workbook(body: str, doctype: str = "") -> bytes:
    sheet = f'<?xml version="1.0"?>{doctype}<worksheet {_MAIN}><sheetData>{body}</sheetData></worksheet>'
    return _zip(_PARTS | {"xl/worksheets/sheet1.xml": sheet})


def _zip(parts: dict[str, str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(name, text)
    return made.getvalue()


def _zips(depth: int) -> bytes:
    inner = bytes(100_000_000)
    for _ in range(depth):
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
            for number in range(8):
                file.writestr(f"{number}.zip", inner)
        inner = made.getvalue()
    return inner


def _parquet(path: Path, query: str) -> bytes:
    import duckdb

    duckdb.sql(f"COPY ({query}) TO '{path}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880)")
    return path.read_bytes()


def send(served: Served, kind: str, name: str, data: bytes) -> Sent:
    before, started = resident_mb(served.pid), time.perf_counter()
    with httpx.Client(base_url=served.url, timeout=300) as client:
        reply = client.post("/databases/upload", files={"file": (name, data)})
        seconds = time.perf_counter() - started
        body = reply.json()
        said = body.get("error", {}).get("message", "") or f"read: {body.get('tables')} tables"
        if reply.status_code == 201:
            client.delete(f"/databases/{body['id']}")
        client.get("/health").raise_for_status()
    left = sum(file.stat().st_size for file in served.temporary.rglob("*") if file.is_file()) / 2**20
    return Sent(kind, len(data), reply.status_code, said, seconds, resident_mb(served.pid) - before, left)
