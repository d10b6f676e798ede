"""Ask the questions of questions.jsonl offline and write down what came back, failures included.

    python docs/transcripts/record.py            (or: make transcripts)

In: questions as a new user would type them, with the gold SQL that a person wrote for each (several where several
answers are right). Out: `transcripts.md` beside this folder: a tally of each database, which counts all questions, and
a table of every question that was not answered rightly and of those that are marked `shown`. The tally is also printed.
The sample databases are found through TEXT2SQL_BENCH_DIR; where one is absent, its lines stay as they are. A database
with a file `{name}.sql` beside this one is built from it. A question without gold SQL cannot be answered: declining is
right. Names of databases as arguments restrict the run to these.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import sqlite3
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT))

from agent.runtime.catalogue import resolve_database  # noqa: E402
from eval.databases.base import Database  # noqa: E402
from eval.metrics.comparison import same_result  # noqa: E402
from eval.sql import check, facts, parse  # noqa: E402
from text2sql import Answer, ask  # noqa: E402
from text2sql.errors import QuestionFailed  # noqa: E402

PAGE = HERE.parent / "transcripts.md"
HEAD = """# Transcripts

Questions as a new user would type them, asked without a model by `make transcripts`. *right*: the rows are those of a
query that a person wrote for the question. *declined*: the engine said that it cannot tell. *sure*: an answer without a
stated doubt. What it says of strangers: [measurements](measurements.md#strangers-questions).

| database | right | wrong | declined | sure answers that are right |
| --- | ---: | ---: | ---: | --- |
"""
QUESTIONS = """
## What was not answered rightly, and some of the rest

| database | question | SQL, or what was said | first rows | | score |
| --- | --- | --- | --- | --- | --- |
"""
SHOWN_ROWS = 3


@dataclass(frozen=True)
class Asked:
    question: str
    answer: Answer
    verdict: str
    """`right`, `wrong`, `declined` or `failed`."""
    shown: bool
    """Shown even where the verdict is `right`."""


def main() -> int:
    only = set(sys.argv[1:])
    by_database: dict[str, list[dict[str, object]]] = defaultdict(list)
    for line in (HERE / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        if not only or item["database"] in only:
            by_database[item["database"]].append(item)
    tallies, rows = _written()
    for name, items in by_database.items():
        target = _target(name)
        if target is None:
            print(f"{name}: not here (TEXT2SQL_BENCH_DIR), left as it was")
            continue
        database = resolve_database(target)
        asked = [_ask(database, item) for item in items]
        tallies[name], rows[name] = _tally(name, asked), list(_rows(name, asked))
        print(tallies[name])
    lines = [line for name in tallies for line in rows[name]]
    PAGE.write_text(HEAD + "\n".join(tallies.values()) + "\n" + QUESTIONS + "\n".join(lines) + "\n", encoding="utf-8")
    return 0


def _written() -> tuple[dict[str, str], dict[str, list[str]]]:
    """The tally and the questions of each database as the page has them, for those that are not here."""
    tallies: dict[str, str] = {}
    rows: dict[str, list[str]] = defaultdict(list)
    head, _, questions = PAGE.read_text(encoding="utf-8").partition("\n## ")
    for line in re.findall(r"(?m)^\| \w+ \| \d.*$", head):
        tallies[line.split()[1]] = line
    for line in re.findall(r"(?m)^\| \w+ \| .*$", questions):
        rows[line.split()[1]].append(line)
    return tallies, rows


def _target(name: str) -> str | None:
    if name in ("shop", "enterprise"):
        return name
    if (script := HERE / f"{name}.sql").exists():
        return str(_built(name, script))
    bench = Path(os.environ.get("TEXT2SQL_BENCH_DIR", ROOT.parent / "shared" / "bench"))
    path = bench / "sample_databases" / "databases" / f"{name}.sqlite"
    return str(path) if path.exists() else None


def _built(name: str, script: Path) -> Path:
    """A database from its SQL file, in a new folder that is removed when the program ends."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    connection = sqlite3.connect(folder / f"{name}.sqlite")
    connection.executescript(script.read_text(encoding="utf-8"))
    connection.close()
    return folder / f"{name}.sqlite"


def _ask(database: Database, item: dict[str, object]) -> Asked:
    question, gold_sql, shown = str(item["question"]), list(item["gold_sql"]), bool(item.get("shown"))  # type: ignore[call-overload]
    try:
        answer = ask(question, database=database, model="offline")
    except QuestionFailed as failure:
        return Asked(question, failure.answer, "failed", shown)
    if answer.abstained:
        return Asked(question, answer, "declined", shown)
    right = bool(gold_sql) and _matches(database, answer.sql, gold_sql)
    return Asked(question, answer, "right" if right else "wrong", shown)


def _matches(database: Database, sql: str, gold_sql: list[str]) -> bool:
    mine = check(parse(sql, database.dialect)).statement
    if mine is None:
        return False
    result = database.execute(mine)
    for text in gold_sql:
        parsed = parse(text, database.dialect)
        gold = check(parsed).statement
        if gold is None:
            raise ValueError(f"the gold query is refused: {text}")
        ordered = bool(facts(parsed, None).order_by)
        if same_result(database.execute(gold), result, ordered=ordered):
            return True
    return False


def _tally(name: str, asked: list[Asked]) -> str:
    counts = Counter(a.verdict for a in asked)
    sure = [a for a in asked if a.answer.sql and not a.answer.doubts]
    right = sum(a.verdict == "right" for a in sure)
    wrong = counts["wrong"] + counts["failed"]
    return f"| {name} | {counts['right']} | {wrong} | {counts['declined']} | {right} of {len(sure)} |"


def _rows(name: str, asked: list[Asked]) -> Iterator[str]:
    for item in asked:
        if item.verdict == "right" and not item.shown:
            continue
        answer = item.answer
        rows = "; ".join(", ".join(map(_cell, row)) for row in answer.rows[:SHOWN_ROWS])
        more = f" … ({len(answer.rows):,} rows)" if len(answer.rows) > SHOWN_ROWS else ""
        sql = (
            f"`{_cell(' '.join(answer.sql.split()), 400)}`" if answer.sql else _cell(answer.answer.split("\n")[0], 400)
        )
        mark = item.verdict + (", in doubt" if answer.sql and answer.doubts else "")
        score = f"{answer.score:.2f}" if answer.sql else ""
        yield f"| {name} | {_cell(item.question, 200)} | {sql} | {rows}{more} | {mark} | {score} |"


def _cell(value: object, longest: int = 80) -> str:
    text = "NULL" if value is None else str(value)
    return text.replace("|", "\\|").replace("\n", " ")[:longest]


if __name__ == "__main__":
    raise SystemExit(main())
