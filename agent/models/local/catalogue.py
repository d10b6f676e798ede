"""The models that `text2sql model get` knows: where they are, how to check them, what they need and are good for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from eval.errors import InputError


@dataclass(frozen=True, slots=True)
class LocalModel:
    name: str
    """What users call it; it is kept as `NAME.gguf`."""
    title: str
    repository: str
    """At the hub, `owner/name`."""
    file: str
    """In the repository."""
    size: int
    """Bytes."""
    sha256: str
    licence: str
    memory: int
    """Bytes that its server takes."""
    accuracy: float | None = None
    """0..1: execution accuracy on questions of Spider's development set with the strategy `cascade`; None: not
    measured (docs/measurements.md)."""
    seconds: float | None = None
    """Of a question, in the middle, on one core; None: not measured."""

    @property
    def url(self) -> str:
        """At the hub, or at the mirror that HF_ENDPOINT names as it does for the hub's own programs."""
        hub = os.environ.get("HF_ENDPOINT", "").strip().rstrip("/") or "https://huggingface.co"
        return f"{hub}/{self.repository}/resolve/main/{self.file}"

    def path(self, folder: Path) -> Path:
        return folder / f"{self.name}.gguf"


CATALOGUE = (
    LocalModel(
        name="qwen2.5-coder-1.5b",
        title="Qwen2.5-Coder 1.5B Instruct",
        repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="Apache-2.0",
        memory=2_300_000_000,
        accuracy=0.82,
        seconds=4.1,
    ),
    LocalModel(
        name="qwen2.5-coder-0.5b",
        title="Qwen2.5-Coder 0.5B Instruct",
        repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        licence="Apache-2.0",
        memory=900_000_000,
        accuracy=0.80,
        seconds=4.1,
    ),
)
"""The default first."""


def model_named(name: str | None) -> LocalModel:
    """Raises InputError, which lists the names."""
    for model in CATALOGUE:
        if name is None or name.lower() in (model.name, model.file.lower()):
            return model
    raise InputError(f"There is no model {name}; there are {', '.join(model.name for model in CATALOGUE)}.")


def told_size(count: int) -> str:
    """Bytes in the units in which hubs and disks are sold: `1.1 GB`."""
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.1f} MB"
