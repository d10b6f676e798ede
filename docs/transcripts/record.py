"""Ask the questions of questions.jsonl offline and write down what came back, failures included.

    python docs/transcripts/record.py            (or: make transcripts)

In: questions as a new user would type them, with the gold SQL that a person wrote for each (several where several
answers are right). Out: one Markdown page a database beside this file, and the tally on standard output. The sample
databases are found through TEXT2SQL_BENCH_DIR; where they are absent they are left out. A database with a file
`{name}.sql` beside this one is built from it. A question without gold SQL cannot be answered: declining is right.
Names of databases as arguments restrict the run to these.
"""

from __future__ import annotations

import atexit
import json
import os
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

SHOWN_ROWS = 5


@dataclass(frozen=True)
class Asked:
    question: str
    answer: Answer
    verdict: str
    """`right`, `wrong`, `declined` or `failed`."""


def main() -> int:
    only = set(sys.argv[1:])
    by_database: dict[str, list[dict[str, object]]] = defaultdict(list)
    for line in (HERE / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        if not only or item["database"] in only:
            by_database[item["database"]].append(item)
    for name, items in by_database.items():
        target = _target(name)
        if target is None:
            print(f"{name}: not here (TEXT2SQL_BENCH_DIR), left as it was")
            continue
        database = resolve_database(target)
        asked = [_ask(database, str(item["question"]), list(item["gold_sql"])) for item in items]  # type: ignore[call-overload]
        (HERE / f"{name}.md").write_text("\n".join(_page(name, asked)) + "\n", encoding="utf-8")
        print(f"{name}: {_tally(asked)}")
    return 0


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


def _ask(database: Database, question: str, gold_sql: list[str]) -> Asked:
    try:
        answer = ask(question, database=database, model="offline")
    except QuestionFailed as failure:
        return Asked(question, failure.answer, "failed")
    if answer.abstained:
        return Asked(question, answer, "declined")
    if not gold_sql:
        return Asked(question, answer, "wrong")
    return Asked(question, answer, "right" if _matches(database, answer.sql, gold_sql) else "wrong")


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


def _tally(asked: list[Asked]) -> str:
    counts = Counter(a.verdict for a in asked)
    tally = ", ".join(f"{counts[v]} {v}" for v in ("right", "wrong", "declined", "failed") if counts[v])
    sure = [a for a in asked if a.answer.sql and not a.answer.doubts]
    return f"{tally}; {sum(a.verdict == 'right' for a in sure)} of {len(sure)} answers without a stated doubt are right"


def _page(name: str, asked: list[Asked]) -> Iterator[str]:
    yield f"# {name}: {len(asked)} questions, asked offline"
    yield ""
    yield f"{_tally(asked)}. Recorded by `make transcripts`; *right* means: the rows are those of a query that a person"
    yield "wrote for the question. *declined* means that the engine said it can't tell. Nothing was left out."
    for number, item in enumerate(asked, 1):
        answer = item.answer
        yield ""
        yield f"## {number}. {item.question}"
        yield ""
        mark = f"**{item.verdict}**"
        if answer.sql:
            mark += f" · score {answer.score:.2f} · {len(answer.rows):,} row{'' if len(answer.rows) == 1 else 's'}"
        yield mark
        yield ""
        if answer.reason:
            yield f"Read as: {answer.reason}" if answer.sql else answer.reason
            yield ""
        if answer.sql:
            yield f"```sql\n{answer.sql}\n```"
            yield ""
        if answer.rows:
            yield from _table(answer)
        for line in answer.answer.splitlines():
            yield f"> {line}" if line else ">"


def _table(answer: Answer) -> Iterator[str]:
    yield "| " + " | ".join(map(_cell, answer.columns)) + " |"
    yield "| " + " | ".join("---" for _ in answer.columns) + " |"
    for row in answer.rows[:SHOWN_ROWS]:
        yield "| " + " | ".join(map(_cell, row)) + " |"
    if len(answer.rows) > SHOWN_ROWS:
        yield f"\n{len(answer.rows) - SHOWN_ROWS:,} more rows."
    yield ""


def _cell(value: object) -> str:
    text = "NULL" if value is None else str(value)
    return text.replace("|", "\\|").replace("\n", " ")[:80]


if __name__ == "__main__":
    raise SystemExit(main())
