"""The table of features names what is there: paths, tests, modules and strategies exist, and the counts are right."""

from __future__ import annotations

import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from agent.strategies import strategy

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/features.md").read_text(encoding="utf-8")
STATES = ("runs", "partly", "not here", "cannot run here")
ROW = re.compile(r"^\| [LRCMO](?:, [CMO])* \| .* \|$", re.MULTILINE)
ROWS = [re.split(r" (?<!\\)\| ", row[2:-2]) for row in ROW.findall(PAGE)]
SPANS = [span for row in ROWS for cell in row[2:4] for span in re.findall(r"`([^`]+)`", cell)]
PATHS = sorted({span for span in SPANS if re.fullmatch(r"[\w./-]+(::\w+)?", span) and ("/" in span or "." in span)})
MODULES = sorted(set(re.findall(r"python -m ([\w.]+)", PAGE)))
STRATEGIES = sorted(set(re.findall(r"--strategy ([\w-]+)", PAGE)))


@pytest.mark.parametrize("path", PATHS)
def test_a_path_leads_somewhere(path: str) -> None:
    file, _, test = path.partition("::")

    assert (ROOT / file).exists()
    assert not test or re.search(rf"def {test}\(", (ROOT / file).read_text(encoding="utf-8"))


def test_modules_can_be_started_and_strategies_are_known() -> None:
    for module in MODULES:
        found = find_spec(module)
        assert found is not None, module
        if found.submodule_search_locations:
            found = find_spec(f"{module}.__main__")
        assert found is not None, module
        assert found.origin is not None
        assert "__main__" in Path(found.origin).read_text(encoding="utf-8") or found.name.endswith("__main__"), module
    assert all(map(strategy, STRATEGIES))


def test_the_counts_are_those_of_the_rows() -> None:
    counted = Counter(next(state for state in STATES if row[4].startswith(f"`{state}`")) for row in ROWS)

    stated = dict(re.findall(r"^\| `?([a-z ]+?)`? \| (\d+) \|$", PAGE, re.MULTILINE))
    assert {state: int(count) for state, count in stated.items()} == {**counted, "all": len(ROWS)}


def test_a_row_that_does_not_run_says_why() -> None:
    assert [row[1] for row in ROWS if not row[4].startswith("`runs`") and ": " not in row[4]] == []
