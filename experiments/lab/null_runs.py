"""`python -m experiments.lab.null_runs --bench DIR --runs 50`: tunes where there is nothing to learn.

In: a benchmark. Each run takes a random part of its questions, shuffles the verified queries among those of one
database, and tunes. Out: how many runs accepted a kit; each one is an error.
"""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from agent.cli.logs import direct_logs
from agent.config import Settings
from agent.lab.session import Options, Session

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def null_runs(
    bench: Annotated[Path, typer.Option(metavar="DIR", help="A benchmark: questions.jsonl and databases/.")],
    runs: Annotated[int, typer.Option(min=1)] = 50,
    questions: Annotated[int, typer.Option(min=2, help="Questions of each run.")] = 60,
) -> None:
    """Tune with shuffled labels and count what is accepted."""
    direct_logs(verbose=False)
    lines = [json.loads(line) for line in (bench / "questions.jsonl").read_text().splitlines()]
    lines = [line for line in lines if line.get("gold_sql")]
    accepted = 0
    for seed in range(runs):
        draw = random.Random(seed)
        part = [dict(line) for line in draw.sample(lines, min(questions, len(lines)))]
        for db in sorted({line["db"] for line in part}):
            here = [line for line in part if line["db"] == db]
            golds = [(line["gold_sql"], line.get("alt_gold_sql")) for line in here]
            draw.shuffle(golds)
            for line, (gold, others) in zip(here, golds, strict=True):
                line.update(gold_sql=gold, alt_gold_sql=others)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "questions.jsonl")
            file.write_text("".join(json.dumps(line) + "\n" for line in part))
            options = Options(questions=str(file), databases=str(bench / "databases"), model="offline", seed=seed)
            result = asyncio.run(Session(Path(folder, "run"), options, Settings(_env_file=None)).finish())
        accepted += result.accepted
        typer.echo(f"{seed + 1} runs, {accepted} accepted; this one won {result.random.won}, lost {result.random.lost}")


if __name__ == "__main__":
    app(prog_name="python -m experiments.lab.null_runs")
