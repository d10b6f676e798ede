"""`python -m experiments.lab.null_runs --bench DIR --runs 50`: tunes where there is nothing to learn.

In: benchmarks, which take turns. Each run takes a random part of one's questions, shuffles the verified queries among
those of one database, and tunes. Out: how many runs accepted a kit; each one is an error.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from agent.cli.shared import direct_logs
from agent.config import Settings
from experiments.json_lines import read_lines, write_lines
from text2sql_lab.journal import BASE
from text2sql_lab.session import Options, Session

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


_NO_VETO = {"event": "held_out", "split": "form_disjoint", "kit": BASE, "ids": [], "before": "", "after": ""}
"""The second split can only refuse a kit, so it is left out: that saves half of the time and refuses nothing."""


@app.command()
def null_runs(
    bench: Annotated[list[Path], typer.Option(metavar="DIR", help="A benchmark: questions.jsonl and databases/.")],
    runs: Annotated[int, typer.Option(min=1)] = 50,
    first: Annotated[int, typer.Option(min=0, help="Seed of the first run.")] = 0,
    questions: Annotated[int, typer.Option(min=2, help="Questions of each run.")] = 200,
) -> None:
    """Tune with shuffled labels and count what is accepted."""
    direct_logs(verbose=False)
    accepted = 0
    for seed in range(first, first + runs):
        here = bench[seed % len(bench)]
        part = shuffled(here, questions, random.Random(seed))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "questions.jsonl")
            write_lines(file, part)
            options = Options(questions=str(file), databases=str(here / "databases"), model="offline", seed=seed)
            session = Session(Path(folder, "run"), options, Settings(_env_file=None))
            session.journal.add(_NO_VETO)
            result = asyncio.run(session.finish())
        accepted += result.accepted
        proof = result.random
        typer.echo(
            f"{seed - first + 1} runs, {accepted} accepted; seed {seed}, {here.name}, {len(part)} questions: right "
            f"{proof.before:.3f}, won {proof.won}, lost {proof.lost}; {time.process_time():.0f} s of processor time"
        )


def shuffled(bench: Path, size: int, draw: random.Random) -> list[dict[str, Any]]:
    """A part of a benchmark's questions, each with the verified query of another one on its database."""
    lines = [line for line in read_lines(bench / "questions.jsonl") if line.get("gold_sql")]
    part = [dict(line) for line in draw.sample(lines, min(size, len(lines)))]
    for db in sorted({line["db"] for line in part}):
        here = [line for line in part if line["db"] == db]
        golds = [(line["gold_sql"], line.get("alt_gold_sql")) for line in here]
        draw.shuffle(golds)
        for line, (gold, others) in zip(here, golds, strict=True):
            line.update(gold_sql=gold, alt_gold_sql=others)
    return part


if __name__ == "__main__":
    app(prog_name="python -m experiments.lab.null_runs")
