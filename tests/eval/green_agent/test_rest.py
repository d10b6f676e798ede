"""Assessments over plain REST: the artifact, what participants are told, refusals, streams, and shards."""

from __future__ import annotations

import json
import re
import threading
import time
from typing import Any

import httpx
import pytest

from eval.assessment import select_tasks
from eval.assessment.records import GROUPS
from eval.green_agent.request import RequestUnusable, read_request
from eval.scoring import DIMENSIONS
from experiments.reference_participants import Reply, serving
from tests.eval.green_agent.conftest import KEYS
from tests.pairs import rows
from tests.waiting import becomes


def assessed(evaluator: str, participants: dict[str, str], **config: Any) -> dict[str, Any]:
    reply = httpx.post(evaluator + "assess", json={"participants": participants, "config": config}, timeout=60)
    assert reply.status_code == 200, reply.text
    return json.loads(reply.text, parse_constant=pytest.fail)


def gold_echo(golds: dict[str, str]) -> Reply:
    return lambda task: {"sql": golds[task["task_id"]], "task_id": task["task_id"], "confidence": 0.9}


@pytest.fixture(scope="module")
def artifact(evaluator: str, golds: dict[str, str], dead_url: str) -> dict[str, Any]:
    """Of one that is right, one that is idle and one that is not there."""
    with serving(gold_echo(golds)) as right, serving(lambda task: {"sql": "SELECT 1"}) as idle:
        return assessed(evaluator, {"dead": dead_url, "idle": idle.url, "right": right.url}, scorer_preset="strict")


def test_the_artifact_has_the_agreed_shape_and_names(artifact: dict[str, Any], golds: dict[str, str]) -> None:
    inner = artifact["artifact"]
    assert artifact["status"] == "completed"
    assert inner == {name: value for name, value in artifact.items() if name not in ("status", "artifact")}
    assert set(inner) == KEYS
    assert (inner["config"]["scorer_preset"], inner["config"]["task_count"]) == ("strict", len(golds))
    for one in inner["participants"].values():
        assert {"overall", *DIMENSIONS} <= set(one["scores"])
        assert {r["task_id"] for r in one["task_results"]} == set(golds)
        assert one["error_metrics"].keys() == inner["error_metrics_summary"].keys()
    summary = inner["error_metrics_summary"]
    assert {name: set(summary[f"{name}_errors"]) for name in GROUPS} == {
        "schema": {"wrong_schema_linking", "wrong_column", "wrong_table"},
        "analysis": {"erroneous_data_analysis", "incorrect_planning", "incorrect_data_calculation"},
        "sql": {"syntax", "condition_filter", "join", "incorrect_dialect_function_usage"},
    }
    assert [c["task_id"] for c in inner["task_comparison"]] == list(golds)
    assert all(c["agent_scores"]["right"]["overall"] == c["scores"]["right"] for c in inner["task_comparison"])
    ranked = [(r["participant_id"], r["correct"], r["tasks"]) for r in inner["rankings"]]
    assert ranked == [("right", 4, 4), ("idle", 0, 4), ("dead", 0, 4)]
    assert all(r["overall_score"] == r["overall"] for r in inner["rankings"])
    dead, right = inner["participants"]["dead"], inner["participants"]["right"]
    assert (dead["participant_id"], dead["total_tasks"], dead["successful"], dead["failed"]) == ("dead", 4, 0, 4)
    assert {r["sql_submitted"] for r in right["task_results"]} == set(golds.values())
    assert all(r["execution_success"] and r["error_message"] is None for r in right["task_results"])
    assert all(r["error_message"] for r in dead["task_results"])


def test_gold_is_in_nothing_that_leaves_the_evaluator(evaluator: str, golds: dict[str, str]) -> None:
    def flat(text: str) -> str:
        return re.sub(r"\\[nrt]|\s+", " ", text).casefold()

    with serving(lambda task: {"sql": "SELECT 1"}) as rest:
        returned = json.dumps(assessed(evaluator, {"a": rest.url}))
    done = {"kind": "task", "id": "1", "status": {"state": "completed"}, "artifacts": []}
    with serving(lambda task: done, rpc=True) as rpc:
        returned += json.dumps(assessed(evaluator, {"b": rpc.url}))
    assert (len(rest.asked), len(rpc.asked)) == (len(golds), len(golds))
    received = "\n".join((*rest.received, *rpc.received))
    assert "How many customers are there?" in received
    for text in (received, returned):
        for sql in golds.values():
            assert flat(sql) not in flat(text)
        assert "gold_sql" not in text
    for value in ("Ada", "Bob", "Paris", "7.25"):
        assert value not in received


