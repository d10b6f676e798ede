"""The commands `python -m experiments.recorded serve` and `python -m experiments.recorded record`.

In: options. Out: a server on loopback; its first line on standard output says what `OPENAI_BASE_URL` to use. Runs until
Ctrl-C.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from experiments.usage import usage, usage_reported

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from experiments.recorded.server import Replying

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

_Port = Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 takes a free one.")]


@app.callback()
def _commands() -> None:
    """Replay a language model from a recording, or record one."""


@app.command()
def serve(
    recording: Annotated[Path, typer.Option(metavar="FILE", help="Recorded exchanges, or lines {system, id, sql}.")],
    questions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For answers: lines {id, db, question}.")
    ] = None,
    system: Annotated[
        str, typer.Option(metavar="NAME,…", help="For answers: whose, in the order of attempts; default: all.")
    ] = "",
    distinct: Annotated[
        bool, typer.Option("--distinct", help="For answers: skip one that an earlier system gave.")
    ] = False,
    relevance: Annotated[float, typer.Option(min=0, max=1, help="For answers: what a judge is told.")] = 0.5,
    port: _Port = 0,
    delay: Annotated[float, typer.Option(min=0, metavar="S", help="Seconds before each reply.")] = 0.0,
    fail: Annotated[
        str, typer.Option(metavar="KIND:SHARE,…", help="Failures on purpose: 429, 500, garbled, broken, cut.")
    ] = "",
    seed: Annotated[int, typer.Option(help="For the failures.")] = 0,
    retry_after: Annotated[float, typer.Option(min=0, metavar="S", help="What a 429 asks the client to wait.")] = 1.0,
) -> None:
    """Answer chat completions from a recording.

    Example: python -m experiments.recorded serve --recording run.jsonl --fail 429:0.1,cut:0.01
    """
    from experiments.recorded.faults import Faults, shares
    from experiments.recorded.server import application

    with usage_reported():
        faults = Faults(shares(fail), seed=seed, retry_after=retry_after)
        systems = [name.strip() for name in system.split(",") if name.strip()]
        source = _source(recording, questions, systems, distinct=distinct, relevance=relevance)
    _run(application(source, delay=delay, faults=faults), port)


@app.command()
def record(
    upstream: Annotated[str, typer.Option(metavar="URL", help="The real server's base URL, as in OPENAI_BASE_URL.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Recording to write, or to go on with.")],
    port: _Port = 0,
) -> None:
    """Pass requests on to a real server and record its replies.

    Example: python -m experiments.recorded record --upstream https://api.openai.com/v1 --out run.jsonl
    """
    from experiments.recorded.exchanges import Recorder
    from experiments.recorded.proxy import RecordingProxy

    if not upstream.startswith(("http://", "https://")):
        raise usage("--upstream must begin with http:// or https://")
    with usage_reported(), Recorder(out) as recorder:
        try:
            _run(RecordingProxy(upstream, recorder).application(), port)
        finally:
            typer.echo(f"{recorder.written} exchanges recorded", err=True)


def _source(
    recording: Path, questions: Path | None, systems: Sequence[str], *, distinct: bool, relevance: float
) -> Replying:
    """Raises OSError and ValueError."""
    from experiments.recorded.answers import Answers, load_answers
    from experiments.recorded.exchanges import Exchanges, is_recording, load_exchanges

    if is_recording(recording):
        if questions or systems or distinct:
            raise ValueError("--questions, --system and --distinct are for recorded answers; these are exchanges")
        exchanges, skipped = load_exchanges(recording)
        for why, lines in skipped.items():
            typer.echo(f"{recording.name}: {lines} lines left out ({why})", err=True)
        return Exchanges(exchanges)
    if questions is None:
        raise ValueError(f"{recording.name} holds no exchanges; if it holds answers, --questions says to what")
    return Answers(load_answers(recording, questions, systems, distinct=distinct), relevance=relevance)


def _run(application: Starlette, port: int) -> None:
    from experiments.recorded.server import bound, serve, url_of

    try:
        place = bound(port)
    except OSError as error:
        raise usage(f"port {port}: {error.strerror}") from None
    typer.echo(f"OPENAI_BASE_URL={url_of(place)}")
    sys.stdout.flush()
    with usage_reported():
        serve(application, place)


def main() -> None:
    """Entry point of `python -m experiments.recorded`."""
    app(prog_name="python -m experiments.recorded")


if __name__ == "__main__":
    main()
