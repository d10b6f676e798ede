"""What a model meant, out of what it wrote, and numbers that it did not have from any result."""

from __future__ import annotations

import contextlib
import json
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.models.chat import _EndpointChat
from agent.models.replies import Reply, Tokens, UnusableReply, VisibleStream, extract_json, extract_sql, visible_text
from agent.nodes.summarizer import ungrounded_numbers
from agent.state import QueryResult
from tests.clock import unit
from tests.pairs import rows

FIXTURES = Path(__file__).parents[2] / "fixtures" / "replies"


def cases(name: str) -> list[Any]:
    text = (FIXTURES / name).read_text(encoding="utf-8")
    params = []
    for case in re.split(r"^=== ", text, flags=re.MULTILINE)[1:]:
        title, _, rest = case.partition("\n")
        reply, _, expected = re.split(r"^(---)\n", rest, maxsplit=1, flags=re.MULTILINE)
        params.append(pytest.param(reply.removesuffix("\n"), expected.removesuffix("\n"), id=title))
    return params


@pytest.mark.parametrize(("reply", "sql"), cases("sql.txt"))
def test_the_sql_is_found(reply: str, sql: str) -> None:
    if sql:
        assert extract_sql(reply) == sql
    else:
        with pytest.raises(UnusableReply):
            extract_sql(reply)


@pytest.mark.parametrize(("reply", "expected"), cases("json.txt"))
def test_the_object_is_found(reply: str, expected: str) -> None:
    if expected:
        assert extract_json(reply, keys=("sql",)) == json.loads(expected)
    else:
        with pytest.raises(UnusableReply):
            extract_json(reply, keys=("sql",))


# What replies are made of, so that random text comes near real replies.
WORDS = """
    ``` ```sql ```json { } [ ] " ' ` \\ , : ; ( ) <think> </think> <|channel|> final analysis <|message|> <|end|> --
    /* */ # // SELECT WITH DROP VALUES a "sql" AS FROM t 1 - é \\u12
"""
PARTS = st.sampled_from([*WORDS.split(), "\n", "\n\n", " ", "\ud83d", "\x00"])
TEXTS = st.one_of(st.text(max_size=200), st.lists(PARTS, max_size=40).map("".join))


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_any_text_gives_a_value_or_its_own_error(text: str) -> None:
    with contextlib.suppress(UnusableReply):
        sql = extract_sql(text)
        assert sql
        assert sql == sql.strip()
    with contextlib.suppress(UnusableReply):
        assert isinstance(extract_json(text), dict)
    assert isinstance(visible_text(text), str)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.text(max_size=8), JSON, min_size=1, max_size=4))
def test_sound_json_is_read_as_it_is(value: dict[str, object]) -> None:
    assert extract_json(json.dumps(value)) == value
    assert extract_json(json.dumps(value, ensure_ascii=False, indent=1)) == value
    assert extract_json(json.dumps(json.dumps(value))) == value


HOSTILE = [
    "{", "[", '"', "'", "`", "```", "~~~", "(", "\\", "\n", " ", ";", "--\n", "/*", "<think>", "</think>",
    "<|channel|>", '{"a":', '{"a":"', "{'", '{"a": "x" ', ";select ", "WITH a (\n", "`SELECT a ", '{"k":1,',
    '" ', "SELECT ", "<sql>", "<|channel|>final<|message|>", "```sql\nSELECT", "[[", '"{', "//", "#", "1. SELECT a",
    "SQL: ", '{"a":"" , /*', '{"a":",#\n', "{a:1}",
]  # fmt: skip


@pytest.mark.parametrize("part", HOSTILE)
def test_time_grows_with_length_and_no_faster(part: str) -> None:
    text = (part * (50_000 // len(part)))[:50_000]
    for read in (extract_sql, extract_json, visible_text):
        started = time.process_time()
        with contextlib.suppress(UnusableReply):
            read(text)
        assert time.process_time() - started < 15 * unit(), read.__name__


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.integers(1, 9))
def test_a_stream_shows_the_same_however_it_is_cut(text: str, size: int) -> None:
    def shown(pieces: list[str]) -> str:
        stream = VisibleStream()
        return "".join([*(stream.feed(piece) for piece in pieces), stream.feed("", final=True)])

    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    assert shown(pieces) == shown([text])


@pytest.mark.parametrize(("text", "visible"), rows("replies/visible.jsonl"))
def test_a_stream_shows_what_is_meant_for_people(text: str, visible: str) -> None:
    stream = VisibleStream()
    assert "".join(stream.feed(c) for c in text) + stream.feed("", final=True) == visible


# --- what servers add to a reply, and that each request is like the others ---


SQL = '{"sql": "SELECT 1"}'
MESSAGE = {"role": "assistant", "content": SQL}
USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


def whole(message: dict[str, Any], **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice], **more}


@pytest.fixture(scope="module")
def library() -> _EndpointChat:
    return _EndpointChat(model="m", api_key="k", base_url="http://127.0.0.1:9/v1", use_responses_api=False)


def test_a_reply_is_read_with_what_servers_add(library: _EndpointChat) -> None:
    for message, usage, reply in (
        ({}, USAGE, Reply(SQL, tokens=Tokens(7, 3, 0))),
        ({}, USAGE | {"prompt_tokens_details": {"cached_tokens": 4}}, Reply(SQL, tokens=Tokens(7, 3, 4))),
        ({}, USAGE | {"prompt_tokens_details": None}, Reply(SQL, tokens=Tokens(7, 3, 0))),
        ({}, None, Reply(SQL)),
        ({"content": None, "refusal": "No."}, USAGE, Reply("", refusal="No.", tokens=Tokens(7, 3, 0))),
        ({"reasoning_content": "Hm."}, USAGE, Reply(SQL, thoughts="Hm.", tokens=Tokens(7, 3, 0))),
        ({"content": ""}, None, Reply("")),
    ):
        response = whole({**MESSAGE, **message}, **({"usage": usage} if usage else {}))
        assert library.reply(response) == replace(reply, finish_reason="stop", model="m")


LINES = (Path(__file__).parents[2] / "fixtures" / "grounding" / "numbers.jsonl").read_text(encoding="utf-8")
CASES = [json.loads(line) for line in LINES.splitlines()]


def result(rows: list[list[Any]], sql: str = "SELECT x FROM t") -> QueryResult:
    columns = [f"column_{chr(97 + i)}" for i in range(len(rows[0]))] if rows else []
    return QueryResult(
        task_id="t", attempt=1, sql=sql, data=rows, columns=columns, rows_returned=len(rows), status="success"
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["why"])
def test_numbers_without_a_source_are_named(case: dict[str, Any]) -> None:
    given_result = result(case["rows"], case.get("sql", "SELECT x FROM t"))
    assert ungrounded_numbers(case["text"], [given_result], case.get("question", "")) == case["loose"]


@given(st.integers(-(10**15), 10**15) | st.floats(-1e9, 1e9))
def test_a_value_of_the_rows_is_always_found(value: float) -> None:
    for written in (f"{value:,}", f"{value:,.2f}", f"{value:.0f}"):
        if "e" not in written:
            assert ungrounded_numbers(f"It is {written} now", [result([[value]])]) == []


def test_long_texts_and_many_rows_take_little_time() -> None:
    rows = [[i, f"text {i}"] for i in range(50_000)]
    started = time.process_time()
    ungrounded_numbers("1,234,567 " * 9000 + "1" * 9000 + "1,111," * 3000, [result(rows)])
    assert time.process_time() - started < 40 * unit()
