"""A tournament of ten agents, runs in which there is nothing to win, and approaches that are rated by their kits."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.lab.conftest import Tuned, candidates, means
from tests.lab.test_reflective import KIT, RULE, answering
from tests.openai_server import OpenAIServer, Reply, Request, completion
from tests.samples import sampled
from text2sql_lab.evolvers.protocol import scores, yields
from text2sql_lab.journal import BASE, Journal, State
from text2sql_lab.run import contenders
from text2sql_lab.session import status_of


async def test_a_tournament_of_ten_agents_that_is_killed_ends_the_same(session: Tuned, tmp_path: Path) -> None:
    ten = [means(word, column) for word in ("city", "wergild", "name") for column in ("id", "city", "pay")]
    options = {"evolver": "scripted", "candidates": candidates(tmp_path, [*ten, means("show", "pay")]), "rounds": 14}
    whole = await session("whole", **options).finish()
    events = (tmp_path / "whole/journal.jsonl").read_bytes()
    played = Journal(tmp_path / "whole/journal.jsonl").state.played["random"]
    assert len({kit for event in played for kit in event["right"]} - {BASE}) == 10
    assert whole.accepted
    assert "pay" in (Path(whole.kit) / "glossary.yaml").read_text()

    for part in sampled(range(1, 8), 3):
        out = tmp_path / f"killed {part}"
        shutil.copytree(tmp_path / "whole", out)
        for name in ("journal.jsonl", "answers.jsonl"):
            kept = (out / name).read_bytes()
            (out / name).write_bytes(kept[: len(kept) * part // 8])

        again = await session(out.name, **options).finish()

        assert (out / "journal.jsonl").read_bytes() == events, part
        assert replace(again, kit="") == replace(whole, kit="")


async def test_runs_of_kits_that_change_nothing_accept_none(session: Tuned, tmp_path: Path) -> None:
    nothing = candidates(tmp_path, [{"instructions.md": f"Be brief, {n}."} for n in range(3)])
    for seed in sampled(range(50), 10):
        options = {"evolver": "scripted", "candidates": nothing, "rounds": 3, "seed": seed}
        out = tmp_path / f"run {seed}"
        out.mkdir()
        if seed:  # the same questions have the same answers
            shutil.copy(tmp_path / "run 0/answers.jsonl", out)

        result = await session(out.name, **options).finish()

        assert (result.accepted, result.random.won, result.random.lost) == (False, 0, 0), seed


def test_an_approach_is_rated_by_the_pairs_that_its_kits_won_in_their_first_round() -> None:
    made = [("refine", "a"), ("research", "b"), ("refine", "a"), ("research", BASE), ("none", BASE), ("refine", "c")]
    rights = [{BASE: "00", "a": "01"}, {"a": "01", "b": "00", BASE: "00"}, {"a": "11"}, {"a": "11"}, {"a": "1"}]
    state = State(
        proposed={"random": tuple({"by": by, "kit": kit} for by, kit in made)},
        played={"random": tuple({"right": right} for right in rights)},
    )

    assert yields(state, "random") == {"refine": (1, 2), "research": (0, 3)}
    assert yields(state, "form_disjoint") == {}


def writing(prompts: list[str]) -> Callable[[Request], Reply]:
    """A writer whose kits help only where it groups failures by cause; other kits do not."""
    usual = answering(faults=False)

    def reply(request: Request) -> Reply:
        if "You improve an agent" not in request.prompt:
            return usual(request)
        prompts.append(request.prompt)
        good = "Group the failures" in request.prompt
        return completion(KIT | {"instructions": f"{RULE if good else 'Be brief.'} Note {len(prompts)}."})

    return reply


async def test_the_approach_whose_kits_win_is_chosen_more_often(
    reflective: Tuned, endpoint: OpenAIServer, tmp_path: Path
) -> None:
    prompts: list[str] = []
    endpoint.otherwise = writing(prompts)
    await reflective(rounds=11, deep_focus=0, approaches=("refine", "error-focused")).finish()

    by = [event["by"] for event in Journal(tmp_path / "out/journal.jsonl").state.proposed["random"]]
    assert len(prompts) == 22
    assert by.count("error-focused") > by.count("refine")
    assert set(status_of(tmp_path / "out")["random"]["pairs_won"]) == set(by)


@pytest.mark.parametrize("k", sampled([1, 0, 3], 3))
async def test_a_new_kit_answers_the_last_k_rounds_before_it_competes(
    k: int, reflective: Tuned, endpoint: OpenAIServer, tmp_path: Path
) -> None:
    prompts: list[str] = []
    endpoint.otherwise = writing(prompts)
    await reflective(rounds=4, approaches=("error-focused",), deep_focus=k).finish()

    refined = [prompt for prompt in prompts if "Your last kit:" in prompt]
    # Before the first round there is one set of questions, and later the rounds that were played.
    assert len(refined) == 2 * sum(min(k, max(1, played)) for played in range(4))
    assert len(prompts) == len(refined) + 8
    if k:
        first = refined[0]
        assert re.search(r"Your kit: \d+ of \d+ right\. Others: base: \d+\.", first)
        assert "Only yours is right: What is the wergild of" in first
    state = Journal(tmp_path / "out/journal.jsonl").state
    for proposed, played in zip(state.proposed["random"], state.played["random"], strict=True):
        assert proposed["kit"] in scores(played)
    assert json.loads((tmp_path / "out/run.json").read_text())["deep_focus"] == k


def test_all_that_tie_for_the_last_round_play_the_next_one() -> None:
    proposed = tuple({"kit": kit, "by": "refine", "round": n, "note": ""} for n, kit in enumerate("abcd"))
    played = {"ids": ["1", "2", "3"], "right": {"a": "110", "b": "011", "c": "001", BASE: "000"}}
    state = State(proposed={"random": proposed}, played={"random": (played,)})

    playing = contenders(state, "random", random.Random(0))

    assert set(playing[:2]) == {"a", "b"}
    assert playing[2] == "d"  # the newest
    assert len(playing) == 4
    assert playing[3] in ("c", BASE)
