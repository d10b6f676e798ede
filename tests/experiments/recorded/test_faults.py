"""Failures on purpose: their shares, and that the same run meets the same ones."""

from __future__ import annotations

import json

import pytest

from experiments.recorded.chat import completion
from experiments.recorded.faults import Faults, shares

SENT = completion("some text", "m", stream=False)


def fates(faults: Faults, requests: list[bytes]) -> list[int | str]:
    befallen = [faults.befall(request, SENT) for request in requests]
    return ["cut" if s.cut else "broken" if s.status == 200 and s != SENT else s.status for s in befallen]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [("418:0.1", "no kind"), ("429:2", "0 to 1"), ("429", "0 to 1"), ("429:0.6,cut:0.6", "more than 1")],
)
def test_shares_that_mean_nothing_are_refused(text: str, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        shares(text)


def test_a_request_meets_the_same_failures_whatever_is_sent_between() -> None:
    some = shares("429:0.3,cut:0.3")
    alone = fates(Faults(some, seed=5), [b"a"] * 10)
    among = fates(Faults(some, seed=5), [b"b", b"a"] * 10)[1::2]

    assert alone == among
    assert len(set(alone)) > 1
    assert fates(Faults(some, seed=6), [b"a"] * 10) != alone


@pytest.mark.parametrize("stream", [False, True])
def test_a_garbled_reply_is_complete_but_for_half_of_its_text(stream: bool) -> None:
    text = '{"reasoning": "naïve \\ "quoted"", "sql": "SELECT COUNT(*) FROM ships WHERE tons > 10"}'
    sent = Faults({"garbled": 1.0}).befall(b"", completion(text, "m", stream=stream))

    events = [json.loads(p.removeprefix(b"data: ")) for p in sent.pieces if b"[DONE]" not in p]
    reply = "".join((e["choices"][0].get("message") or e["choices"][0]["delta"]).get("content", "") for e in events)
    assert reply
    assert reply != text
    assert text.startswith(reply)
    assert events[-1]["choices"][0]["finish_reason"] == "stop"
