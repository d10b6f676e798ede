"""The report in a real browser: readable on a phone, in the dark and on paper, without a request or a complaint."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from eval.report import compare, comparison_html, report_html
from tests.eval.report.test_report import EVIL, SETTINGS, result

if TYPE_CHECKING:
    from playwright.sync_api import Browser

sync_api = pytest.importorskip("playwright.sync_api")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = os.environ.get("TEXT2SQL_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium here: apt-get install chromium, or set TEXT2SQL_CHROMIUM")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A report of two participants, and two runs side by side, with long and hostile texts."""
    folder = tmp_path_factory.mktemp("report")
    mine = [result(n, right=n % 3 > 0, confidence=n / 12, cost=0.01, reasoning=EVIL) for n in range(12)]
    other = [result(n, right=n % 2 > 0, who="x" * 90, confidence=0.5, cost=0.02) for n in range(12)]
    pages = [folder / "report.html", folder / "comparison.html"]
    pages[0].write_text(report_html(SETTINGS, [*mine, *other]), encoding="utf-8")
    pages[1].write_text(comparison_html(compare("mine", mine, EVIL, other)), encoding="utf-8")
    return pages


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_asks_for_nothing_and_runs_nothing(
    browser: Browser, pages: list[Path], width: int, scheme: Literal["light", "dark"]
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    for file in pages:
        page: Any = context.new_page()
        asked: list[Any] = []
        complaints: list[Any] = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.on("console", lambda message, complaints=complaints: complaints.append(message.text))
        page.on("dialog", lambda dialog, complaints=complaints: complaints.append(dialog.message))
        page.goto(file.as_uri())
        for details in page.query_selector_all("details"):
            details.evaluate("element => element.open = true")
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert (asked, complaints) == ([file.as_uri()], [])
        ink, paper = page.evaluate(
            "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
        )
        assert (sum(map(int, ink[4:-1].split(","))) < sum(map(int, paper[4:-1].split(",")))) == (scheme == "light")
    context.close()
