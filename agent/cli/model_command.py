"""`python -m agent.main model check`, `init`, `get` and `remove`: a team's semantic model, the model servers of this
machine, what a language model is good for, and the models that are fetched.

In: the words after `model`. Out: a document, a short table or one JSON object on standard output, progress on standard
error, and an exit code: 0 when all is well.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent.cli import exits
from agent.cli.shared import RESUMES, DatabaseOption, errors_reported, opened
from eval.errors import InputError

if TYPE_CHECKING:
    from agent.config import ModelSettings, Settings
    from agent.inspection.model_probe import Probe
    from agent.models.discovery import ModelServer

NONE_HERE = (
    "No model server was found on this machine (Ollama, LM Studio, llama.cpp and vLLM were looked for at their default "
    "ports). Without a model, the built-in engine answers. --base-url tries a server elsewhere."
)

model = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@model.callback()
def _model() -> None:
    """What a team says once about its business (metrics, fields, relationships), and the language model."""


@model.command("init")
def init_model(db: DatabaseOption = None) -> None:
    """Print a draft for a database, as an Apache Ossie document to be corrected and kept."""
    from agent.inspection.memory import draft_model

    with errors_reported():
        typer.echo(draft_model(opened(db)), nl=False)


@model.command("check")
def check_model(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A semantic model; else the language model is tried.")
    ] = None,
    db: DatabaseOption = None,
    base_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The language model's server. Default: the configured one, else one here."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The language model. Default: the first that the server lists.")
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Verified questions, {question, sql} a line: how many of up to 40 the language model writes right, "
            "and the TEXT2SQL_WRITER_PRIOR that this shows.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> None:
    """With a FILE: check a semantic model's names, types, joins that multiply rows, and that metrics and verified
    questions run. Without: find the model servers of this machine, and try what the language model is good for."""
    if file is None:
        _check_language_model(base_url, model, db, questions, as_json=as_json)
        return
    from agent.inspection.memory import check_model

    with errors_reported():
        database = opened(db)
        report = check_model(file, database)
    for line in report.not_handled:
        typer.echo(f"not used: {line}")
    for line in report.findings:
        typer.echo(f"{file.name}, {line}")
    if report.findings:
        raise typer.Exit(exits.USAGE)
    typer.echo(f"{file.name}: {report.datasets} datasets and {report.metrics} metrics fit {database.name}.")


def _check_language_model(
    base_url: str | None, name: str | None, db: str | None, questions: Path | None, *, as_json: bool
) -> None:
    """Probe the endpoint that is named, else the configured one, else the first that is found on this machine.

    Raises typer.Exit: 0 a model that can be used, 4 none that answers, 5 one that answers but serves no better than the
    built-in engine."""
    with errors_reported():
        from agent.config import settings
        from agent.inspection.model_probe import probed
        from agent.models.discovery import servers_here

        known = settings()
        found = () if base_url or not known.model.offline else asyncio.run(servers_here())
        model = _chosen(known, found, base_url, name)
        if model is None:
            typer.echo(json.dumps({"servers": [], "probe": None}) if as_json else NONE_HERE)
            raise typer.Exit(exits.MODEL)
        database = opened(db or "shop")
        probe = asyncio.run(probed(model, database, known.privacy.mode, questions))
        servers = [{"base_url": s.base_url, "kind": s.kind, "models": list(s.models)} for s in found]
        if as_json:
            told = asdict(probe) | {"base_url": model.base_url, "database": database.name}
            typer.echo(json.dumps({"servers": servers, "probe": told}, ensure_ascii=False))
        else:
            for server in found:
                typer.echo(f"found  {server.base_url}  {server.kind or 'a server'}: {', '.join(server.models)}")
            _show(probe, model, database.name)
    if not probe.trial.ok:
        raise typer.Exit(exits.MODEL)
    if probe.strategy == "offline":
        raise typer.Exit(exits.DOUBTFUL)


def _chosen(
    known: Settings, found: tuple[ModelServer, ...], base_url: str | None, name: str | None
) -> ModelSettings | None:
    """The key goes to the configured endpoint only."""
    here = base_url is None or base_url.rstrip("/") == (known.model.base_url or "").rstrip("/")
    if here and not known.model.offline:
        return known.model.model_copy(update={} if name is None else {"name": name})
    if base_url is None and not found:
        return None
    address = base_url or found[0].base_url
    elsewhere = {"base_url": address, "name": name or "", "api_key": None, "extra_headers": None, "extra_body": None}
    return known.model.model_copy(update=elsewhere)


def _show(probe: Probe, model: ModelSettings, database: str) -> None:
    trial = probe.trial
    here = f"{model.local.name} on this machine" if model.local else None
    lines = [
        ("endpoint", f"{model.base_url or here or 'OpenAI'}{f' ({trial.server})' if trial.server else ''}"),
        ("model", f"{trial.name or 'none'}{f', of {len(trial.models)} listed' if len(trial.models) > 1 else ''}"),
    ]
    if not trial.ok:
        lines.append(("answers", f"no: {trial.message}"))
    else:
        lines += [
            ("reads at once", f"{trial.context_tokens:,} tokens" if trial.context_tokens else "not told"),
            ("first word", _amount(trial.first_token_seconds, "s")),
            ("writes", _amount(trial.tokens_per_second, "tokens a second")),
            ("JSON as asked", _yes(trial.structured)),
            ("copies examples", _yes(trial.copies_example)),
            (
                "right queries",
                f"{probe.right} of {probe.asked} on {database}, {_amount(probe.query_seconds, 's each')}",
            ),
            ("tells right from wrong", _yes(probe.judges)),
        ]
    lines.append(("recommended", f"{probe.strategy}. {probe.reason}"))
    width = max(len(name) for name, _ in lines)
    for name, value in lines:
        typer.echo(f"{name:<{width}}  {value}")
    if trial.ok and probe.strategy != "offline":
        address = f"OPENAI_BASE_URL={model.base_url} " if model.base_url else ""
        prior = f" TEXT2SQL_WRITER_PRIOR={probe.prior:.2f}" if probe.prior is not None else ""
        typer.echo(f"\n{address}TEXT2SQL_MODEL={trial.name} TEXT2SQL_STRATEGY={probe.strategy}{prior}")


@model.command("get")
def get_model(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Which one; a name that there is not lists them.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE|URL", help="Where from. Default: the publisher's place at the hub."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Download without asking.")] = False,
) -> None:
    """Fetch a small language model that is served on this machine, and check it. Interrupted, it goes on where it was.
    From then on it answers where no other model is configured."""
    with errors_reported(RESUMES):
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        from agent.cli.console import console_on
        from agent.config import settings
        from agent.models.discovery import servers_here
        from agent.models.local.download import get_model, model_named, state_of, told_size
        from agent.models.local.serving import INSTALL

        known, wanted = settings().model, model_named(name)
        folder = known.models_folder
        if not yes and source is None and state_of(wanted, folder).state != "fetched":
            for server in asyncio.run(servers_here()):
                kind = server.kind or "A model server"
                offer = f"{kind} runs here already, with {server.models[0]}: OPENAI_BASE_URL={server.base_url} uses it."
                typer.echo(offer, err=True)
            asked = f"{wanted.title} ({told_size(wanted.size)}, {wanted.licence}) from {wanted.url} to {folder}"
            if not sys.stdin.isatty():
                raise InputError(f"{asked}: --yes downloads it.")
            if not typer.confirm(f"{asked}. Download it?", default=True, err=True):
                raise typer.Exit(exits.INTERRUPTED)
        columns = (TextColumn(wanted.name), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console_on(sys.stderr, color=True), transient=True) as shown:
            task = shown.add_task("", total=wanted.size)
            path = get_model(wanted, folder, source, lambda count: shown.update(task, completed=count))
        typer.echo(f"{wanted.name} is at {path}.")
        if known.server_program is None:
            typer.echo(INSTALL)
        elif known.model_copy(update={"name": wanted.name}).local == path:
            typer.echo("It answers from now on where no model is named; `text2sql model check` tries it.")
        else:
            typer.echo("OPENAI_API_KEY, OPENAI_BASE_URL or TEXT2SQL_LOCAL_MODEL names another model, which answers.")


@model.command("remove")
def remove_model(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Which one. Default: all.")] = None,
) -> None:
    """Delete what `model get` has fetched."""
    with errors_reported():
        from agent.config import settings
        from agent.models.local.download import CATALOGUE, model_named, remove_model, told_size

        folder = settings().model.models_folder
        for wanted in [model_named(name)] if name else CATALOGUE:
            if freed := remove_model(wanted, folder):
                typer.echo(f"{wanted.name} was removed: {told_size(freed)}.")


def _amount(value: float | None, unit: str) -> str:
    return "not known" if value is None else f"{value:g} {unit}"


def _yes(value: bool | None) -> str:
    return "not tried" if value is None else "yes" if value else "no"
