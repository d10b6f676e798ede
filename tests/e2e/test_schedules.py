"""Somebody schedules a board and an alert, sees them arrive, and looks after them on the page of activity."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.agent.conftest import TABLES
from tests.agent.server.running import Running, raw_query, read_until, running, scripted, settings_for
from tests.e2e.conftest import OpenPage
from tests.e2e.servers import DIST
from tests.e2e.test_accessibility import broken_rules
from tests.openai_server import OpenAIServer
from tests.receivers import Mails, mails
from tests.waiting import becomes
from tests.writing import sqlite_file


@pytest.fixture
def post_office() -> Iterator[Mails]:
    with mails() as made:
        yield made


@pytest.fixture
def shop(tmp_path: Path, post_office: Mails, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    monkeypatch.setattr("agent.server.schedules.scheduler.LOOK_SECONDS", 0.2)
    config = settings_for(
        tmp_path,
        TEXT2SQL_PAGE_DIR=DIST,
        TEXT2SQL_DB_PATH=sqlite_file(tmp_path / "shop.sqlite", TABLES),
        TEXT2SQL_SMTP_URL=post_office.url,
        TEXT2SQL_MAIL_FROM="reports@example.org",
        TEXT2SQL_PUBLIC_URL="https://ask.example.org",
    )
    with running(config) as server:
        yield server


def keep(server: Running, sql: str, title: str) -> str:
    run = server.post("/sql", {"preset": "configured", "sql": sql, "question": title}).json()
    return str(server.post("/kept", {"run_id": run["run_id"]}).json()["kept_id"])


def schedule_line(page: Page, title: str) -> Locator:
    return page.get_by_role("listitem", name=title)


def test_a_board_is_scheduled_sent_and_looked_after(shop: Running, post_office: Mails, open_page: OpenPage) -> None:
    board = shop.post("/boards", {"title": "Monday"}).json()["board_id"]
    tiles = [{"kept_id": keep(shop, "SELECT status, COUNT(*) AS n FROM orders GROUP BY status", "Orders")}]
    with shop.client() as client:
        assert client.patch(f"/boards/{board}", json={"tiles": tiles}).status_code == 200
    page = open_page(shop, f"/b/{board}", timezone_id="Europe/Berlin")

    page.get_by_role("button", name="Schedule…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name="When", exact=True).select_option("Every week")
    dialog.get_by_role("combobox", name="On", exact=True).select_option("Friday")
    dialog.get_by_label("At", exact=True).fill("07:30")
    dialog.get_by_role("textbox", name="To").fill("ana@evil.example")
    expect(dialog).to_contain_text(
        "“Monday” is run and sent to ana@evil.example every Friday at 07:30 (Europe/Berlin)."
    )
    expect(dialog.get_by_text("Next:")).to_be_visible()
    dialog.get_by_role("button", name="Schedule", exact=True).click()
    expect(dialog.get_by_role("alert")).to_have_text("Mail goes only to example.org.")
    assert broken_rules(page) == []
    page.set_viewport_size({"width": 1440, "height": 900})
    dialog.get_by_role("textbox", name="To").fill("ana@example.org")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("heading", name="Scheduled")).to_be_visible()
    dialog.get_by_role("link", name="All schedules").click()

    line = schedule_line(page, "Monday")
    expect(line).to_contain_text("7:30")
    line.get_by_role("button", name="Send now").press("Enter")
    assert becomes(lambda: len(post_office.received) == 1)
    assert "| paid | 3 |" in post_office.received[0].get_body(["plain"]).get_content()
    line.get_by_role("button", name="History").click()
    expect(line.get_by_role("list", name="History of “Monday”")).to_contain_text("Sent by hand.")

    post_office.refused = {"ana@example.org": "550 gone"}
    line.get_by_role("button", name="Send now").click()
    expect(line.get_by_text("The mail server refuses every address (550).").first).to_be_visible()
    assert broken_rules(page) == []
    page.set_viewport_size({"width": 1440, "height": 900})
    post_office.refused = {}
    line.get_by_role("button", name="Send again").click()
    assert becomes(lambda: len(post_office.received) == 2)

    line.get_by_role("button", name="Pause").click()
    expect(line).to_contain_text("Paused by its owner.")
    line.get_by_role("button", name="Resume").click()
    expect(line).to_contain_text("Next:")
    line.get_by_role("button", name="Edit…").click()
    expect(dialog.get_by_role("combobox", name="When", exact=True)).to_have_value("week")
    dialog.get_by_label("Title").fill("Friday's numbers")
    dialog.get_by_role("button", name="Save").click()
    dialog.get_by_role("button", name="Close").click()
    schedule_line(page, "Friday's numbers").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("None yet. Open a")).to_be_visible()


def test_an_alert_is_told_on_crossing(shop: Running, post_office: Mails, open_page: OpenPage, tmp_path: Path) -> None:
    keep(shop, "SELECT SUM(total) AS revenue FROM orders", "Revenue")
    page = open_page(shop, "/b")
    page.get_by_role("button", name="Schedule “Revenue”").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name="When", exact=True).select_option("Every day")
    dialog.get_by_role("textbox", name="To").fill("ana@example.org")
    dialog.get_by_role("combobox", name="Only when").select_option("a value goes above")
    dialog.get_by_role("spinbutton", name="Value").fill("500")
    expect(dialog).to_contain_text("only when revenue goes above 500.")
    assert broken_rules(page) == []
    page.set_viewport_size({"width": 1440, "height": 900})
    dialog.get_by_role("button", name="Schedule", exact=True).click()
    dialog.get_by_role("link", name="All schedules").click()
    line = schedule_line(page, "Revenue")

    come_due(tmp_path)
    expect(line).to_contain_text("Not sent")
    expect(line).to_contain_text("revenue is not above 500.")
    assert post_office.received == []
    sqlite_file(tmp_path / "shop.sqlite", "UPDATE orders SET total = 400")
    come_due(tmp_path)
    expect(line).to_contain_text("revenue is above 500.")

    assert becomes(lambda: len(post_office.received) == 1)
    assert "1600" in post_office.received[0].get_body(["plain"]).get_content()


def come_due(folder: Path) -> None:
    """The time of every schedule comes."""
    now = int(datetime.now(UTC).timestamp() * 1e6)
    with closing(sqlite3.connect(folder / "state" / "state.sqlite", timeout=10)) as state, state:
        state.execute("UPDATE text2sql_schedules SET next_run = ?", (now,))


def test_runs_are_stopped_and_listed(with_model: Running, endpoint: OpenAIServer, open_page: OpenPage) -> None:
    endpoint.otherwise = scripted("SELECT 1", plan_delay=60)
    with raw_query(with_model.port, {"question": "How long is a piece of string?"}) as connection:
        read_until(connection, b'"event":"run"')
        page = open_page(with_model)
        page.get_by_role("link", name="Activity").click()
        page.get_by_role("button", name="Stop “How long is a piece of string?”").press("Enter")
        read_until(connection, b'"event":"done"')
    expect(page.get_by_text("Nothing runs.")).to_be_visible()
    line = page.get_by_role("main").get_by_role("listitem").filter(has_text="How long is a piece of string?").first
    expect(line).to_contain_text("Stopped")
    assert broken_rules(page) == []
