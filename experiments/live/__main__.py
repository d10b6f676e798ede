"""`python -m experiments.live record|fit|answers`: what small models really answer, and how likely each is right.

`record` asks a served model the questions of benchmark folders as the cascade would, with nothing left out (the
engine's reading, the model's query, its repairs, samples), one JSON line a question; it resumes. `fit` learns from such
files the weights of `agent/candidates/live.txt`, prints what they are worth on each source that was left out, and
writes them with `--write`. `answers` hands the model's queries on to the fit of the judge.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(add_completion=False, help=__doc__, no_args_is_help=True)


@app.command()
def record(
    sources: Annotated[
        list[str], typer.Argument(help="Folders of the benchmark, as NAME or NAME:QUESTIONS:DATABASES.")
    ],
    bench: Annotated[Path, typer.Option(envvar="TEXT2SQL_BENCH_DIR", help="Folder of the benchmarks.")],
    out: Annotated[Path, typer.Option(help="File of JSON lines, to which is added.")],
    url: Annotated[str, typer.Option(help="The model's server.")] = "http://127.0.0.1:8099/v1",
    samples: Annotated[int, typer.Option(min=0, help="Samples of each question.")] = 2,
    seed: int = 1,
    at_once: Annotated[int, typer.Option(min=1, help="Questions that are asked at the same time.")] = 1,
) -> None:
    """Ask a served model, and write down all that was said."""
    from experiments.live.recording import questions_of

    known = {json.loads(line)["id"] for line in out.read_text().splitlines()} if out.exists() else set()
    wanted = [q for source in sources for q in questions_of(bench, source, random.Random(seed))]
    todo = [q for q in wanted if q["id"] not in known]
    typer.echo(f"{len(todo)} of {len(wanted)} questions", err=True)
    asyncio.run(_written(todo, bench, url, samples, out, at_once))


async def _written(todo: list[dict[str, Any]], bench: Path, url: str, samples: int, out: Path, at_once: int) -> None:
    from experiments.live.recording import recorded

    with out.open("a", encoding="utf-8") as file:
        number = 0
        async for line in recorded(todo, bench, url, samples, at_once):
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            file.flush()
            number += 1
            typer.echo(f"\r{number} of {len(todo)}", err=True, nl=False)


@app.command()
def fit(
    files: Annotated[list[Path], typer.Argument(help="What `record` wrote.")],
    bench: Annotated[Path, typer.Option(envvar="TEXT2SQL_BENCH_DIR", help="Folder of the benchmarks.")],
    write: Annotated[bool, typer.Option(help="Write the weights into agent/candidates/live.txt.")] = False,
) -> None:
    """Learn the weights, and print what they are worth on each source left out."""
    from experiments.live.fitting import fitted_on

    for line in fitted_on(files, bench, write=write):
        typer.echo(line)


@app.command()
def answers(
    file: Annotated[Path, typer.Argument(help="What `record` wrote.")],
    recorded: Annotated[Path, typer.Option(help="Folder of recorded answers.")],
    system: Annotated[str, typer.Option(help="Who wrote them.")] = "Qwen2.5-Coder 1.5B",
) -> None:
    """Write the model's distinct queries into `live_SOURCE.jsonl`, from which `python -m experiments.judge` learns."""
    found: dict[str, dict[str, None]] = {}
    for line in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
        written = (reply["sql"] for reply in line["replies"] if reply["sql"] and not reply["by_engine"])
        told = {"system": system, "id": line["id"].partition(":")[2], "db": line["db"]}
        found.setdefault(line["source"], {}).update(dict.fromkeys(json.dumps(told | {"sql": sql}) for sql in written))
    for source, lines in found.items():
        (recorded / f"live_{source}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        typer.echo(f"{source}: {len(lines)} answers")


if __name__ == "__main__":
    sys.exit(app())
