"""Spark: functions as written."""

from __future__ import annotations

from sqlglot.dialects.spark import Spark

from eval.sql.faithful import SPECIAL_FORMS, faithful_form

FaithfulSpark = faithful_form(Spark, forms={**SPECIAL_FORMS, "SUBSTR": SPECIAL_FORMS["SUBSTRING"]})
