"""Somebody edits a chart: what it draws and how, on an answer and on a board's tile."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.agent.server.running import Running
from tests.e2e.conftest import OpenPage
from tests.e2e.scripted import Script
from tests.e2e.states import get_answer, keep
from tests.e2e.test_accessibility import broken_rules
from tests.openai_server import OpenAIServer

SALES = (
    "SELECT c.name AS category, COUNT(*) AS items, SUM(oi.quantity) AS quantity, ROUND(AVG(oi.unit_price), 2) AS "
    "avg_price FROM order_items AS oi JOIN products AS p ON p.product_id = oi.product_id JOIN categories AS c ON "
    "c.category_id = p.category_id GROUP BY c.name"
)
GAPS = (
    "SELECT strftime('%Y-%m', order_date) AS month, COUNT(*) AS orders FROM orders WHERE order_date >= '2025-01-01' "
    "AND strftime('%m', order_date) <> '05' GROUP BY 1 ORDER BY 1"
)
OUTSIDE = """svg => { const box = svg.getBoundingClientRect();
    return [...svg.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()])
        .filter(([, at]) => at.left < box.left - 1 || at.right > box.right + 1 || at.top < box.top - 1
            || at.bottom > box.bottom + 1).map(([text]) => text) }"""
"""The texts of a drawing that stick out of it."""


def chart_of(server: Running, page: Page, sql: str) -> Locator:
    made = server.post("/sql", {"preset": "shop", "sql": sql, "question": "By hand"}).json()
    page.goto(f"{server.url}/r/{made['run_id']}")
    page.get_by_role("button", name="Chart", exact=True).click()
    drawing = page.locator("figure svg[aria-label]")
    drawing.wait_for()
    return drawing


def test_an_edited_chart_is_kept_on_a_board(with_model: Running, endpoint: OpenAIServer, open_page: OpenPage) -> None:
    endpoint.otherwise = Script(sql=[SALES], answer="Sweets sell best.")
    page = open_page(with_model)
    get_answer(page, "How much was sold of each category, and at which price?")
    page.get_by_role("button", name="Chart", exact=True).click()
    page.get_by_role("button", name="Edit chart").press("Enter")
    panel = page.get_by_role("group", name="Edit chart")
    expect(panel).to_be_focused()
    panel.get_by_label("Title", exact=True).fill("Best sellers")
    panel.get_by_role("checkbox", name="Quantity").set_checked(True)
    panel.get_by_role("checkbox", name="Items").set_checked(True)
    panel.get_by_role("checkbox", name="Avg price").set_checked(False)
    panel.get_by_label("Only the largest").fill("5")
    panel.get_by_label("Values stand").select_option("on top of each other")
    panel.get_by_label("Numbers").select_option("currency")
    panel.get_by_label("Currency").fill("USD")
    assert broken_rules(page, phone=False) == []
    panel.get_by_label("Numbers").select_option(index=0)
    panel.get_by_label("Title", exact=True).focus()
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(page.get_by_role("button", name="Edit chart")).to_be_focused()

    drawing = page.locator("figure svg[aria-label]")
    words = "Best sellers: Items and quantity by category, the 5 largest of 10, the others added up"
    expect(drawing).to_have_attribute("aria-label", words)
    expect(drawing.locator("g[data-mark=bar] rect")).to_have_count(12)
    keep(page, "Sellers", board="Edited charts")
    page.get_by_role("link", name="Open the board").click()
    expect(drawing).to_have_attribute("aria-label", words)
    page.reload()
    expect(drawing).to_have_attribute("aria-label", words)

    page.get_by_role("button", name="SQL and values").click()
    page.get_by_role("button", name="Edit chart").click()
    page.get_by_role("group", name="Kind of chart").get_by_role("button", name="Columns").click()
    panel.get_by_label("Only the largest").fill("3")
    expect(drawing).to_have_attribute("aria-label", words.replace("5 largest", "3 largest"))
    assert broken_rules(page) == []
    page.get_by_role("button", name="Save the chart").click()
    expect(page.get_by_role("button", name="Edit chart")).to_be_visible()
    page.reload()
    expect(drawing).to_have_attribute("aria-label", words.replace("5 largest", "3 largest"))
    expect(drawing.locator("g[data-mark=bar] rect")).to_have_count(8)

    share = with_model.post(f"/boards/{page.url.rsplit('/', 1)[-1]}/share", {}).json()["share"]
    viewer = open_page(with_model, f"/s/{share}")
    viewer.get_by_role("button", name="SQL and values").click()
    expect(viewer.get_by_role("group", name="SQL of")).to_be_visible()
    expect(viewer.get_by_role("button", name="Edit chart")).to_have_count(0)


def test_more_rows_than_came_with_the_answer_are_drawn(offline: Running, page: Page) -> None:
    chart_of(offline, page, "SELECT total_amount FROM orders LIMIT 700")
    caption = page.get_by_role("figure").locator("figcaption")
    expect(caption).to_contain_text("Number of rows by total amount")
    expect(caption).not_to_contain_text("the first")


def test_no_label_is_cut_off(offline: Running, page: Page) -> None:
    long = "SELECT 'Ein sehr langer Name einer Kategorie, der nirgends ganz hinpasst ' || name AS name"
    for sql, kinds in (
        (GAPS, ("Line", "Area")),
        (f"{long}, price * 1000 AS price FROM products LIMIT 9", ("Bars", "Columns")),
    ):
        page.set_viewport_size({"width": 1280, "height": 844})
        drawing = chart_of(offline, page, sql)
        for kind in kinds:
            page.get_by_role("button", name=kind, exact=True).click()
            for width in (1280, 390):
                page.set_viewport_size({"width": width, "height": 844})
                expect(drawing).to_be_visible()
                assert drawing.evaluate(OUTSIDE) == [], (kind, width)
