"""Somebody asks: from the first page to an answer, a follow-up, back to it later, and to another reading of it; and
watches a run: its steps, a retry, stopping it, and losing the connection."""

from __future__ import annotations

import re
import threading
import uuid

from playwright.sync_api import Page, Route, expect

from tests.agent.server.running import Running, wait_until
from tests.e2e.conftest import PHONE, OpenPage
from tests.e2e.scripted import Script
from tests.e2e.states import PER_COUNTRY, answered, ask, get_answer
from tests.e2e.test_accessibility import broken_rules
from tests.openai_server import OpenAIServer, error


def test_a_typed_question_is_answered_with_its_rows_its_sql_and_its_steps(page: Page) -> None:
    page.get_by_role("button", name="How many customers are there?", exact=True).click()  # an example
    expect(page.get_by_label("Result")).to_contain_text("480")
    page.get_by_role("button", name="Copy link").click()
    page.goto(page.evaluate("navigator.clipboard.readText()"))
    expect(page.get_by_role("heading", name="How many customers are there?")).to_be_visible()
    expect(page.get_by_label("Result")).to_contain_text("480")
    page.get_by_role("link", name="The whole thread").click()
    expect(page).to_have_url(re.compile(r"/t/"))
    page.get_by_role("link", name="New question").click()
    page.get_by_label("Your question").fill("How many products does each category have?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="How many products does each category have?", level=2)).to_be_visible()
    rows = page.get_by_role("grid").first.get_by_role("row")
    expect(rows).to_have_count(12)  # the head and eleven categories
    expect(rows.nth(1)).to_contain_text("Brewing Gear")
    expect(page.get_by_role("group", name="SQL statement")).to_contain_text("GROUP BY")
    expect(page.get_by_label("Steps", exact=True)).to_contain_text("Ran and checked")
    expect(page).to_have_url(re.compile(r"/t/[\w-]+$"))


def test_an_early_question_goes_to_the_database_that_was_chosen(page: Page) -> None:
    page.get_by_role("button", name="Database: Small shop").click()
    page.get_by_role("button", name="Enterprise warehouse").click()
    expect(page.get_by_role("heading", name="Enterprise warehouse")).to_be_visible()
    routes: list[Route] = []
    page.route("**/presets", lambda route: routes.append(route), times=1)
    with page.expect_request("**/presets"):
        page.reload()
    ask(page, "How many current customers do we have?")
    expect(page.locator("#question")).to_have_value("")
    routes[0].continue_()
    expect(page.get_by_label("Result")).to_contain_text("4,100")


def test_a_follow_up_stays_in_the_thread(with_model: Running, endpoint: OpenAIServer, open_page: OpenPage) -> None:
    endpoint.otherwise = Script(
        sql=["SELECT COUNT(*) AS customers FROM customers"], answer="There are **480** customers."
    )
    page = open_page(with_model)
    get_answer(page, "How many customers are there?")
    second = Script(
        sql=["SELECT COUNT(*) AS customers FROM customers WHERE city = 'Berlin'"],
        answer="**17** of them live in Berlin.",
        standalone="How many customers live in Berlin?",
    )
    endpoint.otherwise = second
    ask(page, "And in Berlin?")
    expect(page.get_by_role("heading", name="And in Berlin?")).to_be_visible()
    expect(page.get_by_text("Read as: How many customers live in Berlin?")).to_be_visible()
    answered(page)
    alone = Script(sql=["SELECT 1 AS one"], answer="It stands **alone**.")
    endpoint.otherwise = alone
    page.get_by_role("button", name="Undo this reading").click()
    expect(page.get_by_text("It stands alone.")).to_be_visible()
    assert not any("How many customers are there?" in prompt for prompt in alone.prompts), "an earlier turn was read"
    page.get_by_role("button", name="Ask as a new question").click()
    expect(page.locator("article")).to_have_count(1)
    page.go_back()
    assert any("How many customers are there?" in prompt for prompt in second.prompts), "the model saw no earlier turn"
    page.reload()
    expect(page.locator("article")).to_have_count(3)
    expect(page.locator("article").nth(1)).to_contain_text("of them live in Berlin.")
    page.locator("article").first.get_by_role("button", name="Show the steps").click()
    expect(page.locator("article").first.get_by_label("Steps", exact=True)).to_contain_text("Planned")


def test_a_question_back_is_answered_by_click(with_model: Running, endpoint: OpenAIServer, open_page: OpenPage) -> None:
    asked_back = {"question": "What makes a customer one of the best?", "options": ["Most orders", "Highest total"]}
    endpoint.otherwise = Script(sql=[], answer="", clarification=asked_back)
    page = open_page(with_model)
    ask(page, "Who are our best customers?")
    expect(page.get_by_text("What makes a customer one of the best?")).to_be_visible()
    assert broken_rules(page, phone=False) == []
    endpoint.otherwise = Script(
        sql=["SELECT first_name, last_name FROM customers LIMIT 3"],
        answer="These three.",
        standalone="Which customers have the most orders?",
    )
    page.get_by_role("button", name="Most orders").click()
    expect(page.get_by_role("heading", name="Most orders")).to_be_visible()
    answered(page)
    expect(page.get_by_role("button", name="Most orders")).to_be_disabled()


def test_what_cannot_be_answered_offers_what_can(page: Page) -> None:
    ask(page, "What is the meaning of life?")
    expect(page.get_by_text("I could not tell what to show")).to_be_visible()
    page.get_by_role("button", name="Write the SQL yourself").click()
    expect(page.get_by_label("SQL to run")).to_be_visible()
    page.get_by_label("Other ways to ask").get_by_role("button").first.click()
    expect(page.locator("article")).to_have_count(2)
    expect(page.get_by_label("Result")).to_be_visible()
    ask(page, "Show blorptastic customers by frobnication")
    guess = page.get_by_role("group", name="Best guess and SQL")
    expect(guess.get_by_label("Best guess", exact=True)).to_contain_text("SELECT")
    assert broken_rules(page, phone=False) == []
    guess.get_by_role("button", name="Look at the guess and run it").click()
    page.get_by_role("button", name="Run", exact=True).last.click()
    expect(page.get_by_label("SQL editor").last.get_by_label("Result")).to_be_visible()


def test_a_thread_is_taken_away_renamed_found_and_deleted(offline: Running, page: Page) -> None:
    for question in ("How many categories are there?", "How many reviews are there?", "How many orders are there?"):
        offline.ask(question)
    get_answer(page, "How many suppliers are there?")
    page.get_by_role("button", name="Copy answer").click()
    expect(page.get_by_text("Answer copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("There are 12 suppliers")
    page.get_by_role("button", name="Save the thread").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Markdown").click()
    assert download.value.suggested_filename == "how-many-suppliers-are-there.md"
    assert "How many suppliers are there?" in download.value.path().read_text()
    page.get_by_role("button", name="Rename the thread “How many suppliers are there?”").click()
    title = f"Who delivers {uuid.uuid4().hex[:8]}"  # nothing of an earlier try is found
    page.get_by_label("Title of the thread").fill(title)
    page.keyboard.press("Enter")
    page.get_by_label("Search the threads").fill(title)
    threads = page.get_by_label("Threads and data").get_by_role("listitem")
    expect(threads).to_have_count(1)
    page.get_by_label("Search the threads").fill("suppliers")
    expect(threads.filter(has_text=title)).to_have_count(1)
    page.get_by_role("button", name=f"Delete the thread “{title}”").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page).to_have_url(re.compile(r"/$"))
    expect(page.get_by_role("link", name=title)).to_have_count(0)


ON_TOP = "b => { const r = b.getBoundingClientRect(); return document.elementFromPoint(r.x + 5, r.y + 5) === b }"
"""Whether a button lies inside the window and above everything else."""


def test_an_unknown_address_is_a_page_and_a_menu_is_never_cut_off(offline: Running, open_page: OpenPage) -> None:
    page = open_page(offline, "/no/such/place", viewport=PHONE)
    expect(page.get_by_role("heading", name="There is nothing at this address.")).to_be_visible()
    page.get_by_role("link", name="Ask a question").click()
    get_answer(page, "How many products does each category have?")
    page.get_by_role("button", name="Save", exact=True).scroll_into_view_if_needed()
    for top in (False, True):  # the button at the lower and at the upper edge
        page.get_by_role("button", name="Save", exact=True).evaluate("(b, top) => b.scrollIntoView(top)", top)
        page.get_by_role("button", name="Save", exact=True).click()
        for name in ("CSV", "JSON lines"):
            assert page.get_by_role("button", name=name).evaluate(ON_TOP), f"{name} is covered"
        page.keyboard.press("Escape")


def test_the_reading_is_shown_and_another_date_is_one_click_away(page: Page) -> None:
    get_answer(page, "total amount of orders in 2024")
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
    get_answer(page, "how many customers were born before 1980")
    reading = page.get_by_role("group", name="How this was read")
    expect(reading).to_contain_text("69 rows without birth_date are not included")
    reading.get_by_role("button", name="Include them").press("Enter")
    expect(page.get_by_role("group", name="SQL editor").get_by_label("Result")).to_be_visible()


COUNT = ["SELECT COUNT(*) AS customers FROM customers"]


def test_a_retry_is_seen_with_its_reason_and_the_attempts_compared(
    with_model: Running, endpoint: OpenAIServer, open_page: OpenPage
) -> None:
    endpoint.otherwise = Script(sql=PER_COUNTRY.sql, answer=PER_COUNTRY.answer)
    page = open_page(with_model)
    get_answer(page, "How many customers live in each country?")
    steps = page.get_by_label("Steps", exact=True)
    expect(steps).to_contain_text("A name does not exist, so it was tried again")
    expect(steps).to_contain_text("Wrote SQL attempt 2")
    expect(steps.get_by_role("listitem").filter(has_text="Planned")).to_contain_text("120 tokens")
    page.get_by_role("button", name="Compare the 2 attempts").click()
    compared = page.get_by_label("Attempts side by side")
    expect(compared.locator("ins").first).to_have_text("country")
    expect(compared.locator("del").first).to_have_text("land")
    expect(compared).to_contain_text("behind the answer")


def test_stopping_a_run_and_a_refused_key(with_model: Running, endpoint: OpenAIServer, open_page: OpenPage) -> None:
    endpoint.otherwise = Script(sql=COUNT, answer="", slow_from=1)
    endpoint.disconnected.clear()
    asked = len(endpoint.requests)
    page = open_page(with_model)
    ask(page, "How many customers are there?")
    expect(page.get_by_role("status").filter(has_text="Writing SQL")).to_be_visible()
    wait_until(lambda: len(endpoint.requests) > asked + 1)  # the step is told before its call is sent
    page.keyboard.press("Escape")
    expect(page.get_by_text("Stopped. Nothing is running any more.")).to_be_visible()
    assert endpoint.disconnected.wait(5), "the model's reply was still awaited"
    endpoint.otherwise = Script(sql=COUNT, answer="", slow_from=0)
    page.get_by_role("button", name="Ask again").click()
    page.get_by_role("button", name="Stop").first.click()
    expect(page.get_by_text("Stopped. Nothing is running any more.")).to_have_count(2)
    endpoint.otherwise = error(401, "Incorrect API key provided.")
    ask(page, "How many customers are there?")
    expect(page.get_by_label("What went wrong")).to_contain_text("Set OPENAI_API_KEY to a valid key")


def test_a_page_loaded_again_picks_up_the_run(with_model: Running, endpoint: OpenAIServer, open_page: OpenPage) -> None:
    ready = threading.Event()
    endpoint.otherwise = Script(
        sql=COUNT, answer="There are **480** customers.", slow_from=1, slow_until=2, released=ready
    )
    page = open_page(with_model)
    ask(page, "How many customers are there?")
    expect(page.get_by_role("status").filter(has_text="Writing SQL")).to_be_visible()
    expect(page).to_have_url(re.compile("/t/"))
    page.reload()
    expect(page.get_by_role("status").filter(has_text="Writing SQL")).to_be_visible()
    ready.set()
    answered(page)
    expect(page.get_by_text("There are 480 customers.")).to_be_visible()
