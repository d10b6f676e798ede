"""The 19 tables of `enterprise`, referenced tables first."""

from __future__ import annotations

from eval.tasks.definition import TableDef
from eval.tasks.enterprise.dimension_tables import DIMENSIONS
from eval.tasks.enterprise.fact_tables import FACTS, STAGING

TABLES: tuple[TableDef, ...] = (*DIMENSIONS, *FACTS, STAGING)
