"""Several evaluators share the tasks of one assessment, as AgentBeats asks them to."""

from __future__ import annotations

from typing import Any

import pytest

from eval.assessment import select_tasks
from eval.green_agent.request import RequestUnusable, read_request


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
