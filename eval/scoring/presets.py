"""Weights of the seven dimensions, by preset, and the blend with the judge's relevance (docs/scoring.md)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from eval.scoring.types import DIMENSIONS

THRESHOLD = 0.70
"""The gate's default; a veto keeps the final score below it whatever the relevance."""
RELEVANCE_WEIGHT = 0.15


def _preset(*weights: float) -> Mapping[str, float]:
    """The weights in the order of `DIMENSIONS`."""
    return MappingProxyType(dict(zip(DIMENSIONS, weights, strict=True)))


PRESETS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "default": _preset(0.35, 0.20, 0.15, 0.10, 0.10, 0.05, 0.05),
        "strict": _preset(0.40, 0.25, 0.10, 0.10, 0.10, 0.025, 0.025),
        "performance": _preset(0.30, 0.15, 0.25, 0.10, 0.05, 0.05, 0.10),
        "quality": _preset(0.30, 0.20, 0.10, 0.10, 0.10, 0.15, 0.05),
    }
)


def weights(preset: str) -> Mapping[str, float]:
    """The weights of a preset, which sum to 1. Raises ValueError for an unknown one."""
    try:
        return PRESETS[preset]
    except KeyError:
        raise ValueError(f"unknown preset {preset!r}; known: {', '.join(PRESETS)}") from None
