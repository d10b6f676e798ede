"""What `make test` takes of sets that are too large for each change; `.ci/large` takes all of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

ALL = bool(os.environ.get("TEXT2SQL_TEST_ALL"))
_Item = TypeVar("_Item")


def sampled(items: Sequence[_Item], every: int) -> Sequence[_Item]:
    """Each n-th item; every one with TEXT2SQL_TEST_ALL."""
    return items if ALL else items[::every]
