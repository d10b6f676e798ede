"""The file of recorded exchanges: what it keeps, what it survives, and the order in which it is replayed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.recorded.exchanges import Exchange, Exchanges, Recorder, digest, is_recording, load_exchanges

ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


def exchange(body: str = "{}", asked: dict[str, Any] = ASKED, **changes: Any) -> Exchange:
    given: dict[str, Any] = {"digest": digest(asked), "stream": False, "model": "m", "status": 200, "headers": {}}
    given |= {"content_type": "application/json", "body": body, "cut": False, "seconds": 0.1}
    return Exchange(**(given | changes))


def test_what_was_recorded_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    kept = [exchange("naïve", headers={"retry-after": "2"}), exchange("\udcff", cut=True, stream=True)]

    with Recorder(path) as recorder:
        for one in kept:
            recorder.add(one)

    assert load_exchanges(path) == (kept, {})
    assert json.loads(path.read_text().splitlines()[0]) == {"format": "text2sql-recording", "version": 1}
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("lost", [1, 20, 60])
def test_after_a_kill_the_recording_goes_on_behind_the_half_line(tmp_path: Path, lost: int) -> None:
    path = tmp_path / "run.jsonl"
    with Recorder(path) as recorder:
        recorder.add(exchange("one"))
        recorder.add(exchange("two"))
    path.write_bytes(path.read_bytes()[:-lost])

    with Recorder(path) as recorder:
        recorder.add(exchange("three"))

    exchanges, skipped = load_exchanges(path)
    whole = lost == 1  # only the line's end was lost
    assert [e.body for e in exchanges] == (["one", "two", "three"] if whole else ["one", "three"])
    assert sum(skipped.values()) == (0 if whole else 1)


def test_a_file_of_another_kind_is_never_written_to_and_a_later_version_is_refused(tmp_path: Path) -> None:
    path, later = tmp_path / "notes.txt", tmp_path / "run.jsonl"
    path.write_text('{"system": "s", "id": 1, "sql": "SELECT 1"}\n')
    later.write_text('{"format": "text2sql-recording", "version": 2}\n')

    assert (is_recording(path), is_recording(later)) == (False, True)
    with pytest.raises(ValueError, match="does not begin as a recording does"), Recorder(path):
        pass
    assert path.read_text() == '{"system": "s", "id": 1, "sql": "SELECT 1"}\n'
    with pytest.raises(ValueError, match="not a text2sql-recording of version 1"):
        load_exchanges(later)


def test_a_request_is_known_by_model_messages_and_form_alone() -> None:
    same = [{**ASKED, "temperature": 0}, {**ASKED, "max_tokens": 5}, dict(reversed(ASKED.items()))]
    other = [
        {**ASKED, "model": "n"},
        {**ASKED, "response_format": {"type": "json_object"}},
        {**ASKED, "messages": [{"role": "user", "content": "hello "}]},
    ]

    assert {digest(body) for body in same} == {digest(ASKED)}
    assert len({digest(body) for body in [ASKED, *other]}) == 4


def test_repeats_of_a_request_get_their_replies_in_order_and_then_the_last_again() -> None:
    source = Exchanges([exchange("one"), exchange("streamed", stream=True), exchange("two", status=429)])

    sent = [source.reply(ASKED) for _ in range(3)]

    assert [(s.pieces, s.status) for s in sent] == [((b"one",), 200), ((b"two",), 429), ((b"two",), 429)]
    assert source.reply({**ASKED, "stream": True}).pieces == (b"streamed",)
    assert source.models == ("m",)
    unknown = source.reply({**ASKED, "model": "n"})
    assert (unknown.status, json.loads(unknown.pieces[0])["error"]["code"]) == (404, "request_not_recorded")
