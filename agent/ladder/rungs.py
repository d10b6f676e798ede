"""What is climbed and what came of it: `Rung`, `Climbed` (one question on one rung), and the folder that keeps them.

The folder makes a ladder resumable: what stands in its `results.jsonl` is not asked again, and a folder that was begun
with other settings is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from agent.strategies import strategy

RESULTS = "results.jsonl"
SETTINGS = "settings.json"


@dataclass(frozen=True, slots=True)
class Rung:
    """One strategy, with the recorded system that stands in for the model where there is one."""

    strategy: str
    system: str = ""
    """Several are joined by `+`: the first attempt at a question gets the first one's answer, retries the others'."""

    @property
    def systems(self) -> list[str]:
        return [name.strip() for name in self.system.split("+")]

    @property
    def name(self) -> str:
        return f"{self.strategy}={self.system}" if self.system else self.strategy


def read_rungs(text: str) -> list[Rung]:
    """`zero-shot,few-shot-3=SYSTEM,full/no-judge`. Raises ValueError for an unknown strategy or a rung named twice."""
    rungs = []
    for part in filter(None, (word.strip() for word in text.split(","))):
        name, _, system = part.rpartition("=") if _names_a_system(part) else (part, "", "")
        rungs.append(Rung(strategy(name).name, system.strip()))
    if not rungs:
        raise ValueError("no strategy is named")
    if twice := sorted({r.name for r in rungs if rungs.count(r) > 1}):
        raise ValueError(f"named twice: {', '.join(twice)}")
    return rungs


def _names_a_system(part: str) -> bool:
    """Whether the last `=` stands before a system, and not in a change such as `full/candidates=8`."""
    before, equals, after = part.rpartition("=")
    return bool(equals) and not ("/" in before.rpartition("=")[2] and after.strip().isdecimal())


@dataclass(frozen=True, slots=True)
class Climbed:
    """What one rung made of one question. The metrics as in `eval.metrics.items.Comparison`."""

    rung: str
    id: str
    db: str
    sql: str
    va: bool
    em: bool
    ex: bool
    """False also where gold fails; `gold_error` then says so."""
    ts: bool | None
    """None without a test suite, or where gold fails on one of its databases."""
    gold_error: str | None
    error: str | None
    """Why the query does not run, or why there is none."""
    status: str
    """As of `agent.runner.Answer`."""
    attempts: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    seconds: float
    reported_ex: bool | None = None
    """What the recording says of its own answer."""


class Folder:
    """Keeps what was climbed, a line at a time. Raises ValueError where the folder belongs to other settings."""

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        kept = path / SETTINGS
        if kept.exists():
            self._check(json.loads(kept.read_text(encoding="utf-8")), settings)
        kept.write_text(json.dumps(settings, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        self.climbed = list(self._read())

    def _check(self, before: dict[str, Any], now: dict[str, Any]) -> None:
        other = [name for name in now if before.get(name) != now[name]]
        if other:
            raise ValueError(
                f"{self.path} was begun with another {', '.join(other)}; take another folder, or remove it"
            )

    def _read(self) -> Iterable[Climbed]:
        file = self.path / RESULTS
        if not file.exists():
            return
        known = {field.name for field in fields(Climbed)}
        whole = []
        for line in file.read_text(encoding="utf-8").splitlines():
            try:
                record = json.loads(line)
                climbed = Climbed(**{name: value for name, value in record.items() if name in known})
            except (ValueError, TypeError, AttributeError):  # the last line of a run that was killed
                continue
            whole.append(line)
            yield climbed
        file.write_text("".join(line + "\n" for line in whole), encoding="utf-8")

    def add(self, climbed: Climbed) -> None:
        self.climbed.append(climbed)
        with (self.path / RESULTS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(climbed), ensure_ascii=False) + "\n")

    def of(self, rung: Rung, ids: Iterable[str]) -> list[Climbed]:
        """What a rung made of these questions, in their order."""
        by_id = {c.id: c for c in self.climbed if c.rung == rung.name}
        return [by_id[one] for one in ids if one in by_id]
