"""The version of the package, defined only here: pyproject.toml reads it, cards and `/health` show it."""

from __future__ import annotations

VERSION = "0.2.0"
