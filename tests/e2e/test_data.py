"""Somebody gets to know the data: the schema, its values, the diagram; and brings data of their own."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import openpyxl
from playwright.sync_api import expect

from tests.agent.server.running import Running
from tests.e2e.conftest import OpenPage
from tests.e2e.states import answered, get_answer
from tests.e2e.test_accessibility import broken_rules


def test_a_foreign_key_leads_to_its_table(offline: Running, open_page: OpenPage) -> None:
    """What the rows look like stands beside each column, and the diagram shows every table."""
    page = open_page(offline, "/data/shop")
    page.get_by_role("button", name="products 86").click()
    expect(page.get_by_role("listitem").filter(has_text="weight_grams").first).to_contain_text("40 to 4,700")
    expect(page.get_by_role("region", name="Worth knowing")).to_contain_text("averages leave them out")
    page.get_by_role("button", name="categories.category_id").click()
    expect(page.get_by_role("heading", name="categories", level=2)).to_be_visible()
    page.get_by_role("button", name="Diagram").click()
    expect(page.get_by_text("8 tables, 8 links")).to_be_visible()
    page.get_by_label("Tables and links").get_by_role("button", name="reviews").click()
    expect(page.get_by_role("heading", name="reviews")).to_be_visible()


def test_uploaded_files_are_read_asked_and_removed(offline: Running, open_page: OpenPage, tmp_path: Path) -> None:
    file = tmp_path / "boats.csv"
    file.write_text("name;length;launched\nAlba;12,5;03.02.1998\nBora;9;28.12.2001\nCima;11;01.05.2020\n")
    book = openpyxl.Workbook()
    for row in (["berth", "depth"], ["A1", 3.5], ["A2", 4]):
        book.active.append(row)
    book.save(tmp_path / "berths.xlsx")
    page = open_page(offline)
    page.get_by_role("button", name="Database: Small shop").click()
    page.get_by_role("button", name="Upload files…").click()
    page.get_by_label("Files", exact=True).set_input_files([file, tmp_path / "berths.xlsx"])
    page.get_by_label("Name, if you like").fill("Harbour")
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_role("heading", name="Harbour")).to_be_visible()
    notes = page.get_by_role("region", name="How the files were read")
    expect(notes).to_contain_text("length: number, decimal comma")
    expect(notes).to_contain_text("launched: date, day first")
    page.get_by_role("button", name="What is the average length of boats?").click()
    expect(page.get_by_label("Result")).to_contain_text("10.83")
    page.get_by_role("link", name="Write SQL").click()
    editor = page.get_by_label("SQL to run")
    editor.press_sequentially("SELECT dep")
    page.keyboard.press("Escape")
    editor.press_sequentially("th FROM berths WHERE be")
    expect(page.locator(".cm-tooltip-autocomplete")).to_contain_text("berth")
    page.keyboard.press("Escape")
    editor.press_sequentially("rth = 'A1'")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_label("Result")).to_contain_text("3.5")
    page.get_by_role("link", name="New question").click()
    page.get_by_role("button", name="Database: Harbour").click()
    page.get_by_role("button", name="Remove Harbour").click()
    expect(page.get_by_role("heading", name="Small shop", level=1)).to_be_visible()


def test_a_dropped_file_is_reviewed_column_by_column(offline: Running, open_page: OpenPage, tmp_path: Path) -> None:
    rows = "".join(f"Boat {n},£{n}.50,{n % 2 + 1:02}/03/2022\n" for n in range(1, 20)) + "Boat 1,£1.50,02/03/2022\n"
    page = open_page(offline)
    (tmp_path / "boats.csv").write_text(f"name,Monthly Fee,launched\n{rows}", encoding="utf-8")
    page.get_by_label("Files to ask").set_input_files(tmp_path / "boats.csv")
    expect(page.get_by_role("heading", name="boats.csv", level=1)).to_be_visible()
    review = page.get_by_role("region", name="How the files were read")
    expect(review).to_contain_text("Monthly Fee: £ → number, 20 of 20")
    expect(review).to_contain_text("day and month could also be the other way round")
    expect(page.get_by_role("region", name="For example").get_by_role("listitem").nth(2)).to_be_visible()
    choice = review.get_by_label("Read launched as")
    choice.focus()
    page.keyboard.type("date, month")
    expect(review).to_contain_text("launched: date, month first")
    expect(review.get_by_role("status")).to_have_text("Read again.")
    review.get_by_label("Leave out 1 row that repeats an earlier one").click()
    expect(review).to_contain_text("boats: 19 rows")
    page.get_by_label("Your question").fill("total monthly fee of boats launched in february 2022")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Result")).to_contain_text("105")


def test_no_data_and_an_unknown_address_are_told(offline: Running, open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page(offline, "/d/gone")
    expect(page.get_by_role("heading", name="There is no database at this address.", level=1)).to_be_visible()
    assert broken_rules(page, phone=False) == []
    file = tmp_path / "picture.png"
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 200)
    page.goto(offline.url)
    page.get_by_role("button", name="Database: Small shop").click()
    page.get_by_role("button", name="Upload files…").click()
    page.get_by_label("Files", exact=True).set_input_files(file)
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_role("alert")).not_to_be_empty()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", name="Small shop", level=1)).to_be_visible()


def test_a_verified_question_is_asked_again_changed_and_taken_back(offline: Running, open_page: OpenPage) -> None:
    # a question that no other state of this server verifies
    page, question = open_page(offline), "How many products does each supplier have?"
    get_answer(page, question)
    page.get_by_role("button", name="Right", exact=True).click()
    page.get_by_text("Saved as verified.").wait_for()
    page.goto(f"{offline.url}/data/shop")
    page.get_by_role("button", name="Verified questions").click()
    page.get_by_role("button", name=f"Edit the SQL of “{question}”").click()
    page.get_by_label("SQL to run").fill("SELECT COUNT(category_id) FROM products")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("button", name="Keep as the right answer").click()
    expect(page.get_by_label(f"SQL for “{question}”")).to_contain_text("category_id")
    page.get_by_role("listitem").filter(has_text=question).get_by_role("button", name="Ask again").click()
    answered(page)
    expect(page.get_by_role("heading", name=question, level=2)).to_be_visible()
    page.goto(f"{offline.url}/data/shop")
    page.get_by_role("button", name="Verified questions").click()
    page.get_by_role("button", name=f"“{question}” is verified no longer").click()
    expect(page.get_by_role("heading", name=question)).to_have_count(0)


def test_a_wide_schema_is_searched_and_drawn_in_parts(offline: Running, open_page: OpenPage, tmp_path: Path) -> None:
    path = tmp_path / "wide.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE hub (hub_id INTEGER PRIMARY KEY, name TEXT)")
        for n in range(499):
            link = ", hub_id INTEGER REFERENCES hub (hub_id)" if n < 5 else ""
            database.execute(f"CREATE TABLE part_{n:03} (id INTEGER PRIMARY KEY, measure_{n} REAL{link})")
    with offline.client() as client:
        made = client.post("/databases/upload", files={"file": ("wide.sqlite", path.read_bytes())}).json()
    page = open_page(offline, f"/data/{made['id']}")
    expect(page.get_by_role("button", name="400 more tables")).to_be_visible()
    page.get_by_placeholder("Search tables and columns").fill("measure_431")
    page.get_by_role("button", name="part_431").click()
    expect(page.get_by_role("heading", name="part_431")).to_be_visible()
    page.get_by_role("button", name="Diagram").click()
    expect(page.get_by_text("6 of 500 tables, 5 links")).to_be_visible()
    page.get_by_role("combobox", name="Around").select_option("part_431")
    expect(page.get_by_text("1 of 500 tables, 0 links")).to_be_visible()


def test_sheets_of_one_form_are_one_table_until_parted(offline: Running, open_page: OpenPage, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for month in ("January", "February"):
        sheet = book.create_sheet(month)
        for row in (["Shop", "Takings"], ["Leeds", 10], ["York", 5 if month == "January" else 30], ["Total", 15]):
            sheet.append(row)
    book.save(tmp_path / "takings.xlsx")
    page = open_page(offline)
    page.get_by_label("Files to ask").set_input_files(tmp_path / "takings.xlsx")
    review = page.get_by_role("region", name="How the files were read")
    expect(review).to_contain_text("takings: 4 rows")
    together = review.get_by_label("One table of January, February")
    expect(together).to_be_checked()
    assert broken_rules(page) == []
    together.focus()
    page.keyboard.press("Space")
    expect(review).to_contain_text("February: 2 rows")
    review.get_by_label("One table with those of the same columns").first.focus()
    page.keyboard.press("Space")
    expect(review).to_contain_text("takings: 4 rows")
    page.get_by_label("Your question").fill("total takings by month")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Result")).to_contain_text("40")
