"""`python -m agent.main model check`: which model servers run here, and what the chosen model is good for.

In: an endpoint and a model, or nothing. Out: a short table or one JSON object on standard output, and an exit code.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from agent.cli import exits
from agent.cli.shared import errors_reported, opened

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
    lines = [
        ("endpoint", f"{model.base_url or 'OpenAI'}{f' ({trial.server})' if trial.server else ''}"),
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


def _amount(value: float | None, unit: str) -> str:
    return "not known" if value is None else f"{value:g} {unit}"


def _yes(value: bool | None) -> str:
    return "not tried" if value is None else "yes" if value else "no"
