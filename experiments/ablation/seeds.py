"""What a seed draws: which of the verified examples there are, and how the model samples.

In: settings, a seed, a temperature, the folder of the run. Out: the settings of that seed. An endpoint that obeys its
seed at temperature 0 replies the same for each, so that a spread over such seeds would say nothing.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.config import Settings

SHARE = 0.5
"""Of the examples that one seed draws."""
TEMPERATURE = 0.2
"""Of seeded runs, unless another is wanted."""


def seeded(config: Settings, seed: int, temperature: float, folder: Path) -> Settings:
    """The settings for one seed; the drawn examples are written into `folder`. Raises OSError."""
    body = {**(config.model.extra_body or {}), "seed": seed}
    config = config.changed(model={"extra_body": body, "temperature": temperature})
    examples = config.judging.examples
    if not examples:
        return config
    drawn = folder / f"examples-{seed}.jsonl"
    drawn.write_text("".join(drawn_lines(Path(examples).read_text(encoding="utf-8"), seed)), encoding="utf-8")
    return config.changed(judging={"examples": str(drawn)})


def drawn_lines(text: str, seed: int) -> list[str]:
    """SHARE of the lines, at least one, in their order."""
    lines = text.splitlines(keepends=True)
    count = min(len(lines), max(1, round(len(lines) * SHARE)))
    chosen = sorted(random.Random(seed).sample(range(len(lines)), count))
    return [lines[place] for place in chosen]
