"""How many failing queries of real models `text2sql fix` mends: `python -m experiments.mending --bench … --recorded …`.

In: recorded answers, of which those are taken that the guard refuses or the engine fails on. Out: a line a set: how
many run afterwards, and how many of these return the rows of gold in any order of columns. What was never right stays
wrong: the second figure is bounded by what the model meant.
"""

from __future__ import annotations

import contextlib
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from agent.statements.mending import mended
from eval.databases import open_database
from eval.databases.base import Database
from eval.metrics.comparison import same_result, same_set
from eval.metrics.items import executed
from eval.sql import orders_rows, parse
from experiments.json_lines import read_lines

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

SETS = {
    "spider_dev_156_runs": "spider_dev",
    "spider_test_third": "spider_test_third",
    "bird_superhero": "bird_superhero",
}


@app.command()
def main(
    bench: Annotated[Path, typer.Option(help="The folder of the benchmarks.")],
    recorded: Annotated[Path, typer.Option(help="The folder of recorded answers.")],
    limit: Annotated[int, typer.Option(min=1, help="Failing queries of a set.")] = 300,
) -> None:
    """Mend recorded queries that fail, and compare their rows with gold's."""
    typer.echo("| answers | failing | run afterwards | with gold's rows |\n| --- | --- | --- | --- |")
    for name, source in SETS.items():
        seen: Counter[str] = Counter()
        with contextlib.ExitStack() as stack:
            for sql, gold, database in _failing(bench / source, recorded / f"{name}.jsonl", limit, stack):
                made = mended(sql, database)
                seen["all"] += 1
                if made.result is None or not made.result.ok:
                    continue
                seen["run"] += 1
                parsed = parse(gold, "sqlite")
                rows = executed(parsed, database)
                right = same_result(rows, made.result, ordered=orders_rows(parsed)) or same_set(rows, made.result)
                seen["right"] += right
        typer.echo(f"| {name} | {seen['all']} | {seen['run']} | {seen['right']} |")


def _failing(
    folder: Path, answers: Path, limit: int, stack: contextlib.ExitStack
) -> Iterator[tuple[str, str, Database]]:
    golds = {str(line["id"]): line["gold_sql"] for line in read_lines(folder / "questions.jsonl")}
    lines, opened, seen = list(read_lines(answers)), dict[str, Database](), set[tuple[str, str]]()
    random.Random(1).shuffle(lines)
    for line in lines:
        key = (line["db"], line["sql"])
        if key in seen or str(line["id"]) not in golds:
            continue
        seen.add(key)
        if line["db"] not in opened:
            place = folder / "databases" / f"{line['db']}.sqlite"
            opened[line["db"]] = stack.enter_context(open_database(place))
        database = opened[line["db"]]
        if not executed(parse(line["sql"], "sqlite"), database).ok:
            yield line["sql"], golds[str(line["id"])], database
            limit -= 1
            if not limit:
                return


if __name__ == "__main__":
    app()
