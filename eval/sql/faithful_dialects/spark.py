"""Spark: functions as written."""

from __future__ import annotations

from typing import ClassVar

from sqlglot.dialects.spark import Spark
from sqlglot.generators.spark import SparkGenerator
from sqlglot.parsers.spark import SparkParser

from eval.sql.faithful import AS_WRITTEN, SPECIAL_FORMS, FaithfulGenerator, FaithfulParser, path_as_written


class FaithfulSpark(Spark):
    to_json_path = path_as_written

    class Parser(FaithfulParser, SparkParser):
        FUNCTION_PARSERS: ClassVar = {**SPECIAL_FORMS, "SUBSTR": SPECIAL_FORMS["SUBSTRING"]}

    class Generator(FaithfulGenerator, SparkGenerator):
        TRANSFORMS: ClassVar = {**SparkGenerator.TRANSFORMS, **AS_WRITTEN}
