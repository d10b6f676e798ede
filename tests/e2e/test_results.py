"""Somebody looks at what was found, corrects it, and takes it away; with a result of 50,000 rows."""

from __future__ import annotations

import contextlib
import csv
import io
import re
import sqlite3

import pytest
from playwright.sync_api import Page, Route, expect

from tests.agent.server.running import Running
from tests.e2e.conftest import OpenPage
from tests.e2e.states import get_answer

ROWS = 50_000


@pytest.fixture(scope="module")
def readings(offline: Running, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a statement that was run by hand over 50,000 rows, among them NULL and empty text."""
    path = tmp_path_factory.mktemp("readings") / "readings.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE readings (reading_id INTEGER PRIMARY KEY, place TEXT, level REAL)")
        places = ("north", "south", "", None)
        database.executemany(
            "INSERT INTO readings VALUES (?, ?, ?)", ((n, places[n % 4], n * 0.25) for n in range(1, ROWS + 1))
        )
    files = {"file": (path.name, path.read_bytes())}
    with offline.client() as client:
        preset = client.post("/databases/upload", files=files, data={"name": "Readings"}).json()
    sql = "SELECT reading_id, place, level FROM readings ORDER BY reading_id"
    run = offline.post("/sql", {"preset": preset["id"], "sql": sql, "question": "All readings"}).json()
    return f"/r/{run['run_id']}"


def test_many_rows_are_paged_typed_sorted_and_filtered(offline: Running, open_page: OpenPage, readings: str) -> None:
    page = open_page(offline, readings)
    expect(page.get_by_role("heading", name="All readings")).to_be_visible()
    expect(page.get_by_label("Result")).to_contain_text("50,000 rows")
    heads, table = page.get_by_role("columnheader"), page.get_by_role("group", name="Rows, 50000 in all")
    expect(heads.filter(has_text="place")).to_contain_text("text")
    expect(heads.filter(has_text="level")).to_contain_text("number")
    rows = table.get_by_role("row")
    expect(rows.nth(2).get_by_role("gridcell").nth(1)).to_have_attribute("data-state", "empty")
    expect(rows.nth(3).get_by_role("gridcell").nth(1)).to_have_attribute("data-state", "null")
    expect(rows.nth(3).get_by_role("gridcell").nth(1)).to_have_text("NULL")

    expect(table.get_by_role("grid")).to_have_attribute("aria-rowcount", str(ROWS + 1))
    most = 0
    for part in (0.1, 0.35, 0.5, 0.75, 1):
        table.evaluate("(box, part) => { box.scrollTop = box.scrollHeight * part }", part)
        expect(table.locator("[data-state=pending]")).to_have_count(0)
        most = max(most, rows.count())
    expect(rows.last).to_contain_text("50,000")
    expect(rows.last).to_contain_text("12,500.00")
    assert most < 60, f"{most} rows were in the document at once"

    level = page.get_by_role("columnheader", name="level").get_by_role("button")
    level.click()
    level.click()
    expect(page.get_by_role("columnheader", name="level")).to_have_attribute("aria-sort", "descending")
    table.evaluate("box => { box.scrollTop = 0 }")
    expect(page.get_by_role("group", name="Rows, ").get_by_role("row").nth(1)).to_contain_text("12,500.00")
    page.get_by_role("button", name="Filter").click()
    page.get_by_label("Filter level").fill("<= 1")
    expect(page.get_by_role("group", name="Rows, 4 in all")).to_be_visible()
    page.get_by_label("Filter level").fill("")
    page.get_by_label("Filter place").fill("null")
    expect(page.get_by_role("group", name="Rows, 12500 in all")).to_be_visible()


def test_a_result_is_saved_as_a_file_with_every_row(offline: Running, open_page: OpenPage, readings: str) -> None:
    page = open_page(offline, readings)
    for name, start in (("Excel (XLSX)", b"PK"), ("Parquet", b"PAR1"), ("CSV", b"\xef\xbb\xbfreading_id,place,level")):
        page.get_by_role("button", name="Save", exact=True).click()
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        assert download.value.path().read_bytes().startswith(start)
    rows = list(csv.reader(io.StringIO(download.value.path().read_text("utf-8-sig"))))
    assert len(rows) == ROWS + 1
    assert rows[-1][0] == str(ROWS)


def test_a_schema_that_comes_late_disturbs_nobody_who_types(offline: Running, open_page: OpenPage) -> None:
    """Text and cursor stay, and the list that is open then shows the tables."""
    page = open_page(offline, "/")
    held: list[Route] = []
    page.route("**/schema/shop", lambda route: held.append(route))
    page.goto(f"{offline.url}/q/shop")
    editor = page.get_by_label("SQL to run")
    editor.press_sequentially("SELECT COUNT(*) FROM ord")
    completion = page.locator(".cm-tooltip-autocomplete")
    expect(completion).to_contain_text("ORDER")
    expect(completion).not_to_contain_text("order_items")
    while held:
        held.pop().continue_()
    expect(completion).to_contain_text("order_items")
    editor.press_sequentially("er_items")
    expect(editor).to_have_text("SELECT COUNT(*) FROM order_items")


def test_a_verdict_is_kept_and_a_statement_that_writes_refused(page: Page) -> None:
    get_answer(page, "How many categories are there?")
    page.get_by_role("button", name="Right", exact=True).click()
    expect(page.get_by_text("Saved as verified.")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Right", exact=True)).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Edit the SQL").click()
    page.get_by_label("SQL to run").fill("DELETE FROM customers")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Not run.")
    page.get_by_label("SQL to run").fill("SELECT custmer_id FROM customers")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("customer_id")


def test_a_table_is_copied_and_its_chart_sorted_and_saved(page: Page) -> None:
    get_answer(page, "How many products does each category have?")
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_text("Table copied")).to_be_visible()
    lines = page.evaluate("navigator.clipboard.readText()").split("\n")
    assert (len(lines), lines[1]) == (12, "Brewing Gear\t11")
    page.get_by_role("button", name="Chart").click()
    bars = page.locator("figure svg g[data-mark=bar] rect")
    expect(bars).to_have_count(11)
    page.get_by_label("Sorted").select_option("smallest first")
    names = page.locator("figure svg[aria-label] text")
    expect(names.filter(has_text=re.compile("Gift Cards|Brewing Gear"))).to_have_text(["Gift Cards", "Brewing Gear"])
    bars.last.hover()
    expect(page.get_by_role("figure")).to_contain_text("Products: 11")
    page.get_by_role("button", name="Columns").click()
    expect(page.locator("figure svg[aria-label]")).to_have_attribute("aria-label", "Products by name")
    for name, start, ending in (("PNG picture", b"\x89PNG", "png"), ("SVG drawing", b"<svg", "svg")):
        page.get_by_role("button", name="Save the chart").click()
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        assert download.value.suggested_filename == f"how-many-products-does-each-category-have.{ending}"
        assert download.value.path().read_bytes().startswith(start)
