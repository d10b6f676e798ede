"""`python -m agent.lab tune --db URL --questions verified.jsonl --out DIR`: tunes the agent to a database.

In: verified questions, a budget. Out: progress on standard error, the result on standard output, everything else in the
folder of `--out`. When it is stopped, the same command goes on.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.cli.shared import RESUMES, errors_reported
from eval.parallel import On, Quiet
from text2sql_lab.adapters.commands import app as adapter_app
from text2sql_lab.options import AsJson, Databases, Db, Questions

if TYPE_CHECKING:
    from text2sql_lab.session import Options

app = typer.Typer(
    help="Make the agent better on one database, with proof.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(adapter_app, name="adapter")
_Out = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a run.")]


@app.command()
def tune(
    questions: Questions,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the run; one that is there goes on.")],
    db: Db = None,
    databases: Databases = None,
    evolver: Annotated[
        str, typer.Option(metavar="NAME", help="Who makes kits: mined, knobs, reflective, gepa, scripted.")
    ] = "mined",
    approach: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Ways of the reflective evolver; repeat it for several.")
    ] = None,
    deep_focus: Annotated[
        int,
        typer.Option(min=0, max=9, metavar="K", help="Earlier rounds that try a reflective kit before it competes."),
    ] = 1,
    candidate: Annotated[
        list[Path] | None, typer.Option(metavar="DIR", help="Kit that scripted proposes; repeat it for several.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Model that answers; default: the configured one.")
    ] = None,
    writer: Annotated[
        str | None, typer.Option(metavar="NAME", help="Model that writes kits; default: the one that answers.")
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="The built-in engine answers.")] = False,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of each split.")] = 8,
    seed: Annotated[int, typer.Option(help="Decides the splits and every draw.")] = 0,
    hours: Annotated[float | None, typer.Option(min=0, help="Hours, over all starts of the run.")] = None,
    budget: Annotated[float | None, typer.Option(min=0, metavar="USD", help="Dollars for models.")] = None,
    calls: Annotated[int | None, typer.Option(min=0, metavar="N", help="Requests to models.")] = None,
    jobs: Annotated[
        int, typer.Option(min=1, max=64, help="Questions under way at once, with a model or on a cluster.")
    ] = 4,
    on: On = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Make kits from verified questions and prove the best one on held-out questions."""
    from text2sql_lab.session import Options

    options = Options(
        questions=str(questions.resolve()),
        db=db or "",
        databases=databases or "",
        evolver=evolver,
        approaches=tuple(approach or ()),
        deep_focus=deep_focus,
        candidates=tuple(str(one.resolve()) for one in candidate or ()),
        model="offline" if offline else model or "",
        writer=writer or "",
        rounds=rounds,
        seed=seed,
        hours=hours,
        dollars=budget,
        calls=calls,
        jobs=jobs,
        on=on or "",
    )
    _finish(out, options, as_json, quiet)


