"""Draws a picture of the command line at work: a real question, asked and answered when this runs.

    python tools/picture.py docs/terminal.svg        (make picture)

In: the file to write. Out: an SVG of what a terminal shows for the command in its first line.
"""

from __future__ import annotations

import io
import re
import shlex
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from agent.cli.report import Output
from agent.cli.session import Asker

QUESTION = "How many products does each category have?"


def main(target: Path) -> None:
    screen = Console(
        record=True,
        file=io.StringIO(),
        width=100,
        force_terminal=True,
        color_system="truecolor",
        markup=False,
        highlight=False,
        emoji=False,
        _environ={"TERM": "dumb"},  # no spinner in a picture
    )
    screen.print(Text.assemble(("$ ", "green"), f"python -m agent.main --model offline {shlex.quote(QUESTION)}"))
    asker = Asker(screen, "shop", "offline")
    Output(screen, screen).show(asker.ask(QUESTION))
    target.parent.mkdir(parents=True, exist_ok=True)
    svg = screen.export_svg(title="text2sql", unique_id="text2sql")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)  # a picture fetches nothing
    target.write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