def test_a_stream_tells_progress_and_ends_with_the_artifact(evaluator: str, golds: dict[str, str]) -> None:
    with serving(gold_echo(golds)) as stand:
        asked = {"participants": {"p": stand.url}, "config": {"unheard_of": 1}}
        reply = httpx.post(evaluator + "assess", json=asked, headers={"accept": "text/event-stream"}, timeout=60)
    events = [json.loads(line[5:]) for line in reply.text.splitlines() if line.startswith("data:")]
    assert events[0] == {"event": "progress", "message": "Not known and ignored: unheard_of."}
    assert {"event": "progress", "message": "4 of 4 answers judged, 4 right."} in events
    assert events[-1]["event"] == "artifact"
    assert events[-1]["data"]["config"]["ignored"] == ["unheard_of"]


def test_the_stream_at_a_path_of_its_own_tells_a_status(evaluator: str, golds: dict[str, str]) -> None:
    with serving(gold_echo(golds)) as stand:
        asked = {"participants": {"p": stand.url}, "config": {"task_count": 1}}
        reply = httpx.post(evaluator + "assess/stream", json=asked, timeout=60)
    wrong = httpx.post(evaluator + "assess/stream", json={"participants": {}}, timeout=30)
    events = [json.loads(line[5:]) for line in reply.text.splitlines() if line.startswith("data:")]
    assert "no-transform" in reply.headers["cache-control"]
    assert [event["status"] for event in events] == ["working", "working", "completed"]
    assert events[-1]["artifact"]["rankings"][0]["participant_id"] == "p"
    assert wrong.status_code == 400


@pytest.mark.parametrize(("given", "message"), rows("assessment/requests_refused.jsonl"))
def test_a_request_that_cannot_be_used_says_why(evaluator: str, given: Any, message: str) -> None:
    reply = httpx.post(evaluator + "assess", json=given, timeout=30)
    assert reply.status_code == 400
    assert message in reply.json()["error"]


def test_what_is_no_json_or_too_much_is_refused(evaluator: str) -> None:
    assert httpx.post(evaluator + "assess", content=b"{nonsense").status_code == 400
    assert httpx.post(evaluator + "assess", content=b"[" * 200_000).status_code == 400
    assert httpx.post(evaluator + "assess", content=b" " * 2_000_000).status_code == 413


def test_more_than_a_few_at_once_are_told_to_wait_and_leaving_makes_room(evaluator: str, golds: dict[str, str]) -> None:
    release = threading.Event()

    def hang(task: dict[str, Any]) -> dict[str, Any]:
        release.wait(20)
        return {"sql": ""}

    def status() -> int:
        return httpx.post(evaluator + "assess", json={"participants": {"p": honest.url}}, timeout=30).status_code

    with serving(hang) as stand, serving(gold_echo(golds)) as honest:
        asked = {"participants": {"p": stand.url}, "config": {"protocol": "rest", "jobs": 1}}

        def leaving() -> None:
            with pytest.raises(httpx.ReadTimeout):
                httpx.post(evaluator + "assess", json=asked, timeout=httpx.Timeout(10, read=3))

        leavers = [threading.Thread(target=leaving) for _ in range(2)]
        for leaver in leavers:
            leaver.start()
        assert becomes(lambda: len(stand.asked) == 2)
        assert becomes(lambda: status() == 503)
        for leaver in leavers:
            leaver.join()
        assert becomes(lambda: status() == 200)
        release.set()
        time.sleep(0.2)
        assert len(stand.asked) == 2


def selected(**config: Any) -> list[str]:
    request = read_request({"participants": {"p": "http://127.0.0.1:9"}, "config": {"schema": "shop", **config}})
    return [assignment.task.id for assignment in select_tasks(filters=request.config.filters).assignments]


def test_the_shards_are_disjoint_and_together_the_whole() -> None:
    whole = selected(num_instances=7)
    shards = [selected(num_instances=7, num_shards=3, shard_index=index) for index in range(3)]

    assert len(whole) == 7
    assert [len(shard) for shard in shards] == [3, 2, 2]
    assert sorted(task for shard in shards for task in shard) == sorted(whole)


def test_a_shard_that_is_none_is_refused_in_words() -> None:
    with pytest.raises(RequestUnusable, match="shard_index is counted from 0 and below num_shards"):
        selected(num_shards=2, shard_index=2)
