"""`/lab/runs`: the runs of the lab, as their summaries say; the lab itself is not imported.

In: the folder that TEXT2SQL_LAB_DIR names. Out: what each `summary.json` in its folders holds (docs/lab.md). Kits may
quote values of a database, so only those who may choose the model see them.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from fastapi import APIRouter
from pydantic import ValidationError

from agent.server.errors import ApiError
from agent.server.replies import Reply
from agent.server.routes.answers import refusals
from agent.server.routes.model import may_change
from agent.server.services import Here

log = logging.getLogger(__name__)

router = APIRouter(tags=["lab"])

SUMMARY = "summary.json"
MOST_RUNS = 100
MOST_BYTES = 5_000_000
"""Of one summary."""


class LabChange(Reply):
    file: str
    lines: list[str]
    """Each begins with `+ `, `- ` or two spaces, as in Python's `difflib.ndiff`."""


class LabKit(Reply):
    kit: str
    round: int
    by: str
    parents: list[str]
    """Empty: made from the agent without a kit."""
    note: str
    elo: int
    bradley_terry: int
    chosen: bool
    changes: list[LabChange]
    """Against the first parent."""


class LabProof(Reply):
    n: int
    before: float
    after: float
    won: int
    lost: int
    p: float


class LabSplit(Reply):
    name: str
    played: int
    rounds: int
    proof: LabProof | None
    """On held-out questions; null before they are read."""
    base_elo: int
    kits: list[LabKit]


class LabSummary(Reply):
    evolver: str
    model: str
    seed: int
    ended: bool
    accepted: bool
    why: str
    splits: list[LabSplit]


class LabRun(LabSummary):
    name: str
    """The run's folder."""


@router.get("/lab/runs", responses=refusals(404))
async def lab_runs(here: Here) -> list[LabRun]:
    """The runs of the lab, the latest first, at most 100."""
    folder = here.settings.server.lab_dir
    if not folder:
        raise ApiError(404, "This server shows no runs of the lab: TEXT2SQL_LAB_DIR is not set.")
    if not may_change(here):
        raise ApiError(403, "Runs of the lab are shown to those whom TEXT2SQL_ADMINS names.")
    return await asyncio.to_thread(_runs, Path(folder))


def _runs(folder: Path) -> list[LabRun]:
    times: dict[Path, float] = {}
    for file in folder.glob(f"*/{SUMMARY}"):
        try:
            found = file.stat()
        except OSError:
            continue
        if found.st_size <= MOST_BYTES:
            times[file] = found.st_mtime
    latest = sorted(times, key=lambda file: -times[file])[:MOST_RUNS]
    runs = []
    for file in latest:
        try:
            summary = LabSummary.model_validate_json(file.read_bytes())
        except (OSError, ValidationError) as error:  # no summary, or of another version
            log.warning("%s is no summary of a run: %s", file, type(error).__name__)
        else:
            runs.append(LabRun(name=file.parent.name, **dict(summary)))
    return runs
