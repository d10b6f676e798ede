"""Hands a trained adapter on: for vLLM, for Ollama, as merged weights, with the settings that point the agent at it.

In: the folder of a training run. Out: a folder with `adapter/`, `merged/` if wanted, `vllm.sh`, `Modelfile` and
`text2sql.env`. An adapter that `gate` did not pass is refused.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

from eval.errors import InputError
from text2sql_lab.adapters.packages import need
from text2sql_lab.adapters.train import load_base, read_manifest

VERDICT = "gate.json"
"""The file in which `gate` leaves its verdict beside the adapter."""
CONTEXT = 16_384
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


def adapter_digest(run: Path) -> str:
    """The digest of an adapter's weights. Raises InputError for a run without them."""
    try:
        return hashlib.sha256((run / "adapter/adapter_model.safetensors").read_bytes()).hexdigest()[:16]
    except OSError:
        raise InputError(f"{run} contains no adapter; `python -m agent.lab adapter train` makes one.") from None


def export(run: Path, out: Path, name: str, *, merged: bool = False, force: bool = False) -> list[str]:
    """Write the folder; the names of what is in it. Raises InputError, also for an adapter that was not proved."""
    if _NAME.fullmatch(name) is None:
        raise InputError("A name has small letters, digits, points, hyphens and underscores, at most 63.")
    manifest = read_manifest(run)
    verdict = _verdict(run)
    if not verdict.get("use") and not force:
        why = verdict.get("why") or "`python -m agent.lab adapter gate` has not judged it."
        raise InputError(f"This adapter is not proved better: {why} --force exports it all the same.")
    out.mkdir(parents=True, exist_ok=True)
    shutil.copytree(run / "adapter", out / "adapter", dirs_exist_ok=True)
    options, data = manifest["options"], manifest["data"]
    base = options["base"]
    if merged:
        _merge(base, options.get("chat_template", ""), run / "adapter", out / "merged")
    serve = ["vllm", "serve", base, "--enable-lora", "--max-lora-rank", str(max(8, options["rank"]))]
    serve += ["--lora-modules", f"{name}={(out / 'adapter').resolve()}"]
    if options.get("chat_template"):
        serve += ["--chat-template", str((out / "adapter/chat_template.jinja").resolve())]
    (out / "vllm.sh").write_text(shlex.join(serve) + "\n", encoding="utf-8")
    start = (
        "FROM ./merged" if merged else f"# The Ollama model that was made of {base}:\nFROM {base}\nADAPTER ./adapter"
    )
    # Ollama reads 4,096 tokens by default and drops the rest of a prompt silently.
    modelfile = f"{start}\nPARAMETER num_ctx {CONTEXT}\nPARAMETER temperature 0\n"
    (out / "Modelfile").write_text(modelfile, encoding="utf-8")
    shots = verdict.get("k")
    strategy = data["strategy"] + ("" if shots is None else f"/examples={shots}")
    settings = [
        "# vLLM; for Ollama http://localhost:11434/v1 after: ollama create " + name,
        "OPENAI_BASE_URL=http://localhost:8000/v1",
        f"TEXT2SQL_MODEL={name}",
        f"TEXT2SQL_STRATEGY={strategy}",
    ]
    if tokens := data.get("schema_tokens"):
        settings.append(f"TEXT2SQL_SCHEMA_TOKENS={tokens}")
    (out / "text2sql.env").write_text("\n".join([*settings, ""]), encoding="utf-8")
    (out / "manifest.json").write_text(json.dumps(manifest | {"gate": verdict}, indent=2) + "\n", encoding="utf-8")
    return sorted(path.name for path in out.iterdir())


def _verdict(run: Path) -> dict[str, Any]:
    """What the gate said of these very weights; empty without a verdict."""
    file = run / VERDICT
    try:
        verdict = dict(json.loads(file.read_text("utf-8"))) if file.exists() else {}
    except ValueError:
        raise InputError(f"{file} is not JSON.") from None
    return verdict if verdict.get("adapter") == adapter_digest(run) else {}


def _merge(base: str, chat_template: str, adapter: Path, out: Path) -> None:
    """Add the adapter to the base's weights in full precision, also where it was trained on four bits."""
    need("peft")
    from peft import PeftModel

    model, tokenizer = load_base(base, chat_template=chat_template)
    whole = PeftModel.from_pretrained(model, str(adapter)).merge_and_unload()
    whole.save_pretrained(out, safe_serialization=True)
    tokenizer.save_pretrained(out)
