"""Who is asked what, and what an answer is worth: participants good, idle, dead and hostile, over real HTTP; and the
kind of mistake that a wrong answer makes."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from eval.assessment import (
    Answer,
    Filters,
    Options,
    ParticipantUnusable,
    Selection,
    SelectionError,
    TaskResult,
    assess,
    figures,
    participant,
    select_tasks,
)
from eval.assessment.judgement import JudgeRequest, judge
from eval.assessment.participants import Caller
from eval.assessment.records import Judgement
from experiments.reference_participants import Raw, Reply, serving
from tests.eval.assessment.conftest import STORE
from tests.pairs import rows
from tests.writing import sqlite_file


@pytest.fixture(scope="module")
def selection(place: Path) -> Selection:
    return select_tasks(str(place / "tasks.jsonl"))


def ask(selection: Selection, *urls: str, **options: Any) -> dict[str, list[TaskResult]]:
    """All tasks to each of the URLs, by URL."""
    given = Options(**{"judges": 1, "timeout": 10.0, **options})
    results = asyncio.run(assess(selection.assignments, [participant(url, url) for url in urls], given))
    return {url: [r for r in results if r.participant == url] for url in urls}


def asked(selection: Selection, say: Reply, *, rpc: bool = False, **options: Any) -> list[TaskResult]:
    """All tasks to one participant that answers so."""
    with serving(say, rpc=rpc) as stand:
        return ask(selection, stand.url, **options)[stand.url]


def test_gold_is_right_everywhere_and_idle_answers_score_low(
    selection: Selection, golds: dict[str, str], dead_url: str
) -> None:
    for preset in ("default", "performance"):
        with (
            serving(lambda task: {"sql": golds[task["task_id"]]}) as gold,
            serving(lambda task: {"sql": "SELECT 1", "reasoning": "It is 1.", "confidence": 1.0}) as idle,
            serving(lambda task: {"sql": "", "task_id": task["task_id"]}) as empty,
            serving(lambda task: {"sql": "SELECT COUNT(*) FROM orders"}) as other,
        ):
            results = ask(selection, gold.url, idle.url, empty.url, other.url, dead_url, preset=preset)
            counted = {url: figures(of) for url, of in results.items()}
        assert counted[gold.url].ex.value == counted[gold.url].va.value == counted[gold.url].em.value == 1.0
        assert counted[gold.url].dimensions["correctness"] == 1.0
        assert counted[gold.url].overall > 0.9
        for url in (idle.url, empty.url, other.url, dead_url):
            assert counted[url].ex.total == len(golds)
            assert counted[url].dimensions["correctness"] == 0.0
            assert counted[url].overall <= 0.25
        assert counted[dead_url].overall == 0.0
        assert counted[dead_url].failures == {"unreachable": len(golds)}
        assert counted[empty.url].failures == {"no_sql": len(golds)}


def slow_a2a(golds: dict[str, str], *, new: bool) -> Reply:
    """A task is at work at first, and has the SQL when it is asked for again; `new`: protocol 1.0, else 0.3."""
    last = {"sql": ""}

    def say(task: dict[str, Any]) -> dict[str, Any]:
        again = "got" in task
        if not again:
            last["sql"] = golds[task["task_id"]]
        state = "completed" if again else "working"
        reply: dict[str, Any] = {"id": "a/1", "status": {"state": f"TASK_STATE_{state.upper()}" if new else state}}
        reply["artifacts"] = [{"parts": [{"text": json.dumps(last)}]}] if again else []
        return {"task": reply} if new and not again else reply

    return say


@pytest.mark.parametrize(("card", "paths"), rows("assessment/cards.jsonl"))
def test_a_participant_is_called_in_the_protocol_of_its_card(
    selection: Selection, golds: dict[str, str], card: dict[str, Any], paths: list[str]
) -> None:
    new = "supportedInterfaces" in card
    with serving(slow_a2a(golds, new=new), card=card) as stand:
        results = ask(selection, stand.url, jobs=1)[stand.url]
    assert [r.judgement.ex for r in results] == [True] * len(golds)
    assert stand.paths[1:3] == paths  # behind the card
    assert any("a2a-version" in text.lower() for text in stand.received) == new


def test_a_participant_behind_a_proxy_is_called_below_its_path(selection: Selection, golds: dict[str, str]) -> None:
    """A gateway serves participants below their names and leaves a card alone that says another host."""
    with serving(slow_a2a(golds, new=False), card={"url": "http://purple:9019/"}, below="/purple") as stand:
        results = ask(selection, f"{stand.url}/purple", jobs=1)[f"{stand.url}/purple"]
    assert [r.judgement.ex for r in results] == [True] * len(golds)


def test_a_participant_is_sent_the_contract_and_never_gold(selection: Selection, golds: dict[str, str]) -> None:
    with serving(lambda task: {"sql": "SELECT 1"}, rpc=True) as stand:
        ask(selection, stand.url)
        sent = stand.asked
    assert len(sent) == len(golds)
    text = json.dumps(sent)
    assert not any(sql in text for sql in golds.values())
    first = next(task for task in sent if task["task_id"] == "all")
    assert set(first) == {"task_id", "question", "schema", "dialect"}
    assert first["dialect"] == "sqlite"
    orders = next(t for t in first["schema"]["tables"] if t["name"] == "orders")
    told = {"nullable": True, "primary_key": False, "foreign_key": "customers.id", "default": None}
    assert orders["columns"][1] == {"name": "customer_id", "type": "INTEGER", **told}
    assert "Ada" not in text


def test_rows_are_sent_only_when_asked_for(place: Path) -> None:
    [first, *_] = select_tasks(str(place / "tasks.jsonl"), samples=2).assignments
    [customers, _] = first.structure["tables"]
    assert customers["sample_rows"] == [[1, "Ada", "Berlin", 36], [2, "Bob", "Paris", 50]]


def answer_of(say: Reply, task: dict[str, Any], *, rpc: bool = False, timeout: float = 10.0) -> Answer:
    """What one participant's answer is read as, without judging it."""

    async def once(url: str) -> Answer:
        async with Caller(participant("p", url), timeout=timeout) as caller:
            return await caller.ask(task)

    with serving(say, rpc=rpc) as stand:
        return asyncio.run(once(stand.url))


