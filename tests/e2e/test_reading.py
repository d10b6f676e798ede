"""How a question was read stands above its answer, can be changed."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.agent.server.running import Running
from tests.e2e.conftest import PHONE, OpenPage
from tests.e2e.states import answered, ask


def test_the_reading_is_shown_and_another_date_is_one_click_away(offline: Running, open_page: OpenPage) -> None:
    page = open_page(offline)
    ask(page, "total amount of orders in 2024")
    answered(page)
    reading = page.get_by_role("group", name="How this was read")
    expect(reading).to_contain_text("the sum of total_amount")
    expect(reading).to_contain_text("order_date is from")
    before = page.get_by_label("Result").first.inner_text()
    reading.get_by_role("button", name="another date").click()
    page.get_by_role("button", name="shipped_date", exact=True).click()
    editor = page.get_by_role("group", name="SQL editor")
    expect(editor).to_contain_text("shipped_date")
    expect(editor.get_by_label("Result")).to_be_visible()
    assert editor.get_by_label("Result").inner_text() != before


def test_rows_that_are_left_out_can_be_taken_in(offline: Running, open_page: OpenPage) -> None:
    page = open_page(offline, viewport=PHONE)
    ask(page, "how many customers were born before 1980")
    answered(page)
    reading = page.get_by_role("group", name="How this was read")
    expect(reading).to_contain_text("69 rows without birth_date are not included")
    reading.get_by_role("button", name="Include them").press("Enter")
    expect(page.get_by_role("group", name="SQL editor").get_by_label("Result")).to_be_visible()
