"""Somebody keeps answers, with a chart and with values to set anew, on a board that is arranged, shared and saved; and
lives with it: narrowed for all answers at once, made of a conversation; and the way from any figure to its rows."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator, Page, expect

from tests.agent.server.running import Running
from tests.e2e.conftest import OpenPage
from tests.e2e.states import add_filter, board_of, get_answer, keep
from tests.e2e.test_accessibility import broken_rules

CUSTOMERS = "SELECT COUNT(*) FROM customers"


def test_an_answer_is_kept_with_its_chart_and_run_anew_with_other_values(offline: Running, page: Page) -> None:
    get_answer(page, "How many products does each category have?")
    page.get_by_role("button", name="Chart", exact=True).click()
    page.get_by_label("Sorted").select_option("largest first")
    keep(page, "Products", board="Monday")
    page.get_by_role("link", name="Open the board").click()
    tile = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="Products"))
    expect(tile.locator("svg[aria-label]")).to_have_attribute("aria-label", re.compile("by name"))
    expect(tile).to_contain_text("11 rows")

    made = offline.post(
        "/sql", {"preset": "shop", "sql": "SELECT name FROM products WHERE price > 50 LIMIT 9", "question": "Dear"}
    ).json()
    page.goto(f"{offline.url}/r/{made['run_id']}")
    keep(page, "Dear products", board="Monday")
    page.get_by_role("link", name="Open the board").click()
    tile = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="Dear products"))
    tile.get_by_role("button", name="SQL and values").click()
    tile.get_by_label("Rows at most").fill("2")
    tile.get_by_role("button", name="Run and keep").click()
    expect(tile).to_contain_text("2 rows")
    page.reload()
    expect(tile).to_contain_text("2 rows")


def test_a_board_is_arranged_shared_and_saved(offline: Running, open_page: OpenPage) -> None:
    board = board_of(offline, First=CUSTOMERS, Second=CUSTOMERS)
    page = open_page(offline, f"/b/{board}")
    expect(titles(page)).to_have_text(["First", "Second"])
    page.get_by_role("button", name="Arrange").click()
    page.get_by_role("button", name="Move “Second”").press("ArrowLeft")
    expect(titles(page)).to_have_text(["Second", "First"])
    page.get_by_role("button", name="Rename the board").click()
    page.get_by_label("Title of the board").fill("Größe & <b>Zahl</b>")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Größe & <b>Zahl</b>")).to_be_visible()

    page.get_by_role("button", name="Share").click()
    expect(page.get_by_text("Link copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    for name, start, ending in (("Save as HTML", "<!doctype html>", "html"), ("Save as Markdown", "# Größe & ", "md")):
        page.get_by_role("button", name="More").click()
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        assert download.value.suggested_filename == f"größe-b-zahl-b.{ending}"
        assert download.value.path().read_text().startswith(start)
    viewer = open_page(link)
    expect(titles(viewer)).to_have_text(["Second", "First"])
    expect(viewer.get_by_text("480").first).to_be_visible()
    expect(viewer.get_by_role("button", name="Arrange")).to_have_count(0)
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="End sharing").click()
    expect(page.get_by_text("No longer shared")).to_be_visible()
    viewer.reload()
    expect(viewer.get_by_role("heading", name="This board can't be shown.")).to_be_visible()

    page.get_by_role("group", name="Place of “First”").get_by_role("button", name="Unpin").click()
    expect(titles(page)).to_have_text(["Second"])
    page.get_by_role("link", name="Boards").click()
    line = page.get_by_role("listitem").filter(has_text="First").last
    expect(line).to_contain_text("on no board")
    assert broken_rules(page, phone=False) == []
    line.get_by_role("button", name="Keep “First” no longer").click()
    expect(page.get_by_role("button", name="Keep “First” no longer")).to_have_count(0)


def titles(page: Page) -> Locator:
    return page.get_by_role("main").get_by_role("heading", level=2)


BY_COUNTRY = "SELECT country, COUNT(*) AS customers FROM customers GROUP BY country ORDER BY customers DESC"
BY_STATUS = "SELECT status, COUNT(*) AS orders FROM orders GROUP BY status ORDER BY orders DESC"
CATEGORIES = "SELECT COUNT(*) AS categories FROM categories"


def test_a_filter_narrows_the_whole_board_and_its_link_says_so(offline: Running, open_page: OpenPage) -> None:
    board = board_of(offline, Customers=BY_COUNTRY, Orders=BY_STATUS, Categories=CATEGORIES)
    page = open_page(offline, f"/b/{board}")
    customers, orders, categories = (
        page.get_by_role("listitem").filter(has=page.get_by_role("heading", name=name, exact=True))
        for name in ("Customers", "Orders", "Categories")
    )
    delivered = orders.get_by_role("gridcell").nth(1).inner_text()
    page.get_by_role("button", name="Arrange").click()
    add_filter(page, "customers.country")
    add_filter(page, "orders.order_date")
    page.get_by_role("button", name="Arrange").click()

    page.get_by_role("button", name="Country: all").click()
    page.get_by_label("Search Country").fill("spa")
    page.get_by_role("checkbox", name="Spain").check()
    page.keyboard.press("Escape")

    expect(customers.get_by_role("gridcell").first).to_have_text("Spain")
    expect(customers).to_contain_text("1 row")
    expect(orders.get_by_role("gridcell").nth(1)).not_to_have_text(delivered)
    expect(categories).to_contain_text("Not narrowed by Country")
    expect(page.get_by_role("button", name="Country: Spain")).to_be_focused()

    page.get_by_role("button", name="Order date: all").click()
    page.get_by_label("Or in words").fill("the day after never")
    page.get_by_role("button", name="Show it").click()
    expect(orders.get_by_role("alert")).to_contain_text("no period")
    page.get_by_role("button", name="Order date").click()
    page.get_by_label("Or in words").fill("2024")
    page.get_by_role("button", name="Show it").click()
    expect(page.get_by_role("button", name="Order date: 2024")).to_be_visible()
    expect(orders.get_by_role("alert")).to_have_count(0)
    assert json.loads(parse_qs(urlsplit(page.url).query)["f"][0]) == [["Spain"], ["2024"]]

    reader = open_page(offline, page.url.removeprefix(offline.url))
    expect(reader.get_by_role("button", name="Country: Spain")).to_be_visible()
    page.get_by_role("button", name="Keep so for everybody").click()
    expect(page.get_by_role("button", name="Keep so for everybody")).to_have_count(0)
    page.goto(f"{offline.url}/b/{board}")
    expect(page.get_by_role("button", name="Order date: 2024")).to_be_visible()
    page.get_by_role("button", name="Arrange").click()
    page.get_by_role("button", name="Order date: 2024").click()
    page.get_by_role("button", name="Remove the filter").click()
    expect(page.get_by_role("button", name="Order date: 2024")).to_have_count(0)


def test_tiles_are_dragged_sized_and_written_between(offline: Running, open_page: OpenPage) -> None:
    board = board_of(offline, Eins=CATEGORIES, Zwei=CATEGORIES, Drei=CATEGORIES)
    page = open_page(offline, f"/b/{board}")
    expect(titles(page)).to_have_text(["Eins", "Zwei", "Drei"])
    page.get_by_role("button", name="Arrange").click()
    page.get_by_role("button", name="Move “Drei”").hover()
    page.mouse.down()
    target = page.get_by_role("heading", name="Eins", exact=True).bounding_box()
    assert target is not None
    page.mouse.move(target["x"] + 10, target["y"] + 10, steps=5)
    page.mouse.up()
    expect(titles(page)).to_have_text(["Drei", "Eins", "Zwei"])
    page.get_by_role("button", name="Move “Drei”").press("ArrowRight")
    expect(titles(page)).to_have_text(["Eins", "Drei", "Zwei"])

    size = page.get_by_role("button", name="Size of “Eins”")
    size.press("ArrowRight")
    size.press("ArrowRight")
    size.press("ArrowDown")
    size.press("ArrowDown")
    expect(size).to_have_accessible_name("Size of “Eins”: all of the width, 2 rows high")
    page.get_by_role("button", name="Add a text").click()
    page.get_by_label("Text, in Markdown").fill("## What to do\n\nCall **everybody** [back](https://example.org).")
    page.get_by_role("button", name="Keep the text").click()
    page.wait_for_load_state("networkidle")
    page.reload()
    expect(titles(page)).to_have_text(["Eins", "Drei", "Zwei", "What to do"])
    box = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="Eins")).bounding_box()
    assert box is not None
    assert box["height"] == 240
    expect(page.get_by_text("back (https://example.org)")).to_be_visible()

    page.get_by_role("button", name="More").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a picture").click()
    assert download.value.path().read_bytes().startswith(b"\x89PNG")
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Full screen").click()
    page.wait_for_function("document.fullscreenElement !== null")


def test_from_a_figure_to_its_rows_by_the_keyboard_and_back(page: Page) -> None:
    get_answer(page, "How many customers are there per country?")
    first = page.get_by_role("gridcell").first
    first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    cell = page.locator('[role="gridcell"][tabindex="0"]')
    number = cell.inner_text()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="The rows behind it")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="The rows behind it")).to_have_count(0)
    expect(cell).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")

    dialog = page.get_by_role("dialog", name="Behind the figure")
    expect(dialog.get_by_label("Result")).to_contain_text(f"{number} rows")
    expect(dialog.get_by_label("SQL of these rows")).to_contain_text("WHERE")
    dialog.get_by_role("gridcell").nth(1).click()
    dialog.get_by_role("button", name=re.compile("^By ")).first.click()
    expect(dialog.get_by_role("navigation", name="Way here").get_by_role("listitem")).to_have_count(3)
    dialog.get_by_role("button", name="Back").click()
    expect(dialog.get_by_label("Result")).to_contain_text(f"{number} rows")
    dialog.get_by_role("button", name="How many customers are there per country?").click()
    expect(dialog).to_have_count(0)


def test_a_conversation_becomes_a_board_and_its_answers_open(page: Page) -> None:
    get_answer(page, "How many orders are there per status?")
    page.get_by_role("button", name="Make a board").click()
    page.wait_for_url("**/b/*")  # its question has the same heading
    expect(titles(page)).to_have_text(["How many orders are there per status?"])

    page.get_by_role("link", name="Boards").click()
    page.locator("main a[href^='/k/']").filter(has_text="How many orders are there per status?").first.click()
    page.get_by_role("button", name="Rename the answer").click()
    page.get_by_label("Title of the answer").fill("Orders by status")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Orders by status")).to_be_visible()
    page.get_by_role("button", name="Edit the SQL").click()
    page.get_by_label("SQL to run").fill("SELECT COUNT(*) AS all_of_them FROM orders")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("button", name="Keep this SQL").click()
    expect(page.get_by_label("SQL to run")).to_have_count(0)  # it is kept
    expect(page.get_by_text("all_of_them").first).to_be_visible()
    page.reload()
    expect(page.get_by_text("all_of_them").first).to_be_visible()
    page.get_by_role("button", name="Keep no longer").click()
    expect(page.get_by_role("heading", name="Boards")).to_be_visible()
    expect(page.get_by_role("link", name="Orders by status")).to_have_count(0)
