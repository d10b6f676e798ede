"""Makes training data from verified questions, with what proves the adapter kept apart.

In: verified questions, their databases, optionally a held-out file. Out: a folder with `train.jsonl` and
`validation.jsonl` (chats whose completion is the query writer's reply), `held_out.jsonl`, `examples.jsonl` (training
questions, to be shown as examples) and `data.json`, which describes them. The same input gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from agent.config import Settings
from agent.models.prompts import template
from eval.databases.base import Database
from eval.errors import InputError
from eval.jsonl import encode
from eval.schema import Dialect
from text2sql_lab.adapters import STRATEGY
from text2sql_lab.adapters.prompts import rendered
from text2sql_lab.questions import Question, Split, form, leaks, splits

SHOWN = 5
"""Questions that an error names."""


class Leaked(InputError):
    """Questions to learn from are in the held-out file, as they are or by the form of their query."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """What `data.json` says of the folder."""

    digest: str
    """Of the rows to learn from and to choose by."""
    dialect: Dialect
    databases: tuple[str, ...]
    train: int
    validation: int
    held_out: int
    """Questions; the two above count rows, one for each question and number of examples."""
    questions: int
    """Verified questions that were given to learn from."""
    refused: dict[str, int] = field(default_factory=dict)
    """How many of them were left out, by reason."""
    examples: tuple[int, ...] = (0,)
    strategy: str = STRATEGY
    seed: int = 0
    prompt_version: int = 0
    privacy: str = "full"
    schema_tokens: int | None = None
    """Maximum of the schema in each prompt; None where it was not recorded."""
    format: int = 1


async def make_data(
    questions: Sequence[Question],
    databases: Callable[[str], Database],
    config: Settings,
    out: Path,
    *,
    held_out: Sequence[Question] = (),
    examples: Sequence[int] = (0,),
    how: str = STRATEGY,
    seed: int = 0,
    drop_leaks: bool = False,
    single: bool = False,
    on_progress: Callable[[int, int], None] = lambda done, of: None,  # noqa: ARG005
) -> DataSet:
    """Write the folder. Without `held_out`, forms kept apart by the lab's split are held out. `single`: there is
    one database, whatever the questions call it. Raises Leaked unless `drop_leaks`, and InputError where too little is
    left."""
    dialect = databases(questions[0].db).dialect
    parts, left_out = _divided(questions, held_out, dialect, seed)
    if held_out and left_out and not drop_leaks:
        counts = ", ".join(f"{count} by the {why}" for why, count in _counted(left_out).items())
        named = ", ".join(list(left_out)[:SHOWN]) + (", …" if len(left_out) > SHOWN else "")
        raise Leaked(
            f"{len(left_out)} of {len(questions)} questions are in the held-out file ({counts}): {named}. "
            "Take them out, or leave them out with --drop-leaks."
        )
    tests = parts.held_out
    rows: dict[str, list[dict[str, Any]]] = {"train": [], "validation": []}
    todo = [("train", q) for q in parts.mine] + [("validation", q) for q in parts.choose]
    todo = [(part, q) for part, q in todo if q.id not in left_out]
    for done, (part, one) in enumerate(todo, 1):
        made = []
        for k in examples:
            known = _others(one, parts.mine, left_out, dialect) if k else ()
            row = await rendered(one, databases(one.db), config, how=how, examples=k, known=known)
            if row.problem:
                left_out[one.id] = row.problem
                break
            made.append({"id": one.id, "db": one.db, "k": k, **row.messages()})
        else:
            rows[part] += made
        on_progress(done, len(todo))
    if not rows["train"] or not tests:
        raise InputError(
            f"Too little is left: {len(rows['train'])} rows to learn from, {len(tests)} held-out questions."
        )
    data = DataSet(
        digest=hashlib.sha256("".join(map(encode, rows["train"] + rows["validation"])).encode()).hexdigest()[:16],
        dialect=dialect,
        databases=tuple(sorted({q.db for q in (*questions, *tests)})),
        train=len(rows["train"]),
        validation=len(rows["validation"]),
        held_out=len(tests),
        questions=len(questions),
        refused=_counted(left_out),
        examples=tuple(examples),
        strategy=how,
        seed=seed,
        prompt_version=template("query_generator").version,
        privacy=config.privacy.mode,
        schema_tokens=config.limits.schema_tokens,
    )
    shown = [
        {"question": q.text, "sql": q.golds[0]} | ({} if single else {"db": q.db})
        for q in parts.mine
        if q.id not in left_out
    ]
    _save(out, data, {**rows, "held_out": [_question(q) for q in tests], "examples": shown})
    return data


def _divided(
    questions: Sequence[Question], held_out: Sequence[Question], dialect: Dialect, seed: int
) -> tuple[Split, dict[str, str]]:
    """The lab's split that keeps forms apart, and the questions to leave out because they leak. Where there is a
    held-out file, the half that the split holds out is learned from."""
    if not held_out:
        split = splits(questions, seed, dialect, choosing=True)[1]
        return split, dict(leaks((*split.mine, *split.choose), split.held_out, dialect))
    left_out = leaks(questions, held_out, dialect)
    split = splits([q for q in questions if q.id not in left_out], seed, dialect, choosing=True)[1]
    return Split(split.name, (*split.mine, *split.held_out), split.choose, tuple(held_out)), dict(left_out)


def read_data(folder: Path) -> DataSet:
    """The description of a folder, checked against its rows. Raises InputError."""
    try:
        description = json.loads((folder / "data.json").read_text(encoding="utf-8"))
        lists = {name: tuple(value) for name, value in description.items() if isinstance(value, list)}
        data = DataSet(**{**description, **lists})
        rows = [(folder / f"{part}.jsonl").read_text("utf-8") for part in ("train", "validation")]
    except (OSError, ValueError, TypeError, AttributeError):
        raise InputError(f"{folder} contains no training data; `python -m agent.lab adapter data` makes it.") from None
    if hashlib.sha256("".join(rows).replace("\n", "").encode()).hexdigest()[:16] != data.digest:
        raise InputError(f"{folder}: the rows were changed after data.json was written; make them again.")
    return data


def _others(
    one: Question, train: Iterable[Question], left_out: Container[str], dialect: Dialect
) -> list[tuple[str, str]]:
    """Training questions that may be shown beside one: those of its database with other words and another form, as is
    the case on held-out questions. Copying the nearest form would be all that it learns else."""
    of_its = {form(gold, dialect) for gold in one.golds}
    same_place = [q for q in train if q.db == one.db and q.id not in left_out and q.text != one.text]
    return [(q.text, q.golds[0]) for q in same_place if form(q.golds[0], dialect) not in of_its]


def _counted(reasons: Mapping[str, str]) -> dict[str, int]:
    """How many questions each reason concerns."""
    return dict(sorted(Counter(reasons.values()).items()))


def _question(one: Question) -> dict[str, Any]:
    line = {"id": one.id, "db": one.db, "question": one.text, "gold_sql": one.golds[0]}
    more = {"alt_gold_sql": list(one.golds[1:]), "evidence": one.evidence}
    return line | {name: value for name, value in more.items() if value}


def _save(out: Path, data: DataSet, parts: Mapping[str, Iterable[dict[str, Any]]]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for part, lines in parts.items():
        (out / f"{part}.jsonl").write_text("".join(encode(line) + "\n" for line in lines), encoding="utf-8")
    (out / "data.json").write_text(json.dumps(asdict(data), indent=2) + "\n", encoding="utf-8")
