"""Loading benchmarks: each maker's format, where databases and test suites are found, and what a broken file says."""

from __future__ import annotations

import json
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from eval.tasks.loaders import TaskLoadError, load_bird, load_jsonl, load_spider
from tests.pairs import FIXTURES
from tests.writing import sqlite_file

SPIDER, BIRD = (json.loads((FIXTURES / f"tasks/{maker}.json").read_text()) for maker in ("spider", "bird"))
LINE = {"id": "a-1", "db": "zoo", "question": "How many animals?", "gold_sql": "SELECT COUNT(*) FROM animal"}


def _write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def _database(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return sqlite_file(path, "CREATE TABLE animal (name TEXT, age INT)")


def test_spider_is_numbered_and_finds_its_databases(tmp_path: Path) -> None:
    questions = _write(tmp_path / "dev.json", SPIDER)
    zoo = _database(tmp_path / "database" / "zoo" / "zoo.sqlite")
    loaded = load_spider(questions)
    first, second = loaded.tasks
    assert (first.id, first.database, first.gold.sql) == ("dev-0", "zoo", "SELECT count(*) FROM animal")
    assert (second.id, second.difficulty) == ("dev-1", "easy")
    assert dict(loaded.databases) == {"zoo": zoo}

    assert loaded.suites is None
    assert loaded.suite("zoo", tmp_path) == ()


def test_bird_brings_its_evidence(tmp_path: Path) -> None:
    questions = _write(tmp_path / "mini_dev_sqlite.json", BIRD)
    zoo = _database(tmp_path / "elsewhere" / "zoo.sqlite")
    loaded = load_bird(questions, tmp_path / "elsewhere")
    (task,) = loaded.tasks
    assert (task.id, task.difficulty, task.evidence) == ("bird-7", "simple", "old means age > 10")
    assert task.gold.sql == "SELECT COUNT(*) FROM animal WHERE age > 10"
    assert loaded.databases["zoo"] == zoo


def test_json_lines_carry_hints_variants_and_other_right_answers(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [
        LINE | {"tags": ["count"], "difficulty": "easy", "evidence": "all of them", "alt_gold_sql": "SELECT SUM(1)"},
        LINE | {"id": 2, "gold_sql_mysql": "SELECT COUNT(*) FROM `animal`"},
    ]
    text = "\n".join(json.dumps(line) for line in lines) + "\n\n"
    (tmp_path / "questions.jsonl").write_text(text, encoding="utf-8")
    first, second = load_jsonl(tmp_path).tasks
    assert (first.tags, first.difficulty, first.evidence) == (("count",), "easy", "all of them")
    assert first.also_right == ("SELECT SUM(1)",)
    assert second.id == "2"
    assert second.gold.on("mysql") == "SELECT COUNT(*) FROM `animal`"
    assert second.gold.on("sqlite") == "SELECT COUNT(*) FROM animal"


def test_suites_are_folders_or_archives(tmp_path: Path) -> None:
    questions = _write(tmp_path / "dev.json", SPIDER)
    plain = _database(tmp_path / "test_suite_database" / "zoo" / "zoo_v1.sqlite")
    packed = _database(tmp_path / "port_v1.sqlite")
    with tarfile.open(tmp_path / "test_suite_database" / "port.tar.xz", "w:xz") as archive:
        archive.add(packed, "port/port_v1.sqlite")
    loaded = load_spider(questions)
    assert loaded.suites == tmp_path / "test_suite_database"
    assert loaded.suite("zoo", tmp_path / "cache") == (plain,)
    assert [file.name for file in loaded.suite("port", tmp_path / "cache")] == ["port_v1.sqlite"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "entry 0 is not JSON: Expecting property name"),
        (json.dumps({k: v for k, v in LINE.items() if k != "gold_sql"}), "entry 0 has no text in 'gold_sql'"),
        (json.dumps(LINE | {"db": "../zoo"}), "entry 0 has '../zoo' in 'db', which cannot be the name of a database"),
        (json.dumps(LINE) + "\n" + json.dumps(LINE), "entry 1 repeats the id 'a-1'"),
        ("[" * 100_000, "entry 0 is not JSON: nested too deeply"),
    ],
)
def test_a_broken_line_is_named(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(TaskLoadError) as error:
        load_jsonl(tmp_path / "questions.jsonl")
    assert message in str(error.value)


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(TaskLoadError, match="cannot be read: No such file"):
        load_spider(tmp_path / "dev.json")
    with pytest.raises(TaskLoadError, match="contains no list of questions"):
        load_spider(_write(tmp_path / "tables.json", {"db_id": "zoo"}))
    with pytest.raises(TaskLoadError, match="nowhere is not a folder"):
        load_bird(_write(tmp_path / "dev.json", BIRD), tmp_path / "nowhere")
    (tmp_path / "latin.json").write_bytes('["caf\xe9"]'.encode("latin-1"))
    with pytest.raises(TaskLoadError, match="is not UTF-8 text"):
        load_bird(tmp_path / "latin.json")


@pytest.mark.bench
def test_birds_questions_keep_their_levels_and_evidence(bench_dir: Path) -> None:
    loaded = load_jsonl(bench_dir / "bird_minidev_schema_only")
    assert Counter(t.difficulty for t in loaded.tasks) == {"simple": 148, "moderate": 250, "challenging": 102}
    assert sum(bool(task.evidence) for task in loaded.tasks) > 400
