"""`python -m agent.lab adapter`: an adapter trained on verified questions, used only if it is better.

In: verified questions, a base model. Out: progress on standard error, the result on standard output, everything else in
folders. Exit codes of `gate`: 0 use it, 1 don't use it, 5 nothing proved; of every command: 2 wrong use, 4 the model
does not answer, 130 stopped by Ctrl-C, after which the same command goes on.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from agent.cli import exits
from agent.cli.shared import RESUMES, errors_reported
from eval.parallel import Quiet
from text2sql_lab.adapters import STRATEGY
from text2sql_lab.options import AsJson, Databases, Db, Questions, databases_named

app = typer.Typer(
    help="Train an adapter on verified questions, and use it only if it is better on questions that it never saw.",
    rich_markup_mode=None,
)
_Data = Annotated[Path, typer.Option("--data", metavar="DIR", help="Folder that `data` made.")]
_Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a training run.")]
_Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder to write.")]
_Examples = Annotated[list[int] | None, typer.Option("--examples", "-k", min=0, max=20, metavar="K")]
_Base = Annotated[str, typer.Option(metavar="DIR|FILE|NAME", help="Folder, GGUF file, or a name of transformers.")]
_Qlora = Annotated[bool, typer.Option("--qlora", help="Keep the base in four bits (NF4).")]
_Bf16 = Annotated[bool, typer.Option("--bf16", help="Compute in bfloat16 without a GPU, too.")]
_Template = Annotated[
    Path | None, typer.Option(metavar="FILE", exists=True, dir_okay=False, help="Jinja, for a base without one.")
]


@app.command()
def data(
    questions: Questions,
    out: _Out,
    db: Db = None,
    databases: Databases = None,
    held_out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Test questions; without it, half of the forms are held out.")
    ] = None,
    examples: _Examples = None,
    strategy: Annotated[str, typer.Option(metavar="NAME", help="How the agent will run.")] = STRATEGY,
    seed: Annotated[int, typer.Option(help="Decides the split.")] = 0,
    drop_leaks: Annotated[bool, typer.Option("--drop-leaks", help="Leave leaking questions out, and go on.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Render verified questions as the agent's own prompts. -k K (repeatable): with K examples; default 0. Questions
    of the held-out file, and questions whose query has the form of one there, end the command."""
    from agent.config import settings
    from text2sql_lab.adapters.data import make_data
    from text2sql_lab.progress import Progress
    from text2sql_lab.questions import read_questions

    shown = Progress(None if quiet else sys.stderr)
    with errors_reported(RESUMES):
        collection, one = databases_named(db, databases), db or ""
        made = asyncio.run(
            make_data(
                read_questions(questions, one),
                collection,
                settings(),
                out,
                held_out=read_questions(held_out, one) if held_out else (),
                examples=tuple(dict.fromkeys(examples or (0,))),
                how=strategy,
                seed=seed,
                drop_leaks=drop_leaks,
                single=bool(db),
                on_progress=lambda done, of: shown.say(f"{done} of {of} questions", passing=done < of),
            )
        )
    refused = ", ".join(f"{count} {why}" for why, count in made.refused.items()) or "none"
    typer.echo(
        json.dumps(asdict(made))
        if as_json
        else f"{made.train} rows to learn from, {made.validation} to choose by, {made.held_out} questions held out; "
        f"left out: {refused}"
    )


@app.command()
def tiny(data: _Data, out: _Out, seed: int = 0) -> None:
    """Make a base model of 600,000 random weights, to try the whole path without a GPU or a download."""
    from text2sql_lab.adapters.tiny import make_tiny

    with errors_reported(RESUMES):
        typer.echo(f"{out}: {make_tiny(data, out, seed):,} weights")