TASK = {"task_id": "all", "question": "How many customers are there?", "schema": {"tables": []}, "dialect": "sqlite"}


def task_of(parts: list[dict[str, Any]], state: str = "completed") -> dict[str, Any]:
    return {"kind": "task", "id": "1", "status": {"state": state}, "artifacts": [{"artifactId": "a", "parts": parts}]}


SQL = "SELECT COUNT(*) FROM customers"


@pytest.mark.parametrize(("form", "reply"), rows("assessment/forms.jsonl"))
def test_answers_over_a2a_are_read_in_many_forms(form: str, reply: dict[str, Any]) -> None:
    answer = answer_of(lambda task: reply, TASK, rpc=True)
    assert (answer.sql, answer.failure) == (SQL, "")
    assert ("another" in answer.note) == (form == "another task's id")


@pytest.mark.parametrize(
    ("reply", "failure", "message"),
    [
        (Raw(b"<html>oops</html>", 500), "http_error", "HTTP 500"),
        (Raw(b"[" * 100_000), "unreadable", "neither JSON"),
        (Raw(b'{"sql": "", "error": "I do not know"}'), "no_sql", "I do not know"),
        (Raw(b'{"answer": 42}'), "unreadable", "neither JSON"),
        (Raw(b'{"sql": "' + b"x" * 5_000_000 + b'"}'), "too_large", "4,194,304 bytes"),
        (Raw(b"SELECT " + b"1," * 60_000), "too_large", "100,000 characters"),
        (Raw(b"x", 200, {"content-encoding": "gzip"}), "unreadable", "compressed"),
        (Raw(b"", 302, {"location": "http://127.0.0.1:1/"}), "http_error", "HTTP 302: redirects are not followed"),
        (Raw(b"\xff\xfe\x00{"), "unreadable", "neither JSON"),
    ],
)
def test_a_broken_reply_says_why(reply: Raw, failure: str, message: str) -> None:
    answer = answer_of(lambda task: reply, TASK)
    assert (answer.sql, answer.failure) == ("", failure)
    assert message in answer.error


