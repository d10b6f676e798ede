"""The states that the page can be in, each with the way to it; the screenshots and the checks on accessibility share
them.

In: a browser page on the server of the state's kind, and what speaks for the model. Out: the page, in that state.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace

import httpx
from playwright.sync_api import Page, expect

from tests.agent.server.running import Running
from tests.e2e.scripted import Script
from tests.e2e.servers import TOKEN, Kind
from tests.openai_server import OpenAIServer
from tests.pairs import FIXTURES

SCRIPTS = json.loads((FIXTURES / "page/scripts.json").read_text(encoding="utf-8"))
PER_COUNTRY, MONTHLY, THREE_TASKS, STATUSES = (Script(**fields) for fields in SCRIPTS.values())


@dataclass(frozen=True)
class State:
    name: str
    kind: Kind
    reach: Callable[[Page, OpenAIServer], None]
    phone: bool = True
    """Whether it is worth a look on a phone as well."""


def ask(page: Page, question: str) -> None:
    """Ask as a person does, who waits until the run before has ended: until then there is `Stop` in place of `Ask`."""
    expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    page.locator("#question").fill(question)
    page.keyboard.press("Enter")


def answered(page: Page) -> None:
    """Wait for the end of the latest run, and for what is fetched to show it."""
    page.locator("article").last.get_by_role("button", name="Copy link").wait_for()
    page.wait_for_load_state("networkidle")


def get_answer(page: Page, question: str) -> None:
    """Ask, and wait for the end of the run."""
    ask(page, question)
    answered(page)


def _home(page: Page, _: OpenAIServer) -> None:
    page.get_by_role("heading", name="For example").wait_for()
    page.get_by_text("7,842").wait_for()


def _databases(page: Page, endpoint: OpenAIServer) -> None:
    _home(page, endpoint)
    page.get_by_role("button", name="Database: Small shop").click()
    page.get_by_role("button", name="Upload files…").wait_for()


def _connect(page: Page, endpoint: OpenAIServer) -> None:
    _databases(page, endpoint)
    page.get_by_role("button", name="Connect a database…").click()
    page.get_by_label("URL", exact=True).fill("postgresql://reader@127.0.0.1:1/sales")
    page.get_by_role("button", name="Connect", exact=True).click()
    page.get_by_role("alert").wait_for()


def _answer(page: Page, _: OpenAIServer) -> None:
    get_answer(page, "How many products does each category have?")


def _evidence(page: Page, endpoint: OpenAIServer) -> None:
    _answer(page, endpoint)
    page.get_by_role("button", name="Why?").click()


def _failed(page: Page, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = Script(sql=["SELECT nope FROM nowhere"], answer="")
    ask(page, "What did we earn on the moon?")
    page.get_by_role("heading", name="The question could not be answered").wait_for()
    page.wait_for_load_state("networkidle")


def _watching(page: Page, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = replace(PER_COUNTRY, slow_from=2)
    ask(page, "How many customers live in each country?")
    page.get_by_text("A name does not exist, so it was tried again").click()
    page.get_by_text("attempt 2").first.wait_for()
    page.get_by_text("GROUP BY").wait_for()


def _planned(page: Page, endpoint: OpenAIServer) -> None:
    """Three tasks, of which the first is done and the second is being worked on."""
    endpoint.otherwise = replace(THREE_TASKS)
    ask(page, "What sells best, and who buys it?")
    page.get_by_label("Plan", exact=True).get_by_text("running").wait_for()
    page.get_by_label("Steps", exact=True).get_by_text("Writing SQL").wait_for()


def _away(page: Page, endpoint: OpenAIServer) -> None:
    _answer(page, endpoint)
    page.context.set_offline(True)
    ask(page, "And how many of them are in stock?")
    page.get_by_text("Trying again every few seconds").wait_for()


def _menu(page: Page, endpoint: OpenAIServer) -> None:
    _answer(page, endpoint)
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("button", name="Threads and settings").click()
    page.get_by_role("link", name="New question").wait_for()


def _token(page: Page, _: OpenAIServer) -> None:
    page.get_by_label("Access token").wait_for()


def _empty(page: Page, endpoint: OpenAIServer) -> None:
    _token(page, endpoint)
    page.get_by_label("Access token").fill(TOKEN)
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("It has no tables.").wait_for()


def _retried(page: Page, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = replace(PER_COUNTRY)
    get_answer(page, "How many customers live in each country?")


def _compared(page: Page, endpoint: OpenAIServer) -> None:
    _retried(page, endpoint)
    page.get_by_role("button", name="Compare the 2 attempts").click()
    page.get_by_role("heading", name="Attempts side by side").scroll_into_view_if_needed()
    page.wait_for_load_state("networkidle")


def _chart(page: Page, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = replace(MONTHLY)
    get_answer(page, "Show the number of orders per month since 2024.")
    page.locator("figure svg[aria-label]").wait_for()


def _map(page: Page, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = replace(STATUSES)
    get_answer(page, "How many orders of each status are there per country?")
    page.locator("figure svg[aria-label]").wait_for()


def _filtered(page: Page, endpoint: OpenAIServer) -> None:
    _answer(page, endpoint)
    page.get_by_role("button", name="Filter").click()
    page.get_by_label("Filter name").fill("c")
    page.get_by_role("group", name="Rows, 7 in all").wait_for()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Parquet").wait_for()


def _editor(page: Page, endpoint: OpenAIServer) -> None:
    _retried(page, endpoint)
    page.get_by_role("button", name="Edit the SQL").click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("button", name="Keep as the right answer").wait_for()
    page.wait_for_load_state("networkidle")
    page.get_by_role("heading", name="Edit the SQL").scroll_into_view_if_needed()


def _data(page: Page, _: OpenAIServer) -> None:
    page.goto(page.url.rstrip("/") + "/data/shop")
    page.get_by_role("button", name="products 86").click()
    page.get_by_role("button", name="supplier_id", exact=True).wait_for()
    page.get_by_role("button", name="category_id", exact=True).click()
    page.wait_for_load_state("networkidle")


def _diagram(page: Page, endpoint: OpenAIServer) -> None:
    _data(page, endpoint)
    page.get_by_role("button", name="Diagram").click()
    page.get_by_label("Tables and links").get_by_role("button", name="order_items").wait_for()


def _verified(page: Page, endpoint: OpenAIServer) -> None:
    _answer(page, endpoint)
    page.get_by_role("button", name="Right", exact=True).click()
    page.get_by_text("Saved as verified.").wait_for()
    page.get_by_role("link", name="Browse the data").click()
    page.get_by_role("button", name="Verified questions").click()
    page.get_by_role("heading", name="How many products does each category have?").first.wait_for()


def auctioned(page: Page) -> str:
    """The page asks a new auction house, for which nobody else teaches words; its address."""
    base = page.url.rstrip("/")
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript((FIXTURES / "page/auction.sql").read_text(encoding="utf-8"))
        database.execute(f"PRAGMA user_version = {secrets.randbelow(2**31)}")  # the same bytes would be known
        files = {"file": ("auction.sqlite", database.serialize())}
    preset = httpx.post(f"{base}/databases/upload", files=files, timeout=30).json()["id"]
    page.goto(f"{base}/d/{preset}")
    page.get_by_role("heading", name="auction", level=1).wait_for()
    return f"{base}/data/{preset}/vocabulary"


def _vocabulary(page: Page, _: OpenAIServer) -> None:
    """Each kind of term, one of them forgotten, and a measure that is being tried."""
    page.goto(auctioned(page))
    teach(page, "Teach a word", "bargain", "lots.hammer_price < 170")
    teach(page, "Teach a word", "buyers", "bidders")
    teach(page, "Teach a measure", "turnover", "SUM(lots.hammer_price)")
    page.get_by_label("Date of lots").select_option("sold_on")
    page.get_by_text("From 2024-04-10").wait_for()
    form = page.get_by_role("form", name="Leave rows out")
    form.get_by_label("Rows of").select_option("lots")
    form.get_by_label("are left out where").fill("lots.deleted_at IS NOT NULL")
    page.keyboard.press("Enter")
    page.get_by_role("list", name="Rows left out").wait_for()
    page.get_by_role("button", name="Forget: “buyers”").click()
    page.get_by_role("button", name="Restore: “buyers”").wait_for()
    form = page.get_by_role("form", name="Teach a measure")
    form.get_by_label("The measure").fill("premium")
    form.get_by_label("is this formula").fill("SUM(lots.hammer_price - lots.estimate)")
    form.get_by_text("Over all rows it is").wait_for()
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_load_state("networkidle")


def teach(page: Page, form: str, term: str, means: str) -> None:
    """Fill in a form of the vocabulary, and wait until the term is kept."""
    fields = (
        page.get_by_role("form", name=form)
        .get_by_role("textbox")
        .or_(page.get_by_role("form", name=form).get_by_role("combobox"))
    )
    fields.nth(0).fill(term)
    fields.nth(1).fill(means)
    page.keyboard.press("Enter")
    page.get_by_role("button", name=f"Forget: “{term}”").wait_for()


def _meaning(page: Page, _: OpenAIServer) -> None:
    """Words that were not understood: the first was taught, the second is asked for."""
    auctioned(page)
    get_answer(page, "show glorb lots by zorg")
    page.get_by_role("group", name="What “glorb” means").get_by_label("means this").fill("lots.estimate < 110")
    page.keyboard.press("Enter")
    page.get_by_role("group", name="What “zorg” means").wait_for()
    page.wait_for_load_state("networkidle")


def _wrong(page: Page, _: OpenAIServer) -> None:
    """What was meant instead, with a rule that was just made and a word that is asked for."""
    auctioned(page)
    get_answer(page, "how many lots in May 2024")
    page.get_by_role("button", name="another date").click()
    page.get_by_role("button", name="Always use sold_on for lots").click()
    page.get_by_role("button", name="Undo").wait_for()
    page.get_by_role("button", name="Wrong", exact=True).click()
    page.get_by_role("region", name="What was meant").get_by_role("button", name="lots", exact=True).click()
    page.get_by_role("form", name="Teach a word").wait_for()
    page.get_by_role("region", name="What was meant").evaluate("box => box.scrollIntoView({ block: 'center' })")
    page.wait_for_load_state("networkidle")


def keep(page: Page, title: str, board: str) -> None:
    """Keep the result that is shown, on a board of this name: the one there is, or a new one."""
    page.get_by_role("button", name="Keep", exact=True).click()
    dialog = page.get_by_role("dialog", name="Keep this answer")
    dialog.get_by_label("Title").fill(title)
    page.wait_for_load_state("networkidle")
    if dialog.get_by_role("option", name=board, exact=True).count():
        dialog.get_by_role("combobox").select_option(board)
    else:
        dialog.get_by_role("combobox").select_option("A new board…")
        dialog.get_by_label("Name of the new board").fill(board)
    dialog.get_by_role("button", name="Keep", exact=True).click()
    page.get_by_role("link", name="Open the board").wait_for()


def board_of(server: Running, **answers: str) -> str:
    """A board with these statements by their titles."""
    tiles = []
    for title, sql in answers.items():
        run = server.post("/sql", {"preset": "shop", "sql": sql, "question": title}).json()
        tiles.append({"kept_id": server.post("/kept", {"run_id": run["run_id"]}).json()["kept_id"]})
    board: str = server.post("/boards", {"title": "Numbers"}).json()["board_id"]
    with server.client() as client:
        assert client.patch(f"/boards/{board}", json={"tiles": tiles}).status_code == 200
    return board


def add_filter(page: Page, column: str) -> None:
    page.get_by_role("button", name="Add a filter").click()
    dialog = page.get_by_role("dialog", name="Add a filter")
    option = dialog.get_by_role("option").filter(has_text=column).first.get_attribute("value") or ""
    dialog.get_by_role("combobox").first.select_option(option)
    dialog.get_by_role("button", name="Add").click()
    dialog.wait_for(state="detached")


def _board(page: Page, endpoint: OpenAIServer) -> None:
    _answer(page, endpoint)
    page.get_by_role("button", name="Chart", exact=True).click()
    page.get_by_label("Sorted").select_option("largest first")
    keep(page, "Products by category", board="Shop this week")
    page.get_by_role("button", name="Close").click()
    _statement(page, DEAREST)
    keep(page, "Dearest products", board="Shop this week")
    page.get_by_role("button", name="Close").click()
    _statement(page, ORDERS)
    page.get_by_role("button", name="Area").click()
    keep(page, "Orders a month", board="Shop this week")
    page.get_by_role("link", name="Open the board").click()
    page.get_by_role("button", name="Arrange").click()
    for _ in range(2):
        page.get_by_role("button", name="Size of “Orders a month”").last.press("ArrowRight")
    page.get_by_role("button", name="SQL and values").nth(1).click()
    page.wait_for_load_state("networkidle")


def _narrowed(page: Page, endpoint: OpenAIServer) -> None:
    """A board with its filters, one of them open."""
    _answer(page, endpoint)
    keep(page, "Products by category", board="Narrowed")
    page.get_by_role("link", name="Open the board").click()
    page.get_by_role("button", name="Arrange").click()
    page.get_by_role("button", name="Add a text").click()
    for column in ("categories.name", "products.price"):
        add_filter(page, column)
    page.get_by_role("button", name="Arrange").click()
    page.get_by_role("button", name="Name: all").click()
    page.get_by_role("checkbox").first.check()
    page.get_by_role("checkbox").nth(1).check()
    page.wait_for_load_state("networkidle")


def _ways(page: Page, endpoint: OpenAIServer) -> None:
    """The ways on from a figure."""
    _answer(page, endpoint)
    page.get_by_role("gridcell").nth(1).click()
    page.get_by_role("button", name="The rows behind it").wait_for()


def _behind(page: Page, endpoint: OpenAIServer) -> None:
    """The rows behind a figure."""
    _ways(page, endpoint)
    page.get_by_role("button", name="The rows behind it").click()
    page.get_by_role("dialog", name="Behind the figure").get_by_label("Result").wait_for()
    page.wait_for_load_state("networkidle")


DEAREST = "SELECT name, price FROM products WHERE is_discontinued = 0 AND price > 40 ORDER BY price DESC LIMIT 8"
ORDERS = (
    "SELECT strftime('%Y-%m', order_date) AS month, COUNT(*) AS orders FROM orders "
    "WHERE order_date >= '2024-01-01' GROUP BY 1 ORDER BY 1"
)


def _statement(page: Page, sql: str) -> None:
    """Run SQL on the page for SQL without a question."""
    page.get_by_role("link", name="Write SQL").click()
    page.get_by_label("SQL to run").fill(sql)
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_label("Result").wait_for()
    page.wait_for_load_state("networkidle")


def _scheduling(page: Page, endpoint: OpenAIServer) -> None:
    _answer(page, endpoint)
    keep(page, "Products by category", board="Every Monday")
    page.get_by_role("link", name="Open the board").click()
    page.get_by_role("button", name="Schedule…").click()
    page.get_by_role("dialog").get_by_role("textbox", name="To").fill("ana@example.org")
    page.get_by_text("Next:").wait_for()


def _activity(page: Page, endpoint: OpenAIServer) -> None:
    _scheduling(page, endpoint)
    page.get_by_role("dialog").get_by_role("button", name="Schedule", exact=True).click()
    page.get_by_role("dialog").get_by_role("link", name="All schedules").click()
    page.get_by_role("button", name="History").first.wait_for()


def _sql(page: Page, endpoint: OpenAIServer) -> None:
    _home(page, endpoint)
    _statement(page, DEAREST)
    page.get_by_role("button", name="Chart", exact=True).click()
    page.locator("figure svg[aria-label]").wait_for()


def _notes(page: Page, endpoint: OpenAIServer) -> None:
    """An uploaded file whose numbers and dates are written in other ways."""
    boats = (f"Boat {n},1h {n:02}m,{n * 12 + 430} kg,£{n}.50,{n:02}/03/2022,x" for n in range(1, 19))
    lines = ("Harbour club,,,,,", "Boat,Best time,Weight,Fee,Launched,Paid", *boats, "Nora,58m,0.4 t,free,25/04/2022,")
    rows = "\n".join((*lines, "Total,,,£171.00,,", ""))
    _databases(page, endpoint)
    page.get_by_role("button", name="Upload files…").click()
    page.get_by_label("Files", exact=True).set_input_files(
        {"name": "boats.csv", "mimeType": "text/csv", "buffer": rows.encode()}
    )
    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_role("region", name="How the files were read").wait_for()
    page.get_by_role("heading", name="For example").wait_for()
    page.wait_for_load_state("networkidle")


def _model(page: Page, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = Script(sql=["SELECT 1"], answer="ready")
    page.get_by_role("button", name="Choose the model").click()
    page.get_by_label("Endpoint").fill("http://127.0.0.1:11434/v1")
    page.get_by_label("Model", exact=True).fill("qwen3")
    page.get_by_role("button", name="Test", exact=True).click()
    page.get_by_text("It does not answer").wait_for()


STATES = (
    State("home", "offline", _home),
    State("connect-refused", "offline", _connect, phone=False),
    State("answer", "offline", _answer),
    State("evidence", "offline", _evidence),
    State("failed", "model", _failed),
    State("watching", "model", _watching),
    State("planned", "model", _planned),
    State("away", "offline", _away),
    State("menu", "offline", _menu),
    State("empty", "bare", _empty),
    State("retried", "model", _retried),
    State("attempts", "model", _compared),
    State("chart", "model", _chart),
    State("map", "model", _map),
    State("filtered", "offline", _filtered),
    State("editor", "model", _editor),
    State("data", "offline", _data),
    State("diagram", "offline", _diagram),
    State("verified", "offline", _verified),
    State("board", "offline", _board),
    State("narrowed", "offline", _narrowed),
    State("behind", "offline", _behind),
    State("activity", "offline", _activity),
    State("sql", "offline", _sql),
    State("notes", "offline", _notes),
    State("model", "offline", _model),
    State("vocabulary", "offline", _vocabulary),
    State("meaning", "offline", _meaning),
    State("wrong", "offline", _wrong),
)


def reach(name: str, page: Page, endpoint: OpenAIServer) -> None:
    next(state for state in STATES if state.name == name).reach(page, endpoint)
