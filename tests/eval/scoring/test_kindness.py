"""However kind the judge, what can't be an answer stays below the threshold; and good answers pass a neutral one."""

from __future__ import annotations

import pytest

from eval.databases.base import Database
from eval.examination import Query, examine
from eval.scoring import THRESHOLD, final_score, score

SHOP = {
    "How many customers are there?": "SELECT COUNT(*) FROM customers",
    "What are the names of the customers in France?": "SELECT name FROM customers WHERE country = 'France'",
    "What is the average price of the products in the category wood?": (
        "SELECT AVG(price) FROM products WHERE category = 'wood'"
    ),
    "Which customer has placed the most orders?": (
        "SELECT c.name FROM customers AS c JOIN orders AS o ON o.customer_id = c.customer_id "
        "GROUP BY c.customer_id ORDER BY COUNT(*) DESC LIMIT 1"
    ),
    "How many customers are there in each country?": "SELECT country, COUNT(*) FROM customers GROUP BY country",
    "List the names of customers who have no orders.": (
        "SELECT name FROM customers WHERE customer_id NOT IN (SELECT customer_id FROM orders)"
    ),
    "List the titles of all products ordered by price from the highest to the lowest.": (
        "SELECT title FROM products ORDER BY price DESC"
    ),
}
SCHOOL = {
    "How many teachers come from Bath?": "SELECT COUNT(*) FROM teacher WHERE hometown = 'Bath'",
    "What are the first names of teachers older than 30?": "SELECT first_name FROM teacher WHERE age > 30",
    "What is the title of the course with the most credits?": (
        "SELECT title FROM course ORDER BY credits DESC LIMIT 1"
    ),
    "Show the titles of the courses taught by Eva.": (
        "SELECT c.title FROM course AS c JOIN teaches AS t ON t.course_id = c.course_id "
        "JOIN teacher AS p ON p.teacher_id = t.teacher_id WHERE p.first_name = 'Eva'"
    ),
    "What are the different hometowns of the teachers?": "SELECT DISTINCT hometown FROM teacher",
}
NEVER = {
    "SELECT 1": "SELECT 1",
    "empty": "",
    "blank": "  \n ",
    "unparsable": "SELECT FROM WHERE",
    "drop": "DROP TABLE {table}",
    "delete": "DELETE FROM {table}",
    "two statements": "SELECT * FROM {table}; DROP TABLE {table}",
    "cartesian": "SELECT * FROM {table}, {other}",
    "cross join": "SELECT COUNT(*) FROM {table} AS a CROSS JOIN {other} AS b",
    "unrelated table": "SELECT * FROM {unrelated}",
    "unrelated count": "SELECT COUNT(*) FROM {unrelated}",
    "unrelated column": "SELECT {column} FROM {unrelated}",
    "phantom table": "SELECT * FROM no_such_table",
    "phantom column": "SELECT no_such_column FROM {table}",
}
SHOP_NAMES = {"table": "customers", "other": "products", "unrelated": "suppliers", "column": "phone"}
SCHOOL_NAMES = {"table": "teacher", "other": "course", "unrelated": "boiler", "column": "maker"}


@pytest.mark.parametrize("question", SHOP)
@pytest.mark.parametrize("what", NEVER)
def test_never_passes_on_the_shop(shop: Database, question: str, what: str) -> None:
    scored = score(examine(Query(question, NEVER[what].format(**SHOP_NAMES)), shop))
    assert final_score(scored, 1.0) < THRESHOLD


@pytest.mark.parametrize("question", SCHOOL)
@pytest.mark.parametrize("what", NEVER)
def test_never_passes_on_the_school(school: Database, question: str, what: str) -> None:
    scored = score(examine(Query(question, NEVER[what].format(**SCHOOL_NAMES)), school))
    assert final_score(scored, 1.0) < THRESHOLD


@pytest.mark.parametrize("question", SHOP)
def test_good_answers_pass_on_the_shop(shop: Database, question: str) -> None:
    scored = score(examine(Query(question, SHOP[question]), shop))
    assert not scored.vetoes
    assert final_score(scored, 0.5) >= THRESHOLD


@pytest.mark.parametrize("question", SCHOOL)
def test_good_answers_pass_on_the_school(school: Database, question: str) -> None:
    scored = score(examine(Query(question, SCHOOL[question]), school))
    assert not scored.vetoes
    assert final_score(scored, 0.5) >= THRESHOLD
