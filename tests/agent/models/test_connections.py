"""Calls to an endpoint share connections: a few keep to those that are open, a rush is spread and cleared away."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import openai
import pytest

from agent.models import connections
from agent.models.connections import CALLS, Connections


@pytest.fixture
async def opened() -> AsyncIterator[Connections]:
    made = Connections(openai.Timeout(5.0))
    made.open(openai.AsyncOpenAI(api_key="k", base_url="http://127.0.0.1:9/v1", http_client=made.first))
    yield made
    await made.close()


async def test_calls_that_follow_one_another_share_a_pool_until_it_is_closed(opened: Connections) -> None:
    async with opened.one() as first:
        pass
    async with opened.one() as second:
        assert second is first
    await opened.close()
    assert first.http.is_closed


async def test_a_rush_is_spread_over_pools_which_are_closed_when_it_is_over(
    opened: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with AsyncExitStack() as calls:
        used = [await calls.enter_async_context(opened.one()) for _ in range(3 * CALLS)]
        assert [used.count(pool) for pool in dict.fromkeys(used)] == [CALLS] * 3

    monkeypatch.setattr(connections, "IDLE_SECONDS", 0.0)
    for _ in range(3):
        async with opened.one() as pool:
            assert pool is used[0]
    assert [pool.http.is_closed for pool in dict.fromkeys(used)] == [False, True, True]