@app.command()
def train(
    data: _Data,
    base: _Base,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of runs; each seed has its own in it.")],
    chat_template: _Template = None,
    seed: Annotated[list[int] | None, typer.Option(help="Repeat it for several runs.")] = None,
    qlora: _Qlora = False,
    bf16: _Bf16 = False,
    rank: Annotated[int, typer.Option(min=1, max=512)] = 16,
    alpha: Annotated[int, typer.Option(min=1)] = 32,
    dropout: Annotated[float, typer.Option(min=0, max=0.9)] = 0.05,
    epochs: Annotated[float, typer.Option(min=0.01)] = 3.0,
    steps: Annotated[int, typer.Option(min=0, help="Above 0, in place of epochs.")] = 0,
    batch: Annotated[int, typer.Option(min=1, help="Rows at once.")] = 1,
    accumulate: Annotated[int, typer.Option(min=1, help="Times --batch: rows of one step.")] = 8,
    rate: Annotated[float, typer.Option(min=0, help="Learning rate.")] = 2e-4,
    max_tokens: Annotated[int, typer.Option(min=64, help="Longer rows are left out, never cut.")] = 4096,
    save_every: Annotated[int, typer.Option(min=1, help="Steps between checkpoints.")] = 50,
    validation_rows: Annotated[int, typer.Option(min=0, help="Above 0, rows of the validation at most.")] = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train an adapter for each seed. The same command goes on where a killed one stopped."""
    from text2sql_lab.adapters.train import TrainOptions
    from text2sql_lab.adapters.train import train as trained
    from text2sql_lab.progress import Progress

    seeds, manifests = list(dict.fromkeys(seed or [0])), {}
    shown = Progress(None if quiet else sys.stderr)
    with errors_reported(RESUMES):
        for one in seeds:
            options = TrainOptions(
                data=str(data.resolve()),
                base=str(Path(base).resolve()) if Path(base).exists() else base,
                chat_template=_text(chat_template),
                seed=one,
                qlora=qlora,
                bf16=bf16,
                rank=rank,
                alpha=alpha,
                dropout=dropout,
                epochs=epochs,
                steps=steps,
                batch=batch,
                accumulate=accumulate,
                rate=rate,
                max_tokens=max_tokens,
                save_every=save_every,
                validation_rows=validation_rows,
            )

            def on_progress(step: int, of: int, loss: float, one: int = one) -> None:
                shown.say(f"seed {one}: step {step} of {of}, loss {loss:.4f}", passing=step < of)

            manifests[str(out / f"seed-{one}")] = trained(options, out / f"seed-{one}", on_progress)
    if as_json:
        typer.echo(json.dumps(manifests))
        return
    for folder, made in manifests.items():
        first, last = made["loss"][0][1], made["loss"][-1][1]
        validation = "" if made["validation_loss"] is None else f", validation {made['validation_loss']:.3f}"
        typer.echo(
            f"{folder}: {made['steps']} steps, loss {first:.3f} → {last:.3f}{validation}; "
            f"{made['weights']['trained']:,} of {made['weights']['all']:,} weights, "
            f"{made['seconds']:,.0f} s on {made['device']}"
        )


@app.command()
def serve(
    base: _Base,
    adapter: Annotated[list[str] | None, typer.Option(metavar="NAME=DIR", help="Repeat it for several.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65_535)] = 8010,
    chat_template: _Template = None,
    qlora: _Qlora = False,
    bf16: _Bf16 = False,
    reply_tokens: Annotated[int, typer.Option(min=1, help="Longest reply.")] = 512,
) -> None:
    """Serve a base and adapters on 127.0.0.1, for trying; a real server is faster."""
    from text2sql_lab.adapters.serve import BASE, LocalModel, served
    from text2sql_lab.adapters.train import load_base

    pairs = [text.partition("=") for text in adapter or ()]
    if any(not (name and folder) or name == BASE for name, _, folder in pairs):
        raise typer.BadParameter(f"--adapter takes NAME=DIR, and no adapter is called {BASE}")
    with errors_reported():
        loaded = load_base(base, qlora=qlora, bf16=bf16, chat_template=_text(chat_template))
        model = LocalModel(loaded, {name: Path(folder) for name, _, folder in pairs}, reply_tokens=reply_tokens)
        server = served(model, port)
        typer.echo(f"OPENAI_BASE_URL=http://127.0.0.1:{server.server_port}/v1, models: {', '.join(model.names)}")
        with server:
            server.serve_forever()


@app.command()
def gate(
    run: _Run,
    data: _Data,
    db: Db = None,
    databases: Databases = None,
    endpoint: Annotated[
        str | None, typer.Option(metavar="URL", help="Server that has both models; default: a slow one is started.")
    ] = None,
    base: Annotated[str, typer.Option(metavar="NAME", help="The base's name at the endpoint.")] = "base",
    adapter: Annotated[str, typer.Option(metavar="NAME", help="The adapter's name at the endpoint.")] = "tuned",
    examples: _Examples = None,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Questions under way at once.")] = 4,
    reply_tokens: Annotated[int, typer.Option(min=1, help="Longest reply of the server that is started.")] = 512,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare adapter and base on the held-out questions, which the agent answers. -k K (repeatable): with K examples;
    default 0 and 3. Exit code: 0 use it, 1 don't use it, 5 nothing proved."""
    from agent.config import settings
    from text2sql_lab.adapters.export import VERDICT, adapter_digest
    from text2sql_lab.adapters.gate import gate as judged
    from text2sql_lab.adapters.gate import held_out, table
    from text2sql_lab.adapters.train import read_manifest
    from text2sql_lab.progress import Progress

    shown = Progress(None if quiet else sys.stderr)
    with errors_reported(RESUMES):
        held_out(data)
        digest, collection = adapter_digest(run), databases_named(db, databases)
        local = nullcontext(endpoint) if endpoint else _local(read_manifest(run), run, base, adapter, reply_tokens)
        with local as url:
            verdict = asyncio.run(
                judged(
                    data,
                    collection,
                    settings(),
                    run / "gate",
                    endpoint=url,
                    base=base,
                    adapter=adapter,
                    identity=digest,
                    examples=tuple(examples or (0, 3)),
                    jobs=jobs,
                    on_progress=lambda what, done, of: shown.say(
                        f"{done} of {of} questions: {what}", passing=done < of
                    ),
                )
            )
    report = {**asdict(verdict), "adapter": digest}
    (run / VERDICT).write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    typer.echo(json.dumps(report) if as_json else table(verdict))
    codes = {"use it": exits.ANSWERED, "don't use it": exits.NO_ANSWER, "nothing proved": exits.DOUBTFUL}
    raise typer.Exit(codes[verdict.verdict])


@app.command()
def export(
    run: _Run,
    out: _Out,
    name: Annotated[str, typer.Option(help="What servers will call the adapter.")] = "tuned",
    merged: Annotated[bool, typer.Option("--merged", help="Also the whole model with the adapter in it.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Export an adapter that was not proved better.")] = False,
) -> None:
    """Write what vLLM, Ollama and the agent need to use the adapter."""
    from text2sql_lab.adapters.export import export as exported

    with errors_reported(RESUMES):
        for written in exported(run, out, name, merged=merged, force=force):
            typer.echo(str(out / written))


@contextmanager
def _local(manifest: dict[str, Any], run: Path, base: str, adapter: str, reply_tokens: int) -> Iterator[str]:
    """A server for the base and the adapter of a run; the URL."""
    from eval.errors import InputError
    from text2sql_lab.adapters.serve import BASE, LocalModel, serving
    from text2sql_lab.adapters.train import load_base

    if base != BASE:
        raise InputError(f"--base names a model at --endpoint; without one it is {BASE!r}.")
    options = manifest["options"]
    how = {key: options[key] for key in ("qlora", "bf16", "chat_template") if key in options}
    model = LocalModel(load_base(options["base"], **how), {adapter: run / "adapter"}, reply_tokens=reply_tokens)
    with serving(model) as url:
        yield url


def _text(file: Path | None) -> str:
    return file.read_text("utf-8") if file else ""
