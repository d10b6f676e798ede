"""The 19 tables of `enterprise`, referenced tables first."""

from __future__ import annotations

from experiments.demo_databases.definition import TableDef
from experiments.demo_databases.enterprise.dimension_tables import DIMENSIONS
from experiments.demo_databases.enterprise.fact_tables import FACTS, STAGING

TABLES: tuple[TableDef, ...] = (*DIMENSIONS, *FACTS, STAGING)