@app.command()
def extend(
    out: _Out,
    rounds: Annotated[int, typer.Option(min=1, help="More rounds of each split.")] = 4,
    hours: Annotated[float | None, typer.Option(min=0, help="Hours, over all starts; default: as before.")] = None,
    budget: Annotated[float | None, typer.Option(min=0, metavar="USD", help="Dollars; default: as before.")] = None,
    calls: Annotated[int | None, typer.Option(min=0, metavar="N", help="Requests; default: as before.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Play more rounds. The held-out questions are then read again, and p counts that."""
    from text2sql_lab.session import extended

    with errors_reported():
        options = extended(out, rounds, hours, budget, calls)
    _finish(out, options, as_json, quiet)


@app.command()
def status(out: _Out, as_json: AsJson = False) -> None:
    """Show how far a run is, without touching it."""
    from text2sql_lab.session import status_of

    with errors_reported():
        _print(status_of(out), as_json)


@app.command()
def report(out: _Out) -> None:
    """Write DIR/report.html: lineage, ratings, proof per question, cost, and what the kit says."""
    from text2sql_lab.report import write_report

    with errors_reported():
        typer.echo(write_report(out))


@app.command()
def compare(
    out: _Out,
    first: Annotated[str, typer.Argument(help="A kit of the run, or base.")],
    second: Annotated[str, typer.Argument(help="Another.")],
    as_json: AsJson = False,
) -> None:
    """Compare two kits on the questions to learn from and to choose by; held-out questions are not touched."""
    from text2sql_lab.session import compared

    with errors_reported(RESUMES):
        _print(asyncio.run(compared(out, first, second)), as_json)


@app.command()
def tiers(
    questions: Questions,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the results; one that is there goes on.")],
    db: Db = None,
    databases: Databases = None,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Model; repeat it for several. Default: the configured one."),
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="The built-in engine is one of the models.")] = False,
    strategy: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Strategy, also with a kit; repeatable. Default: the kit's, else as set."),
    ] = None,
    kit: Annotated[
        list[Path] | None, typer.Option(metavar="DIR", help="Kit to compare with none; repeat it for several.")
    ] = None,
    held_out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Only the questions that this run of tune held out.")
    ] = None,
    price: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL=IN/OUT", help="Dollars per million tokens of one of several models; repeatable."),
    ] = None,
    budget: Annotated[float | None, typer.Option(min=0, metavar="USD", help="Dollars, over all starts.")] = None,
    calls: Annotated[int | None, typer.Option(min=0, metavar="N", help="Requests to models, over all starts.")] = None,
    jobs: Annotated[
        int, typer.Option(min=1, max=64, help="Questions under way at once; more of them make each one slower.")
    ] = 1,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare models, each without a kit and with one: accuracy, cost and time on the same questions."""
    from agent.config import settings
    from text2sql_lab.tier_page import PAGE, write_reports
    from text2sql_lab.tiers import TierOptions, measured_tiers

    with errors_reported(RESUMES):
        options = TierOptions(
            questions,
            db or "",
            databases or "",
            held_out,
            models=(*(model or ()), *(["offline"] if offline else [])),
            strategies=tuple(strategy or ()),
            kits=tuple(kit or ()),
            prices=dict(map(_price, price or ())),
            dollars=budget,
            calls=calls,
            jobs=jobs,
        )
        progress = None if quiet else sys.stderr
        found = asyncio.run(measured_tiers(out, options, settings(), lambda t: write_reports(out, t), progress))
    if as_json:
        typer.echo(json.dumps(found.record()))
        return
    for one in found.figures:
        typer.echo(f"{one.tier.name}: EX {one.ex}, median {one.seconds[0]:.2f} s, {one.tokens:,.0f} tokens a question")
    typer.echo(f"Report: {out / PAGE}")


@app.command()
def accept(
    out: _Out,
    env: Annotated[Path, typer.Option(metavar="FILE", help="Settings file to change.")] = Path(".env"),
    force: Annotated[bool, typer.Option("--force", help="Accept a kit that was not proved better.")] = False,
) -> None:
    """Make the kit of a run the default: TEXT2SQL_KIT in .env."""
    from text2sql_lab.session import accepted

    with errors_reported():
        typer.echo(accepted(out, env, force=force))


def _price(text: str) -> tuple[str, tuple[float, float]]:
    """The model, and dollars per million input and output tokens, of `MODEL=IN/OUT`. Raises InputError."""
    from eval.errors import InputError

    model, _, prices = text.rpartition("=")
    try:
        price_in, price_out = (float(one) for one in prices.split("/"))
    except ValueError:
        price_in = price_out = -1.0
    if not model or not 0 <= price_in < float("inf") or not 0 <= price_out < float("inf"):
        raise InputError(f"--price is MODEL=IN/OUT, such as gpt-5=1.25/10, not {text!r}.")
    return model, (price_in, price_out)


def _print(summary: dict[str, Any], as_json: bool) -> None:
    typer.echo(json.dumps(summary) if as_json else "\n".join(f"{name}: {value}" for name, value in summary.items()))


def _finish(out: Path, options: Options, as_json: bool, quiet: bool) -> None:
    from agent.config import settings
    from text2sql_lab.session import Session

    with errors_reported(f"Stopped. The same command goes on; `python -m agent.lab status {out}` shows how far."):
        session = Session(out, options, settings(), None if quiet else sys.stderr)
        result = asyncio.run(session.finish())
    if as_json:
        typer.echo(json.dumps(asdict(result)))
        return
    for name, proof in (("at random", result.random), ("forms kept apart", result.form_disjoint)):
        typer.echo(
            f"{name:16} {proof.before:.3f} → {proof.after:.3f} of {proof.n} held-out questions, "
            f"won {proof.won}, lost {proof.lost}, p = {proof.p:.4g}"
        )
    typer.echo(f"{'Accepted' if result.accepted else 'Not accepted'}: {result.why}")
    if result.accepted:
        typer.echo(f"Kit: {result.kit}\nUse it with --kit, or make it the default: python -m agent.lab accept {out}")


if __name__ == "__main__":
    app(prog_name="python -m agent.lab")
