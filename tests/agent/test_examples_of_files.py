"""Every small file gets example questions, each of which was asked and answered without a doubt."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from agent.config import settings
from agent.inspection.examples import answered, examples_of
from agent.runner import run
from agent.sources.files import open_files

FILES = {
    "members": "Member,Plan,Active,Fee,Joined\nAnn,Gold,Yes,30,2023-01-02\nBob,Silver,No,20,2023-02-02\n"
    "Cy,Gold,Yes,30,2023-03-02\nDi,Gold,Yes,30,2023-03-05\nEd,Silver,No,20,2023-04-02\n",
    "numbers": "Weight\n5\n6\n7.5\n",
    "names": "Name\nAnn\nBob\nCy\n",
    "notes": "Title,Note\nfirst,a long remark\nsecond,another remark\nthird,nothing\n",
    "visits": "Arrived,Left\n2023-01-02,2023-01-05\n2023-02-03,2023-02-04\n",
    "days": "Day\n2023-01-02\n2023-02-03\n2023-02-04\n",
    "switches": "Open,Locked\nyes,no\nno,no\nyes,yes\n",
    "ids": "Ref,Amount\n0012,5\n0013,6\n0014,7\n",
    "data": "City,Population\nUlm,126000\nBonn,330000\nKiel,246000\n",
    "x": "a,b\n1,2\n3,4\n5,9\n",
    "one": "Product,Price\nTea,4.5\n",
    "sales export 2024": "Date;Region;Sales\n02.01.2024;North;1.234,50\n05.02.2024;South;99,00\n09.02.2024;North;8,1\n",
}
FEWER = {"x": 1}
"""Files of which fewer questions can be asked: columns called by one letter say nothing."""


@pytest.mark.parametrize("name", FILES)
async def test_examples_of_a_file_were_answered(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.csv"
    path.write_text(FILES[name], encoding="utf-8")
    database = await asyncio.to_thread(open_files, path, str(tmp_path / "cache"), lambda _: None)
    try:
        config = settings()
        made = await asyncio.to_thread(examples_of, database, database.schema(), "full", config.judging)
        kept = await answered(made, partial(run, database=database, model="offline", settings=config))
    finally:
        database.close()
    assert len(kept) == FEWER.get(name, 3), (made, kept)