def test_a_server_that_drips_is_given_up_too(selection: Selection) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/generate"
        short = Selection(selection.source, selection.assignments[:1])

        async def run() -> list[TaskResult]:
            server = await asyncio.start_server(drip, sock=listener.dup())
            try:
                return await assess(
                    short.assignments, [participant("drip", url, "rest")], Options(judges=1, timeout=1.0)
                )
            finally:
                server.close()

        async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
            try:
                while True:
                    writer.write(b" ")
                    await writer.drain()
                    await asyncio.sleep(0.1)
            except OSError:
                writer.close()

        [one] = asyncio.run(run())
    assert one.answer.failure == "timeout"


def test_a_card_may_not_send_the_questions_to_another_host(selection: Selection) -> None:
    short = Selection(selection.source, selection.assignments[:1])
    with serving(lambda task: {"sql": SQL}) as elsewhere:
        card = {"name": "t", "url": f"{elsewhere.url}/rpc"}
        with serving(lambda task: task_of([{"kind": "data", "data": {"sql": SQL}}]), card=card) as stand:
            [one] = ask(short, stand.url)[stand.url]
            assert stand.paths[-1] == "/rpc message/send"
        assert elsewhere.asked == []
    assert one.right


HOSTILE = dict(rows("assessment/hostile.jsonl")) | {
    "huge": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000000) "
    f"SELECT i, '{'x' * 1000}' || i FROM n",
    "deep": "SELECT " + "(" * 3_000 + "1" + ")" * 3_000,
}


def test_hostile_sql_fails_alone_and_the_database_stays_as_it_was(selection: Selection, golds: dict[str, str]) -> None:
    short = Selection(selection.source, selection.assignments[:1])
    with ExitStack() as stack:
        stands = {
            name: stack.enter_context(serving(lambda task, sql=sql: {"sql": sql})) for name, sql in HOSTILE.items()
        }
        results = ask(short, *(stand.url for stand in stands.values()), sql_seconds=1.0)
    for name, stand in stands.items():
        [one] = results[stand.url]
        assert not one.right, name
        assert one.judgement.error or name == "huge", "cut off, which is an answer of another length"
        assert one.judgement.gold_error is None, name
        assert one.judgement.overall <= 0.25, name
        assert one.judgement.mistakes, name
    assert all(r.right for r in asked(selection, lambda task: {"sql": golds[task["task_id"]]}))


def test_a_gold_that_fails_is_told_apart_and_stays_in_the_denominator(place: Path, tmp_path: Path) -> None:
    lines = (place / "tasks.jsonl").read_text().splitlines()[:1]
    lines.append(json.dumps({"id": "bad", "db": "store", "question": "?", "gold_sql": "SELECT nothing FROM nowhere"}))
    (tmp_path / "tasks.jsonl").write_text("\n".join(lines))
    selection = select_tasks(str(tmp_path / "tasks.jsonl"), databases=place / "databases")
    counted = figures(asked(selection, lambda task: {"sql": SQL}))
    assert (counted.ex.right, counted.ex.total) == (1, 2)
    assert counted.gold_failures == ("bad",)


def test_a_test_suite_finds_out_luck_and_leaves_nobody_out_of_its_denominator(
    place: Path, tmp_path: Path, dead_url: str
) -> None:
    (tmp_path / "store").mkdir()
    sqlite_file(tmp_path / "store" / "other.sqlite", STORE + "DELETE FROM customers WHERE name = 'Cem'")
    selection = select_tasks(str(place / "tasks.jsonl"), Filters(ids=("all", "berlin")), suites=tmp_path)
    luck = {"all": "SELECT 3", "berlin": "SELECT name FROM customers WHERE city = 'Berlin'"}
    with serving(lambda task: {"sql": luck[task["task_id"]]}) as lucky, serving(lambda task: {"sql": ""}) as empty:
        results = {url: figures(of) for url, of in ask(selection, lucky.url, empty.url, dead_url).items()}
    rates = {url: (one.ex.right, one.ts.right, one.ts.total) for url, one in results.items() if one.ts}
    assert rates == {lucky.url: (2, 1, 2), empty.url: (0, 0, 2), dead_url: (0, 0, 2)}


