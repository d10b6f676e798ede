"""Names of computed columns, shapes in every dialect, absence, rows that refer to each other, units and discounts."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from sqlglot import exp

from agent.knowledge.values import ValueIndex, value_index
from agent.parser import read
from agent.runtime.probability import STATED_DOUBT
from eval.databases import Database, open_database
from eval.schema import Column, ForeignKey, Schema, Table
from eval.sql import check, parse
from tests.asked import Asked


@pytest.fixture
def bakery(everyday: Asked) -> Database:
    return everyday.database("bakery")[0]


@pytest.mark.parametrize("dialect", ["postgres", "mysql", "duckdb", "sqlite"])
def test_the_shapes_are_valid_in_every_dialect(bakery: Database, dialect: str) -> None:
    from dataclasses import replace

    schema = replace(bakery.schema(), dialect=dialect)  # type: ignore[arg-type]
    index = value_index(bakery, bakery.schema())
    for question in ("revenue growth by quarter", "median quantity", "average order value", "average delivery time"):
        sql = read(question, schema, index, schema.dialect, threshold=0.0).sql
        assert check(parse(sql, schema.dialect)).statement is not None, sql


def test_computed_columns_are_named(bakery: Database) -> None:
    schema = bakery.schema()
    sql = read("number of orders per month", schema, value_index(bakery, schema), threshold=0.0).sql
    assert " ".join(sql.split()) == (
        "SELECT STRFTIME('%Y-%m', order_date) AS month, COUNT(*) AS orders FROM orders "
        "GROUP BY month ORDER BY month ASC"
    )


@pytest.mark.parametrize(
    ("question", "columns"),
    [
        ("how many customers are there", ["customers"]),
        ("average quantity", ["average_quantity"]),
        ("the customer with the most orders in each city", ["city", "name", "orders"]),
        ("list categories with their products", ["category", "product"]),
        ("the cheapest product in each category", ["category", "product", "price"]),
    ],
)
def test_results_have_names_that_tell_columns_apart(question: str, columns: list[str]) -> None:
    def table(name: str, *more: Column, key: ForeignKey | None = None) -> Table:
        own = (Column(name=f"{name}_id", type="INTEGER", primary_key=True), Column(name="name", type="TEXT"))
        return Table(name=name, columns=(*own, *more), foreign_keys=(key,) if key else ())

    def refers(name: str) -> ForeignKey:
        return ForeignKey(columns=(f"{name}_id",), ref_table=name, ref_columns=(f"{name}_id",))

    def number(name: str) -> Column:
        return Column(name=name, type="INTEGER")

    tables = (
        table("category"),
        table("product", number("category_id"), Column(name="price", type="REAL"), key=refers("category")),
        table("customer", Column(name="city", type="TEXT")),
        table("order", number("customer_id"), number("quantity"), key=refers("customer")),
    )
    reading = read(question, Schema(dialect="sqlite", tables=tables), threshold=0.0)
    assert isinstance(reading.tree, exp.Select)
    assert [c.alias_or_name for c in reading.tree.expressions] == columns


def test_an_integer_named_after_a_state_says_yes_or_no() -> None:
    product = Table(
        name="product",
        columns=(
            Column(name="id", type="INTEGER", primary_key=True),
            Column(name="name", type="TEXT"),
            Column(name="discontinued", type="INTEGER", nullable=False),
        ),
    )
    schema = Schema(dialect="sqlite", tables=(product,))
    assert read("show discontinued products", schema).sql == "SELECT name FROM product WHERE discontinued = 1"
    assert (
        read("number of active products", schema).sql
        == "SELECT COUNT(*) AS products FROM product WHERE discontinued = 0"
    )


def test_absence_is_not_exists_where_rows_may_be_many(tmp_path: Path) -> None:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR)")
        connection.execute("CREATE TABLE orders (id INTEGER, customer_id INTEGER REFERENCES customers (id))")
        connection.execute(
            "INSERT INTO customers VALUES (1, 'Ada'), (2, 'Bo'); INSERT INTO orders VALUES (1, 1), (2, NULL)"
        )
    with open_database(f"duckdb:///{path}") as database:
        reading = read("customers without orders", database.schema())
        statement = check(parse(reading.sql, "duckdb")).statement
        assert "NOT EXISTS" in reading.sql
        assert statement is not None
        assert database.execute(statement).rows == (("Bo",),)


STAFF = Schema(
    dialect="sqlite",
    tables=(
        Table(
            name="employee",
            columns=(
                Column(name="id", type="INTEGER", primary_key=True),
                Column(name="name", type="TEXT"),
                Column(name="reports_to", type="INTEGER"),
            ),
            foreign_keys=(ForeignKey(columns=("reports_to",), ref_table="employee", ref_columns=("id",)),),
        ),
        Table(
            name="film",
            columns=(
                Column(name="id", type="INTEGER", primary_key=True),
                Column(name="title", type="TEXT"),
                Column(name="length", type="INTEGER"),
            ),
        ),
    ),
)
PEOPLE = ValueIndex([("employee", "name", ["Ada", "Bo"])])
PAIRS = "FROM employee AS e LEFT JOIN employee AS report ON report.id = e.reports_to"
BOSS = f"SELECT report.name {PAIRS} WHERE e.name = 'Ada'"


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("who is the boss of Ada", BOSS),
        ("who does Ada report to?", BOSS),
        (
            "employees who report to Ada",
            "SELECT name FROM employee WHERE reports_to = ( SELECT id FROM employee WHERE name = 'Ada' )",
        ),
        ("list employees with their manager", f"SELECT e.name AS employee, report.name AS report {PAIRS}"),
    ],
)
def test_a_row_may_refer_to_another_of_its_table(question: str, sql: str) -> None:
    assert " ".join(read(question, STAFF, PEOPLE, threshold=0.0).sql.split()) == sql


def test_a_unit_that_the_column_does_not_say_is_assumed_with_a_doubt() -> None:
    reading = read("films longer than 3 hours", STAFF, PEOPLE, threshold=0.0)
    assert reading.sql == "SELECT title FROM film WHERE length > 180"
    assert reading.confidence < STATED_DOUBT
    assert "length is taken to be in minutes" in reading.interpretation


def test_says_that_discounts_are_not_subtracted() -> None:
    names = (("id", "INTEGER"), ("unit_price", "REAL"), ("quantity", "INTEGER"), ("discount", "REAL"))
    line = Table(name="order_line", columns=tuple(Column(name=n, type=t, primary_key=n == "id") for n, t in names))
    reading = read("total revenue", Schema(dialect="sqlite", tables=(line,)), threshold=0.0)
    assert reading.sql == "SELECT SUM(unit_price * quantity) AS revenue FROM order_line"
    assert reading.interpretation.endswith("; discounts are not subtracted")


def test_a_month_is_a_part_of_a_date_and_no_monthly_fee() -> None:
    table = Table(
        name="payment",
        columns=(
            Column(name="id", type="INTEGER", primary_key=True),
            Column(name="amount", type="REAL"),
            Column(name="monthly_fee", type="REAL"),
            Column(name="paid_on", type="DATE"),
        ),
    )
    schema = Schema(dialect="sqlite", tables=(table,))
    sql = " ".join(read("total amount by month", schema, ValueIndex([])).sql.split())
    assert "STRFTIME('%Y-%m', paid_on)" in sql
    assert "monthly_fee" not in sql
    assert "SUM(monthly_fee)" in read("total monthly fee", schema, ValueIndex([])).sql
