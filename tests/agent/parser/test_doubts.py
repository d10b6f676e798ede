"""Each doubt that a rule states stands in the registry, and each of the registry is stated by a rule."""

from __future__ import annotations

import re
from pathlib import Path

from agent.parser import doubts
from agent.parser.doubts import DOUBTS

_SOURCES = {path.name: path.read_text(encoding="utf-8") for path in Path(doubts.__file__).parent.rglob("*.py")}
_STATED = re.compile(r"(?:\.doubt\(|doubts=\(|settled=\()((?:\s*\"[a-z_]+\",?)+)")


def test_the_doubts_that_rules_state_are_registered() -> None:
    stated = {name for text in _SOURCES.values() for m in _STATED.finditer(text) for name in re.findall(r"\w+", m[1])}
    stated |= set(re.findall(r"^        \(\"([a-z_]+)\", ", _SOURCES["implausible.py"], re.MULTILINE))
    assert len(stated) > 40
    assert stated - DOUBTS.keys() == set()


def test_no_doubt_is_registered_that_nothing_states() -> None:
    others = "".join(text for name, text in _SOURCES.items() if name != "doubts.py")
    assert [name for name in DOUBTS if f'"{name}"' not in others] == []
