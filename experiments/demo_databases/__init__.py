"""The generators of the demo databases, and the command that writes the archives shipped with the package.

`python -m experiments.demo_databases` draws the rows of `shop` and `enterprise` from fixed seeds and writes
`eval/tasks/data/{id}.json.xz`. A test compares the files with the generators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from eval.tasks.archive import Row, TableDef

__all__ = ["generated"]


def generated(demo_id: str) -> Iterator[tuple[TableDef, list[Row]]]:
    """Each table of a demo with freshly drawn rows; the same in every run."""
    from experiments.demo_databases.enterprise.rows import rows as enterprise
    from experiments.demo_databases.shop.rows import rows as shop

    makers: dict[str, Callable[[], Iterator[tuple[TableDef, list[Row]]]]] = {"shop": shop, "enterprise": enterprise}
    return makers[demo_id]()
