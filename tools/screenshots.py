"""Takes the pictures of docs/images from the real page: starts a server with the offline engine and one with a
scripted model, leads a browser into each state, and writes PNG files.

    python -m tools.screenshots docs/images            the pictures that the documentation shows
    python -m tools.screenshots /tmp/all --all         every state: wide, on a phone, and both dark

In: the built page (`make page`) and a Chromium. Out: the files' names.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.e2e.conftest import PHONE, chromium_path
from tests.e2e.servers import DIST, bare_server, model_server, offline_server
from tests.e2e.states import STATES, State
from tests.openai_server import OpenAIServer, error

SHOWN = (
    ("answer", "wide", "light"),
    ("watching", "wide", "light"),
    ("evidence", "wide", "light"),
    ("chart", "wide", "dark"),
    ("data", "wide", "light"),
    ("diagram", "wide", "dark"),
    ("vocabulary", "wide", "light"),
    ("wrong", "wide", "light"),
    ("board", "wide", "light"),
    ("behind", "wide", "light"),
    ("activity", "wide", "light"),
    ("notes", "wide", "light"),
    ("home", "phone", "light"),
    ("retried", "phone", "dark"),
)
COLOURS = ("light", "dark")
SIZES = {"wide": {"width": 1280, "height": 800}, "phone": PHONE}


def main() -> int:
    parser = argparse.ArgumentParser(description="Take the pictures of the page.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--all", action="store_true", help="every state, in every size and colour")
    parser.add_argument("--sizes", nargs="*", choices=SIZES, default=list(SIZES))
    parser.add_argument("--colours", nargs="*", choices=COLOURS, default=list(COLOURS))
    parser.add_argument("--only", nargs="*", help="names of states")
    wanted = parser.parse_args()
    path = chromium_path()
    if path is None or not (DIST / "index.html").is_file():
        print("Pictures need the built page (make page) and a Chromium.", file=sys.stderr)  # noqa: T201
        return 1
    wanted.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, OpenAIServer() as endpoint:
        folder = Path(scratch)
        with (
            offline_server(folder / "offline") as offline,
            model_server(folder / "model", endpoint) as model,
            bare_server(folder / "bare") as bare,
            sync_playwright() as playwright,
        ):
            servers = {"offline": offline, "model": model, "bare": bare}
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
            for state, size, colour in _wanted(every=wanted.all, only=wanted.only):
                if size not in wanted.sizes or colour not in wanted.colours:
                    continue
                name = wanted.folder / f"{state.name}-{size}-{colour}.png"
                _take(browser, servers[state.kind].url, state, size, colour, endpoint, name)
                print(name)  # noqa: T201
            browser.close()
    return 0


def _wanted(*, every: bool, only: list[str] | None) -> Iterator[tuple[State, str, str]]:
    for state in STATES:
        for size in SIZES:
            for colour in COLOURS:
                chosen = state.phone or size == "wide" if every or only else (state.name, size, colour) in SHOWN
                if chosen and (not only or state.name in only):
                    yield state, size, colour


def _take(browser: Browser, url: str, state: State, size: str, colour: str, endpoint: OpenAIServer, file: Path) -> None:
    endpoint.otherwise = error(500, "nothing is scripted")
    context = browser.new_context(
        viewport=SIZES[size],  # type: ignore[arg-type]
        color_scheme=colour,  # type: ignore[arg-type]
        reduced_motion="reduce",
        has_touch=size == "phone",
        is_mobile=size == "phone",
    )
    context.set_default_timeout(30_000)
    page = context.new_page()
    page.goto(url)
    try:
        state.reach(page, endpoint)
    except Exception:  # noqa: BLE001 - the picture shows what went wrong
        print(f"{state.name} was not reached", file=sys.stderr)  # noqa: T201
    page.mouse.move(0, 0)
    page.evaluate("document.fonts.ready.then(() => undefined)")
    page.wait_for_timeout(400)  # a chart that is drawn once its width is known
    page.screenshot(path=file)
    context.close()


if __name__ == "__main__":
    sys.exit(main())
