"""Decides whether an adapter is used: the agent answers the held-out questions with the base and with the adapter.

In: a folder of `data`, an OpenAI-compatible endpoint that has both models. Out: a `Verdict`: for each number of
examples the answers of both, McNemar's exact test, intervals; and whether to use the adapter. It is used only if it
beats the base, however many examples the base is shown: examples cost nothing to train.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Literal

from agent.config import Settings
from agent.models import closing, shared_model
from eval.databases.base import Database
from eval.errors import InputError
from eval.metrics.intervals import Rate
from text2sql_lab.adapters.data import Leaked, read_data
from text2sql_lab.adapters.prompts import writer_strategy
from text2sql_lab.budget import Budget
from text2sql_lab.journal import BASE
from text2sql_lab.measurement import Kits, Measurer
from text2sql_lab.proof import SIGNIFICANT, Gain, gained, needed
from text2sql_lab.questions import Question, leaks, read_questions
from text2sql_lab.record_lines import records_in


@dataclass(frozen=True, slots=True)
class Pair(Gain):
    """The adapter with `k` examples against the base with `base_k`, on the same questions. p is times the comparisons
    made and the adapters that these questions judged."""

    k: int
    base_k: int
    n: int
    base: int
    adapter: int
    """Right answers."""


@dataclass(frozen=True, slots=True)
class Verdict:
    use: bool
    k: int | None
    """Examples to use the adapter with."""
    verdict: Literal["use it", "don't use it", "nothing proved"]
    why: str
    pairs: tuple[Pair, ...] = ()
    readings: int = 1
    """Adapters that these held-out questions have judged, this one included."""
    warning: str = ""


def least(comparisons: int) -> int:
    """Questions below which not even winning all of them proves anything."""
    return math.ceil(math.log2(2 * comparisons / SIGNIFICANT) + 1e-9)


async def gate(
    folder: Path,
    databases: Callable[[str], Database],
    config: Settings,
    out: Path,
    *,
    endpoint: str,
    base: str,
    adapter: str,
    identity: str = "",
    examples: Sequence[int] = (0, 3),
    jobs: int = 4,
    on_progress: Callable[[str, int, int], None] = lambda what, done, of: None,  # noqa: ARG005
) -> Verdict:
    """Answer, compare, decide. `base`, `adapter`: their names at the endpoint. `identity`: what tells this adapter from
    others. Answers are kept in `out`, so the same call goes on. Raises InputError, Leaked, LabStopped."""
    data, questions = held_out(folder)
    if base == adapter:
        raise InputError("The base and the adapter have the same name, so there is nothing to compare.")
    judged = _judged(folder, identity or f"{endpoint} {adapter}")
    readings = len(judged)
    enough = least(len(set(examples)) * readings)
    if len(questions) < enough:
        why = f"{len(questions)} held-out questions cannot prove anything: {enough} is the least, if all are won, "
        why += f"and about {needed()} prove a gain of 5 points."
        return Verdict(False, None, "nothing proved", why, readings=readings)
    (folder / "judged.txt").write_text("\n".join([*judged, ""]), encoding="utf-8")
    as_learned = {} if data.schema_tokens is None else {"schema_tokens": data.schema_tokens}
    config = config.changed(model={"base_url": endpoint}, judging={"kit": None}, limits=as_learned)
    right: dict[tuple[str, int], list[bool]] = {}
    for name in (base, adapter):
        for k in sorted(set(examples)):
            of_arm = {"strategy": writer_strategy(data.strategy, k)}
            of_arm["examples"] = str(folder / "examples.jsonl") if k else None  # type: ignore[assignment]
            model = shared_model(config.model, name)
            kept = _kept(out, f"{endpoint} {name} {identity if name == adapter else ''} {k} {data.digest}")
            arm = config.changed(judging=of_arm)
            shown = partial(on_progress, f"{name}, k = {k}")
            measurer = Measurer(databases, model, arm, Kits(out / "kits"), Budget(), kept, jobs, shown)
            async with closing(model):
                right[name, k] = [o.right for o in await measurer.outcomes(BASE, questions)]
    bits = {("base" if name == base else "adapter", k): value for (name, k), value in right.items()}
    return decided(bits, readings=readings)


def decided(right: Mapping[tuple[str, int], Sequence[bool]], *, readings: int = 1) -> Verdict:
    """The verdict on answers by (`base` or `adapter`, examples)."""
    shots = sorted({k for _, k in right})
    factor = len(shots) * readings
    pairs = []
    for k, b in product(shots, shots):
        base, adapter = right["base", b], right["adapter", k]
        gain = asdict(gained(base, adapter, factor))
        pairs.append(Pair(**gain, k=k, base_k=b, n=len(base), base=sum(base), adapter=sum(adapter)))
    same = [pair for pair in pairs if pair.k == pair.base_k]
    n = same[0].n
    warning = "" if n >= needed() else f"About {needed()} held-out questions prove a gain of 5 points; these are {n}."
    verdict = partial(Verdict, pairs=tuple(pairs), readings=readings, warning=warning)
    if proved := [pair for pair in same if all(other.better for other in pairs if other.k == pair.k)]:
        k = max(proved, key=lambda pair: pair.adapter).k
        why = f"With {k} examples it beats the base, with {' and with '.join(map(str, shots))} examples."
        return verdict(True, k, "use it", why)
    if worse := [str(pair.k) for pair in same if pair.worse]:
        why = f"It is worse than the base with {' and with '.join(worse)} examples."
        return verdict(False, None, "don't use it", why)
    if any(pair.better for pair in same):
        why = "It beats the base with as many examples, but not the base at its best."
        return verdict(False, None, "don't use it", why)
    return verdict(False, None, "nothing proved", "It is not proved better.")


def table(verdict: Verdict) -> str:
    """The verdict for people, with 95 % intervals."""
    lines = []
    if verdict.pairs:
        lines.append(f"{'examples':18} {'base':21} {'adapter':21} {'won':>4} {'lost':>4}  {'difference':22} p")
    for pair in verdict.pairs:
        shots = str(pair.k) if pair.k == pair.base_k else f"{pair.k} (base {pair.base_k})"
        gain = f"{pair.difference:+.3f} ({pair.low:+.3f} to {pair.high:+.3f})"
        base, adapter = Rate(pair.base, pair.n), Rate(pair.adapter, pair.n)
        lines.append(f"{shots:18} {base!s:21} {adapter!s:21} {pair.won:4} {pair.lost:4}  {gain:22} {pair.p:.4g}")
    return "\n".join([*lines, f"{verdict.verdict.capitalize()}. {verdict.why}", *filter(None, [verdict.warning])])


def held_out(folder: Path) -> tuple[Any, tuple[Question, ...]]:
    """The data set and its held-out questions. Raises InputError, and Leaked if rows to learn from hold one."""
    data = read_data(folder)
    questions = read_questions(folder / "held_out.jsonl")
    learned = records_in(folder / "examples.jsonl")
    known = [Question(str(n), "", e["question"], (e["sql"],)) for n, e in enumerate(learned)]
    if leaked := leaks(known, questions, data.dialect):
        raise Leaked(f"{len(leaked)} questions to learn from are held out in {folder}; make the data again.")
    return data, questions


def _judged(folder: Path, identity: str) -> list[str]:
    """Marks of the adapters that the held-out questions have judged, this one included. Each further one makes chance
    wins likelier."""
    file = folder / "judged.txt"
    mark = hashlib.sha256(identity.encode()).hexdigest()[:16]
    known = file.read_text("utf-8").split() if file.exists() else []
    return known if mark in known else [*known, mark]


def _kept(out: Path, arm: str) -> Path:
    """The file of an arm's answers."""
    out.mkdir(parents=True, exist_ok=True)
    return out / f"answers-{hashlib.sha256(arm.encode()).hexdigest()[:12]}.jsonl"
