"""How a question was read stands above its answer, can be changed, and words can be taught."""

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
    page.get_by_role("button", name="shipped_date").click()
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


def test_a_word_is_taught_and_the_question_answered_then_forgotten(offline: Running, open_page: OpenPage) -> None:
    page = open_page(offline)
    ask(page, "how many zorgs are there")
    answered(page)
    form = page.get_by_role("form", name="Teach a word")
    expect(form.get_by_label("The word")).to_have_value("zorgs")
    form.get_by_label("means this").fill("nothing")
    form.get_by_role("button", name="Teach it").click()
    expect(form.get_by_role("status")).to_contain_text("is no table")
    form.get_by_label("means this").fill("suppliers")
    form.get_by_role("button", name="Teach it").click()
    expect(page.get_by_label("Result").last).to_contain_text("suppliers", ignore_case=True)

    page.get_by_role("link", name="Browse the data").click()
    page.get_by_role("button", name="Taught words").click()
    taught = page.get_by_role("region", name="Taught words")
    expect(taught).to_contain_text("zorgs means suppliers")
    taught.get_by_role("button", name="Forget").click()
    expect(taught).to_contain_text("None yet")
