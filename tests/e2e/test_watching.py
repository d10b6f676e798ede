"""Somebody watches a run: its steps, a retry, stopping it, and losing the connection."""

from __future__ import annotations

import re
import threading

from playwright.sync_api import expect

from tests.agent.server.running import Running, wait_until
from tests.e2e.conftest import OpenPage
from tests.e2e.scripted import Script
from tests.e2e.states import PER_COUNTRY, answered, ask
from tests.openai_server import OpenAIServer, error

COUNT = ["SELECT COUNT(*) AS customers FROM customers"]


def test_a_retry_is_seen_with_its_reason_and_the_attempts_compared(
    with_model: Running, endpoint: OpenAIServer, open_page: OpenPage
) -> None:
    endpoint.otherwise = Script(sql=PER_COUNTRY.sql, answer=PER_COUNTRY.answer)
    page = open_page(with_model)
    ask(page, "How many customers live in each country?")
    answered(page)
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
