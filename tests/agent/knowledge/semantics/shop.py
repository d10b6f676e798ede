"""The model of the demo shop that the docs show."""

from __future__ import annotations

from pathlib import Path

SHOP_MODEL = Path(__file__).parents[4] / "docs" / "examples" / "shop-model.yaml"
