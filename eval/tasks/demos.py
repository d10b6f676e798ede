"""The demo databases: their names, sample questions, and the location of their files.

In: a demo's id. Out: a SQLite file ready to open, built on first use into the cache folder, or the same tables in any
engine. A file's name carries the first digits of its content's checksum, so that a release with different content
builds a new file and never opens an old one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eval.tasks.archive import Row, TableDef, table_definitions, table_rows
from eval.tasks.cache_folder import cache_folder, fallback_folder, kept_file

if TYPE_CHECKING:
    from eval.tasks.load import OnProgress


@dataclass(frozen=True, slots=True)
class Demo:
    id: str
    name: str
    description: str
    checksum: str
    """SHA-256 of the content, the same on every engine; `experiments.demo_databases.canonical` defines it."""
    example_questions: tuple[str, ...]
    """Questions that a new user might ask, from easy to hard; the gold SQL for each is in tests/fixtures."""

    @property
    def tables(self) -> tuple[TableDef, ...]:
        return table_definitions(self.id)

    def rows(self) -> Iterator[tuple[TableDef, list[Row]]]:
        return table_rows(self.id)

    def build(self, target: str, on_progress: OnProgress | None = None) -> None:
        """Write the demo into `target`, a file or the URL of a database; see `load.load`."""
        from eval.tasks.load import load

        load(self.rows(), self.tables, target, on_progress)


DEMOS: tuple[Demo, ...] = (
    Demo(
        id="shop",
        name="Small shop",
        description="An online shop for coffee, tea, kitchen and desk things: 8 tables, three years of orders.",
        checksum="0b2e9eece6ecde5edd8fde20a59010a8c878e34ef77b5220ee2c5713d75660e9",
        example_questions=(
            "How many customers are there?",
            "Which customers live in Berlin?",
            "Show the 5 heaviest products with their weight.",
            "What is the total revenue from delivered orders?",
            "How many products does each category have?",
            "Which products has nobody ever ordered?",
            "Who are the top 5 customers by total order amount?",
            "What is the average rating of each product?",
            "Show me the number of orders per month in 2025.",
            "Which city has the most customers?",
            "Which categories earned more than 30000 euros in total, not counting cancelled orders?",
            "Which customers bought coffee but never bought tea?",
        ),
    ),
    Demo(
        id="enterprise",
        name="Enterprise warehouse",
        description="Three retail brands in one star schema: 19 tables, sales, stock, web events, support, a BOM.",
        checksum="6e25e8aa62f2147674d46abecd322722153251db9fc792ef9bd26f0320da4c1d",
        example_questions=(
            "How many current customers do we have?",
            "What is the total sales amount?",
            "List all support tickets that are still open.",
            "Total sales amount by store",
            "What are the top 10 products by sales amount?",
            "Show sales per quarter of 2025.",
            "Which finished products were never sold?",
            "What is the average satisfaction score by ticket topic?",
            "Which promotions did nobody use?",
            "What is the gross margin of each category, as sales minus cost?",
            "How many sessions reached the checkout but ended without a purchase?",
            "All parts, at any level, that go into the Stand Mixer Classic",
        ),
    ),
)


def demo_ids() -> tuple[str, ...]:
    return tuple(demo.id for demo in DEMOS)


def demo_named(demo_id: str) -> Demo:
    """The demo with that id; the KeyError for an unknown id lists the known ones."""
    for demo in DEMOS:
        if demo.id == demo_id:
            return demo
    raise KeyError(f"no demo database {demo_id!r}; there are: {', '.join(demo_ids())}")


def demo_path(demo_id: str, cache_dir: str | Path | None = None, on_progress: OnProgress | None = None) -> Path:
    """The demo's SQLite file, built first if it is missing (this takes seconds). If the cache folder is not writable, a
    temporary folder is used instead, with a note to `on_progress`.

    Raises KeyError for an unknown id, DatabaseError when no folder is writable.
    """
    demo = demo_named(demo_id)

    def build(path: Path) -> None:
        demo.build(str(path), on_progress)

    try:
        return kept_file(cache_folder(cache_dir) / file_name(demo), build)
    except OSError as error:
        refused = f"cannot write to the cache folder: {error.strerror or error} {error.filename or ''}".rstrip()
    try:
        spare = fallback_folder()
        if on_progress:
            from eval.tasks.load import Progress

            on_progress(Progress(0, len(demo.tables), f"{refused}; using {spare} instead", is_note=True))
        return kept_file(spare / file_name(demo), build)
    except OSError as error:
        from eval.databases.types import DatabaseError

        raise DatabaseError(
            f"{refused}, nor to the folder for temporary files; set TEXT2SQL_CACHE_DIR to a folder you can write to"
        ) from error


def file_name(demo: Demo, engine: str = "sqlite") -> str:
    """The name of the demo's file, which changes with its content."""
    return f"{demo.id}-{demo.checksum[:12]}.{engine}"
