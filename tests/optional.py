"""Marks for tests that need what is not installed or running everywhere. A mark skips before any fixture is made."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

needs_sail = pytest.mark.skipif(
    find_spec("pysail") is None or find_spec("pyspark") is None,
    reason="Sail is not installed: pip install pysail 'askwell[spark]'",
)
needs_spark = pytest.mark.skipif(
    find_spec("pyspark") is None or not os.environ.get("TEXT2SQL_TEST_SPARK_URL"),
    reason="TEXT2SQL_TEST_SPARK_URL names no Spark Connect server",
)
needs_chdb = pytest.mark.skipif(
    find_spec("chdb") is None or find_spec("clickhouse_connect") is None,
    reason="chDB is not installed: pip install 'askwell[clickhouse-local]'",
)
needs_live_model = pytest.mark.skipif(
    not (os.environ.get("TEXT2SQL_TEST_MODEL_SERVER") and os.environ.get("TEXT2SQL_TEST_MODEL")),
    reason="TEXT2SQL_TEST_MODEL_SERVER and TEXT2SQL_TEST_MODEL name no llama-server and no GGUF file",
)
