"""Takes the pictures of a first use: from a server without any model to an answer by one that runs on this machine.

    python -m tools.first_use MODEL.gguf --llama-server PROGRAM docs/images

In: the file of `qwen2.5-coder-1.5b` (its hub is played by a server on this machine, at `--rate` bytes a second),
llama.cpp's server, the built page and a Chromium. Out: the files' names, and what each step took.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.agent.server.running import running, settings_for
from tests.e2e.conftest import chromium_path
from tests.e2e.servers import DIST

QUESTION = "Which five customers brought in the most money, and how much?"
MINUTES = 10 * 60 * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description="Take the pictures of a first use with a model on this machine.")
    parser.add_argument("model", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--llama-server", type=Path, required=True)
    parser.add_argument("--rate", type=float, default=100e6, help="bytes a second of the hub")
    wanted = parser.parse_args()
    os.environ["NO_PROXY"] = "127.0.0.1"
    with tempfile.TemporaryDirectory() as scratch, _hub(wanted.model, wanted.rate) as hub, sync_playwright() as play:
        os.environ["HF_ENDPOINT"] = hub
        config = settings_for(
            Path(scratch),
            TEXT2SQL_PAGE_DIR=DIST,
            TEXT2SQL_CACHE_DIR=Path(scratch) / "cache",
            TEXT2SQL_LLAMA_SERVER=wanted.llama_server,
            TEXT2SQL_RUN_SECONDS=600,
            TEXT2SQL_MODEL_SECONDS=300,
        )
        with running(config) as server:
            browser = play.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
            page.set_default_timeout(MINUTES)
            began = time.monotonic()

            def taken(name: str) -> None:
                nonlocal began
                seconds = time.monotonic() - began
                page.wait_for_timeout(300)
                page.screenshot(path=wanted.folder / f"{name}-wide-light.png")
                print(f"{name}: {seconds:.1f} s")  # noqa: T201
                began = time.monotonic()

            page.goto(server.url)
            page.get_by_role("button", name="Choose the model").click()
            page.get_by_role("button", name="Get Qwen2.5-Coder 1.5B").click()
            page.get_by_text("0.4 GB of 1.1 GB").wait_for()
            taken("local-getting")
            page.get_by_text("Recommended:").wait_for()
            taken("local-tried")
            page.get_by_role("button", name="Use it as").click()
            page.get_by_role("dialog").wait_for(state="detached")
            page.get_by_role("textbox").first.fill(QUESTION)
            page.keyboard.press("Enter")
            page.get_by_role("grid").first.wait_for()
            taken("local-answer")
            browser.close()
    return 0


@contextmanager
def _hub(model: Path, rate: float) -> Iterator[str]:
    class Hub(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(model.stat().st_size))
            self.end_headers()
            with model.open("rb") as file:
                while piece := file.read(1 << 20):
                    self.wfile.write(piece)
                    time.sleep(len(piece) / rate)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


if __name__ == "__main__":
    sys.exit(main())
