"""The audit of gold against other people's verdicts on it: `python -m experiments.judge.audit --bench DIR`.

In: benchmarks whose gold somebody has judged: two strong models (Spider) or experts (NL2SQL-Bugs). Out: how many of the
queries held wrong `eval.batch audit` names, and how many of those it names are held wrong; once by its proofs alone and
once by even odds. Queries on which the models do not agree are left out.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from eval.databases import open_database
from eval.databases.base import Database
from eval.examination import Query, examine
from eval.scoring import EVEN_ODDS, score
from experiments.json_lines import read_lines

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

SETS = ("spider_dev", "spider_test_third", "spider_train", "nl2sql_bugs")
_HELD = {"CORRECT": True, "INCORRECT": False, "PARTIALLY_CORRECT": False, "UNANSWERABLE": False}
Verdicts = Iterator[tuple[Path, str, str, str, bool]]


@app.command()
def main(
    bench: Annotated[Path, typer.Option(help="The folder of the benchmarks.")],
    only: Annotated[list[str] | None, typer.Option("--set", help=f"May be repeated: {', '.join(SETS)}.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Queries of a set.")] = 3_000,
) -> None:
    """How well contradictions and even odds find gold that others hold wrong."""
    typer.echo("| set | queries | held wrong | named by proof | of these wrong | below even odds | of these wrong |")
    typer.echo("| --- | --- | --- | --- | --- | --- | --- |")
    for name in only or SETS:
        seen: Counter[tuple[str, bool]] = Counter()
        with contextlib.ExitStack() as stack:
            opened: dict[Path, Database] = {}
            for place, question, sql, evidence, right in list(_verdicts(bench, name))[:limit]:
                if place not in opened:
                    opened[place] = stack.enter_context(open_database(place))
                database = opened[place]
                scored = score(
                    examine(Query(question, sql, taught=evidence.lower()), database, schema=database.schema())
                )
                unlikely = scored.probability is not None and scored.probability < EVEN_ODDS
                for kind, holds in (("all", True), ("proof", bool(scored.conflicts)), ("odds", unlikely)):
                    seen[kind, right] += holds
        wrong = {kind: seen[kind, False] for kind in ("all", "proof", "odds")}
        total = {kind: seen[kind, True] + wrong[kind] for kind in wrong}
        typer.echo(
            f"| {name} | {total['all']} | {wrong['all']} | {total['proof']} | {wrong['proof']} | {total['odds']} | "
            f"{wrong['odds']} |"
        )


def _verdicts(bench: Path, name: str) -> Verdicts:
    """(database, question, SQL, evidence, held right)"""
    if name == "nl2sql_bugs":
        folder = bench / "bird_minidev_schema_only" / "databases"
        for line in read_lines(bench / "nl2sql_bugs_schema_only" / "questions.jsonl"):
            yield (
                folder / f"{line['db']}.sqlite",
                line["question"],
                line["sql"],
                line["evidence"] or "",
                bool(line["right"]),
            )
        return
    file = bench / name / "gold_verdicts.jsonl"
    told = {line["id"]: line["verdict"] for line in read_lines(file)} if file.exists() else {}
    for line in read_lines(bench / name / "questions.jsonl"):
        verdict = told.get(line["id"], line.get("gold_verdict"))
        place = bench / name / "databases" / f"{line['db']}.sqlite"
        if verdict in _HELD and place.exists():
            yield place, line["question"], line["gold_sql"], line.get("evidence") or "", _HELD[verdict]


if __name__ == "__main__":
    app()
