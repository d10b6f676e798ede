"""The vocabulary of a database is taught where one stands: by a click on what a word may mean, on its page, by making
another reading the rule, by a correction. What was learned is told and can be undone; the focus is never lost."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.e2e.states import answered, auctioned, get_answer, teach
from tests.e2e.test_accessibility import broken_rules

LOTS, DELETED = 40, 4


def press(button: Locator) -> None:
    """As somebody does who has no mouse."""
    button.focus()
    button.press("Enter")


def focused(page: Page) -> None:
    assert page.evaluate("document.activeElement !== document.body"), "the focus is lost"


def result(page: Page) -> Locator:
    return page.get_by_label("Result").last


def test_a_word_is_taught_by_a_button_and_the_question_asked_again(page: Page) -> None:
    auctioned(page)
    get_answer(page, "how many clocky lots are there")
    asked = page.get_by_role("group", name="What “clocky” means")
    expect(asked).to_contain_text("What does clocky mean here?")
    press(asked.get_by_role("button", name="lots where title is “Clock 1”"))
    learned = page.get_by_role("list", name="What was learned")
    expect(learned).to_contain_text("From now on: “clocky” means lots.title is 'Clock 1'")
    focused(page)
    expect(page.get_by_role("article")).to_have_count(2)
    answered(page)
    expect(page.get_by_role("group", name="What “clocky” means")).to_have_count(0)
    expect(result(page)).to_contain_text("1")
    undo = learned.get_by_role("button")
    press(undo)
    expect(learned).to_contain_text("Forgotten: “clocky”")
    expect(undo).to_be_focused()
    press(undo)
    expect(learned).to_contain_text("From now on")


def test_a_measure_is_tried_taught_and_asked_for(page: Page) -> None:
    page.goto(auctioned(page))
    expect(page.get_by_text("Nothing is taught yet.")).to_be_visible()
    form = page.get_by_role("form", name="Teach a measure")
    form.get_by_label("The measure").fill("turnover")
    formula = form.get_by_label("is this formula")
    formula.press_sequentially("SUM(lots.ham")
    expect(form.get_by_role("option", include_hidden=True).first).to_have_text("SUM(lots.hammer_price")
    expect(form.get_by_role("status")).to_contain_text("cannot be read")
    formula.fill("SUM(lots.hammer_price)")
    expect(form.get_by_role("status")).to_contain_text("Over all rows it is 7,560.")
    formula.press("Enter")
    expect(page.get_by_role("list", name="Measures")).to_contain_text("“turnover” means the sum of lots.hammer_price")
    expect(form.get_by_label("The measure")).to_be_focused()

    page.get_by_role("link", name="New question").click()
    get_answer(page, "turnover by city")
    expect(result(page)).to_contain_text("2,646")


def test_what_was_taught_is_forgotten_restored_exported(page: Page, tmp_path: Path) -> None:
    page.goto(auctioned(page))
    teach(page, "Teach a word", "bargain", "lots.hammer_price < 170")
    button = page.get_by_role("list", name="Words").get_by_role("button")
    press(button)
    expect(button).to_have_accessible_name("Restore: “bargain” means lots.hammer_price is under 170.")
    expect(button).to_be_focused()
    page.reload()
    expect(page.get_by_text("Nothing is taught yet.")).to_be_visible()
    press(page.get_by_role("button", name="History"))
    forgotten = page.get_by_role("list", name="Forgotten").get_by_role("button")
    press(forgotten)
    expect(page.get_by_role("list", name="Words")).to_contain_text("bargain")
    expect(forgotten).to_be_focused()
    assert broken_rules(page, phone=False) == []
    with page.expect_download() as started:
        page.get_by_role("button", name="Export").click()
    assert "bargain" in started.value.path().read_text()


def test_deleted_rows_are_left_out_from_now_on_and_included_again(page: Page) -> None:
    auctioned(page)
    get_answer(page, "how many lots are there")
    expect(result(page)).to_contain_text(str(LOTS))
    reading = page.get_by_role("group", name="How this was read")
    press(reading.get_by_role("button", name="Always leave them out"))
    expect(page.get_by_role("list", name="What was learned")).to_be_visible()
    focused(page)
    assert broken_rules(page, phone=False) == []
    press(page.get_by_role("button", name="Ask again"))
    expect(page.get_by_role("article")).to_have_count(2)
    answered(page)
    expect(result(page)).to_contain_text(str(LOTS - DELETED))
    press(reading.last.get_by_role("button", name="Include them", exact=True))
    expect(page.get_by_role("group", name="SQL editor").get_by_label("Result")).to_contain_text(str(LOTS))
    always = reading.last.get_by_role("button", name="Always include them")
    press(always)
    expect(reading.last.get_by_role("list", name="What was learned")).to_contain_text("Forgotten: Rows of lots")
    expect(always).to_be_focused()
    press(page.get_by_role("button", name="Ask again").last)
    expect(page.get_by_role("article")).to_have_count(3)
    answered(page)
    expect(result(page)).to_contain_text(str(LOTS))


def test_a_wrong_answer_leads_to_other_readings_and_learning_is_undone(page: Page) -> None:
    auctioned(page)
    get_answer(page, "how many lots in May 2024")
    press(page.get_by_role("button", name="Wrong", exact=True))
    meant = page.get_by_role("region", name="What was meant")
    press(meant.get_by_role("button", name="lots", exact=True))
    asked = meant.get_by_role("group", name="What “lots” means")
    expect(asked.get_by_label("means this")).to_be_visible()  # there is nothing else that it may mean
    focused(page)
    press(meant.get_by_role("button", name="sold_on"))
    editor = page.get_by_role("group", name="SQL editor")
    expect(editor).to_contain_text("sold_on")
    press(editor.get_by_role("button", name="Keep as the right answer"))
    learned = editor.get_by_role("list", name="What was learned")
    expect(learned).to_contain_text("From now on: ")
    expect(learned).to_contain_text("lots.sold_on")
    focused(page)
    assert broken_rules(page, phone=False) == []

    press(learned.get_by_role("link", name="The whole vocabulary"))
    meant = page.get_by_role("list", name="Meant of lots")
    press(meant.get_by_role("link"))
    expect(page.get_by_role("heading", name="how many lots in May 2024")).to_be_visible()
    page.go_back()
    press(meant.get_by_role("button"))
    expect(meant).to_contain_text("Forgotten")