def test_an_answer_that_its_judge_has_no_memory_for_keeps_its_place_in_every_figure(selection: Selection) -> None:
    short = Selection(selection.source, selection.assignments[:1])
    [one] = asked(short, lambda task: {"sql": HOSTILE["huge"]}, memory_bytes=64 * 1024**2)
    assert (one.right, one.judgement.gold_error, one.judgement.features) == (False, None, ("aggregate",))
    assert "memory" in (one.judgement.error or "").casefold()
    assert one.judgement.mistakes[0].category == "incorrect_planning"


@pytest.mark.parametrize(("given", "expected"), rows("assessment/usage.jsonl"))
def test_confidence_tokens_and_cost_are_taken_where_they_make_sense(given: dict[str, Any], expected: list[Any]) -> None:
    answer = answer_of(lambda task: {"sql": SQL, **given}, TASK)
    assert [answer.confidence, answer.tokens, answer.cost] == expected


def test_only_plain_http_urls_are_called() -> None:
    for url in [
        "ftp://host/x",
        "file:///etc/passwd",
        "host:80",
        "http://",
        "http://user:pw@host/",
        "http://h/?q=1",
        "http://[::1",
    ]:
        with pytest.raises(ParticipantUnusable):
            participant("p", url)


def test_filters_choose_and_say_what_there_is(place: Path) -> None:
    source = str(place / "tasks.jsonl")
    assert [a.task.id for a in select_tasks(source, Filters(difficulties=("easy",))).assignments] == ["all", "berlin"]
    assert [a.task.id for a in select_tasks(source, Filters(limit=2)).assignments] == ["all", "oldest"]
    with pytest.raises(SelectionError, match=r"there is no difficulty 'simple'.*easy, hard, medium"):
        select_tasks(source, Filters(difficulties=("simple",)))
    with pytest.raises(SelectionError, match="no database was found for store"):
        select_tasks(source, databases=place)
    with pytest.raises(SelectionError, match="postgres needs --engine"):
        select_tasks(dialect="postgresql")
    with pytest.raises(SelectionError, match="unknown SQL dialect"):
        select_tasks(dialect="cobol")
    with pytest.raises(SelectionError, match="Oracle Database is not executed here; choose sqlite"):
        select_tasks(dialect="oracle")


GOLD = (
    "SELECT c.name, SUM(o.amount) FROM customers AS c "
    "JOIN orders AS o ON o.customer_id = c.id WHERE c.age > 25 GROUP BY c.id"
)


def judged(place: Path, sql: str, gold: str = GOLD) -> Judgement:
    return judge(JudgeRequest(str(place / "databases" / "store.sqlite"), "?", (gold,), sql, ""))


@pytest.mark.parametrize(("sql", "category", "message"), rows("assessment/mistakes.jsonl"))
def test_a_mistake_has_a_category_and_a_reason(place: Path, sql: str, category: str, message: str) -> None:
    judgement = judged(place, sql)
    assert judgement.ex is False
    assert judgement.mistakes[0].category == category, judgement.mistakes
    assert message in judgement.mistakes[0].reason


def test_a_right_answer_has_no_mistakes_however_it_is_written(place: Path) -> None:
    other = (
        "SELECT (SELECT name FROM customers WHERE id = customer_id), SUM(amount) "
        "FROM orders WHERE customer_id < 3 GROUP BY 1"
    )
    judgement = judged(place, other)
    assert (judgement.ex, judgement.mistakes, judgement.difference) == (True, (), None)


def test_what_differs_is_shown_in_a_few_rows(place: Path) -> None:
    judgement = judged(place, GOLD.replace("> 25", "> 40")).difference
    assert (judgement.gold_rows, judgement.rows) == (2, 1)
    assert judgement.missing == (("Ada", 15.0),)
    assert judgement.extra == ()
    gold = "SELECT name FROM customers ORDER BY age"
    reordered = judged(place, "SELECT name FROM customers ORDER BY name", gold).difference
    assert reordered.reordered
