"""`python -m agent.main model check`, `get` and `remove`: the model servers of this machine, what a model is good for,
and the models that are fetched.

In: an endpoint and a model, or nothing. Out: a short table or one JSON object on standard output, progress on standard
error, and an exit code.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from agent.cli import exits
from agent.cli.shared import RESUMES, errors_reported, opened
from eval.errors import InputError

if TYPE_CHECKING:
    from agent.config import ModelSettings, Settings
    from agent.inspection.model_probe import Probe
    from agent.models.discovery import ModelServer

NONE_HERE = (
    "No model server was found on this machine (Ollama, LM Studio, llama.cpp and vLLM were looked for at their default "
    "ports). Without a model, the built-in engine answers. --base-url tries a server elsewhere."
)


def check_language_model(base_url: str | None, name: str | None, db: str | None, *, as_json: bool) -> None:
    """Probe the endpoint that is named, else the configured one, else the first that is found on this machine.

    Raises typer.Exit: 0 a model that can be used, 4 none that answers, 5 one that answers but serves no better than the
    built-in engine."""
    with errors_reported():
        from agent.config import settings
        from agent.inspection.model_probe import probed

        known = settings()
        found = () if base_url or not known.model.offline else asyncio.run(_here())
        model = _chosen(known, found, base_url, name)
        if model is None:
            typer.echo(json.dumps({"servers": [], "probe": None}) if as_json else NONE_HERE)
            raise typer.Exit(exits.MODEL)
        database = opened(db or "shop")
        probe = asyncio.run(probed(model, database, known.privacy.mode))
        servers = [{"base_url": s.base_url, "kind": s.kind, "models": list(s.models)} for s in found]
        if as_json:
            told = asdict(probe) | {"base_url": model.base_url, "database": database.name}
            typer.echo(json.dumps({"servers": servers, "probe": told}, ensure_ascii=False))
        else:
            for server in found:
                typer.echo(f"found  {server.base_url}  {server.kind or 'a server'}: {', '.join(server.models)}")
            _show(probe, model, database.name)
        code = exits.ANSWERED
        if not probe.trial.ok:
            code = exits.MODEL
        elif probe.strategy == "offline":
            code = exits.DOUBTFUL
    if code:
        raise typer.Exit(code)


async def _here() -> tuple[ModelServer, ...]:
    from agent.models.discovery import servers_here

    return await servers_here()


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
        typer.echo(f"\n{address}TEXT2SQL_MODEL={trial.name} TEXT2SQL_STRATEGY={probe.strategy}")


def fetch_language_model(name: str | None, source: str | None, *, yes: bool) -> None:
    """Get a model of the catalogue, and say what is still missing to use it. Raises typer.Exit: 2 for wrong use, 4 for
    what cannot be got, 130 after Ctrl-C."""
    with errors_reported(RESUMES):
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        from agent.cli.console import progress_console
        from agent.config import settings
        from agent.models.local.catalogue import model_named, told_size
        from agent.models.local.download import get_model, state_of
        from agent.models.local.serving import INSTALL

        known, wanted = settings().model, model_named(name)
        folder = known.models_folder
        if not yes and source is None and state_of(wanted, folder).state != "fetched":
            for server in asyncio.run(_here()):
                kind = server.kind or "A model server"
                offer = f"{kind} runs here already, with {server.models[0]}: OPENAI_BASE_URL={server.base_url} uses it."
                typer.echo(offer, err=True)
            asked = f"{wanted.title} ({told_size(wanted.size)}, {wanted.licence}) from {wanted.url} to {folder}"
            if not sys.stdin.isatty():
                raise InputError(f"{asked}: --yes downloads it.")
            if not typer.confirm(f"{asked}. Download it?", default=True, err=True):
                raise typer.Exit(exits.INTERRUPTED)
        columns = (TextColumn(wanted.name), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        with Progress(*columns, console=progress_console(color=True), transient=True) as shown:
            task = shown.add_task("", total=wanted.size)
            path = get_model(wanted, folder, source, lambda count: shown.update(task, completed=count))
        typer.echo(f"{wanted.name} is at {path}.")
        if known.server_program is None:
            typer.echo(INSTALL)
        elif known.model_copy(update={"name": wanted.name}).local == path:
            typer.echo("It answers from now on where no model is named; `text2sql model check` tries it.")
        else:
            typer.echo("OPENAI_API_KEY, OPENAI_BASE_URL or TEXT2SQL_LOCAL_MODEL names another model, which answers.")


def remove_language_model(name: str | None) -> None:
    """Delete one fetched model, or all. Raises typer.Exit: 2 for a model that there is not."""
    with errors_reported():
        from agent.config import settings
        from agent.models.local.catalogue import CATALOGUE, model_named, told_size
        from agent.models.local.download import remove_model

        folder = settings().model.models_folder
        for model in [model_named(name)] if name else CATALOGUE:
            if freed := remove_model(model, folder):
                typer.echo(f"{model.name} was removed: {told_size(freed)}.")


def _amount(value: float | None, unit: str) -> str:
    return "not known" if value is None else f"{value:g} {unit}"


def _yes(value: bool | None) -> str:
    return "not tried" if value is None else "yes" if value else "no"
