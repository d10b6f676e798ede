"""Questions as people type them, and what holds for their reading: a line each of the files of `fixtures/parser`.

`everyday/questions.jsonl` names a database of `everyday`, `structures.jsonl` a structure without
rows, `file_questions.jsonl` a data file; `library_questions.jsonl` is of the library. A line says of the reading:

- `rows` that it means, in any order, or with `ordered` in this one; `first`: their first column; on the day `today`,
  if not on 15 June 2024
- `confidence`: `sure`, `doubtful`, `declined` or `nothing`, `answered`: enough of it; or that it `abstains`
- `statement`: what it is read as; `sql`: patterns that match it, `without`: what does not stand in it; its `columns`
  and `tables`
- `told` and `untold`: what the interpretation says or does not say
- `not_understood`: words that are named so (`[]`: none, `?`: any)

`rule` says what of it matters.
"""

from __future__ import annotations

import datetime as dt
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp

from agent.knowledge.values import ValueIndex, value_index
from agent.parser import Reading, read
from agent.parser.doubts import NEVER_SURE
from agent.parser.execution_probe import looker
from agent.runtime.probability import STATED_DOUBT
from agent.sources.files import open_files
from agent.sources.structure import read_structure
from eval.databases import Database
from eval.schema import Schema
from eval.sql import parsed_from_tree, resolve
from tests.agent.parser.conftest import FIXTURES
from tests.asked import TODAY, Asked, rows_of
from tests.jsonl import read_lines

BOUNDS = {"sure": (STATED_DOUBT, 1.0), "doubtful": (0.0, STATED_DOUBT - 1e-9), "declined": (0.0, NEVER_SURE),
          "nothing": (0.0, 0.0), "answered": (0.0, 1.0)}  # fmt: skip
Line = dict[str, Any]


def lines_of(file: str) -> pytest.MarkDecorator:
    lines = read_lines(FIXTURES / file)
    return pytest.mark.parametrize("line", lines, ids=[" ".join(map(str, line.values()))[:70] for line in lines])


def holds(line: Line, reading_at: Callable[[float | None], Reading], database: Database | None = None) -> None:
    rule = line.get("rule")
    settled = "abstains" in line or line.get("confidence") == "answered"
    reading = reading_at(None if settled else 0.0)
    statement = " ".join((reading.sql or reading.guess).split())
    if settled:
        assert reading.abstained is ("abstains" in line), (rule, statement)
    if database and ("rows" in line or "first" in line):
        rows = [list(row) for row in rows_of(database, reading.sql)]
        if "first" in line:
            assert [row[0] for row in rows] == line["first"], (rule, statement)
        else:
            order = (lambda row: 0) if line.get("ordered") else repr
            assert sorted(rows, key=order) == sorted(line["rows"], key=order), (rule, statement)
    if "confidence" in line:
        least, most = BOUNDS[line["confidence"]]
        assert least <= reading.confidence <= most, (rule, statement)
    assert statement == line.get("statement", statement), rule
    for pattern in line.get("sql", ()):
        assert re.search(pattern, statement), (rule, statement)
    for part in line.get("without", ()):
        assert part.casefold() not in statement.casefold(), (rule, statement)
    if isinstance(reading.tree, exp.Select):
        columns = [column.alias_or_name for column in reading.tree.expressions]
        assert columns == line.get("columns", columns), (rule, statement)
        tables = {table.name for table in reading.tree.find_all(exp.Table)}
        assert tables == set(line.get("tables", tables)), (rule, statement)
    for part in line.get("told", ()):
        assert part in reading.interpretation, rule
    for part in line.get("untold", ()):
        assert part not in reading.interpretation, rule
    named = line.get("not_understood")
    if named == ["?"]:
        assert reading.not_understood, rule
    elif named is not None:
        assert set(named) <= set(reading.not_understood) if named else not reading.not_understood, rule


@lines_of("everyday/questions.jsonl")
def test_reads_what_people_mean(everyday: Asked, line: Line) -> None:
    name, today = line["db"], dt.date.fromisoformat(line.get("today", TODAY.isoformat()))
    holds(line, lambda t: everyday.reading(name, line["question"], t, today), everyday.database(name)[0])


@lines_of("library_questions.jsonl")
def test_reads_questions_to_the_library(ask: Callable[..., Reading], line: Line) -> None:
    holds(line, lambda t: ask(line["question"], threshold=t))


@lines_of("structures.jsonl")
def test_reads_questions_to_a_structure_without_rows(line: Line) -> None:
    script = (FIXTURES / "structures" / f"{line['structure']}.sql").read_text(encoding="utf-8")
    schema = read_structure(script, line["structure"].partition(".")[2] or "sqlite")
    values = ValueIndex([(*place.split("."), found) for place, found in line.get("values", {}).items()])
    holds(line, lambda t: read(line["question"], schema, values, today=TODAY, threshold=t))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of all questions, so that each file is read once."""
    return Path(shutil.copytree(FIXTURES / "files", tmp_path_factory.mktemp("files"), dirs_exist_ok=True))


@lines_of("file_questions.jsonl")
def test_reads_questions_to_a_file(files: Path, line: Line) -> None:
    with open_files(files / f"{line['file']}.csv", str(files / "cache"), lambda _: None) as database:
        schema = database.schema()
        values, look = value_index(database, schema), looker(database)
        holds(line, lambda t: read(line["question"], schema, values, look=look, today=TODAY, threshold=t), database)


BLOCKS = (FIXTURES / "library_questions.sql").read_text(encoding="utf-8").strip().split("\n\n")
PAIRS = [(question.removeprefix("-- "), sql) for question, _, sql in (block.partition("\n") for block in BLOCKS)]


@pytest.mark.parametrize(("question", "expected"), PAIRS, ids=[q[:60] for q, _ in PAIRS])
def test_reads_as_written(
    question: str, expected: str, ask: Callable[..., Reading], library: Database, schema: Schema
) -> None:
    if expected.startswith("abstains: "):
        reading = ask(question)
        assert (reading.abstained, reading.sql) == (True, "")
        assert reading.interpretation == expected.removeprefix("abstains: ")
        return
    reading = ask(question, threshold=0.0)
    assert reading.sql == expected
    assert reading.tree is not None
    assert resolve(parsed_from_tree(reading.tree, "sqlite"), schema).phantoms == ()
    rows_of(library, reading.sql)


def test_answers_most_of_them_with_confidence(ask: Callable[..., Reading]) -> None:
    expected = [question for question, sql in PAIRS if not sql.startswith("abstains: ")]
    answered = [question for question in expected if not ask(question).abstained]
    assert len(answered) / len(expected) >= 0.75


@pytest.mark.parametrize(
    "question", ["insured trips per skipper", "which boat is the prettiest", "trips with a film crew", "shanties"]
)
def test_offers_questions_that_it_answers_itself(everyday: Asked, question: str) -> None:
    offered = everyday.reading("ferries", question, threshold=0.9).alternatives
    assert 1 <= len(offered) <= 3
    for other in offered:
        again = everyday.reading("ferries", other)
        assert again.confidence >= STATED_DOUBT
        assert again.not_understood == ()
