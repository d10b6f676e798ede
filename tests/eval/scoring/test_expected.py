"""What queries for questions worded alike usually look like, and what is said of one that looks otherwise."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import sqlglot

from eval.databases.base import Database
from eval.examination import Query, examine
from eval.schema import Schema
from eval.scoring import score
from eval.scoring.aspects import aspects_of, projected
from eval.scoring.expectation import Expectation, expectation
from eval.scoring.question_wording import Wording
from eval.sql.traversal import output_select
from experiments.judge.expectation_training import expectation_text
from experiments.judge.softmax_training import train


def _evidence(database: Database, question: str, sql: str) -> dict[str, str]:
    return {e.name: e.text for e in score(examine(Query(question, sql), database)).evidence}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT name FROM t ORDER BY age DESC LIMIT 1", {"rank": "first_desc", "output": "c", "names": "yes"}),
        ("SELECT a FROM t ORDER BY b LIMIT 5", {"rank": "some_asc", "names": "no"}),
        ("SELECT a FROM t WHERE b = (SELECT MAX(b) FROM t)", {"rank": "extreme", "tables": "1"}),
        ("SELECT a, COUNT(*) FROM t GROUP BY a HAVING COUNT(*) > 2", {"output": "ca", "having": "yes"}),
        ("SELECT a FROM t INTERSECT SELECT a FROM u", {"sets": "intersect", "tables": "2"}),
        ("SELECT a FROM t WHERE b IN (1, 2)", {"sets": "or"}),
        (
            "SELECT a FROM t WHERE b IN (1, 2) GROUP BY a HAVING COUNT(DISTINCT b) = 2",
            {"sets": "intersect", "having": "no"},
        ),
        ("SELECT * FROM t WHERE a LIKE 'x%'", {"output": "*", "pattern": "yes", "counts": "no"}),
        ("SELECT COUNT(*), a FROM t GROUP BY a", {"output": "ac", "counts": "yes", "having": "no"}),
    ],
)
def test_the_form_of_a_query(sql: str, expected: dict[str, str]) -> None:
    aspects = aspects_of(sqlglot.parse_one(sql, read="sqlite"))
    assert {name: aspects[name] for name in expected} == expected


def test_returned_columns_are_found_inside_expressions(shop: Database) -> None:
    tree = sqlglot.parse_one(
        "SELECT c.name, MAX(o.ordered_on), COUNT(*) FROM customers AS c JOIN orders AS o USING (customer_id)"
    )
    assert projected(output_select(tree), shop.schema()) == {("customers", "name"), ("orders", "ordered_on")}


def test_names_values_and_numbers_are_blanks(shop: Database) -> None:
    phrases = Wording("Which customers in 'Paris' placed over 3 orders, by city?", shop.schema()).phrases
    assert "which <table> in" in phrases
    assert "in <value> placed" in phrases
    assert "over <number> <table>" in phrases
    assert ", by <column>" in phrases
    assert not any("customer" in p or "paris" in p.casefold() for p in phrases)


@pytest.mark.parametrize("question", ["", "?", "\0\ud800", "'" * 3000, "a " * 5000, "12 12", "VALUE"])
def test_any_question_has_an_expectation(shop: Database, question: str) -> None:
    for chances in expectation().form(Wording(question, shop.schema())).values():
        assert max(chances.values()) <= 0
    assert expectation().form(Wording(question, Schema("sqlite")))


@pytest.mark.parametrize(
    ("question", "aspect", "usual"),
    [
        ("How many customers are there?", "output", "a"),
        ("What are the names of the customers in each country?", "names", "yes"),
        ("List the cities with more than 3 customers.", "having", "yes"),
        ("Show the title of the product with the highest price.", "rank", "first_desc"),
        ("List the titles of all products in ascending order of price.", "rank", "order_asc"),
        ("Which customers have ordered both 'Lamp' and 'Desk'?", "sets", "intersect"),
    ],
)
def test_what_is_usual(shop: Database, question: str, aspect: str, usual: str) -> None:
    chances = expectation().form(Wording(question, shop.schema()))[aspect]
    assert max(chances, key=lambda label: chances[label]) == usual


def test_an_unusual_form_is_said_in_words_and_speaks_against_the_query(shop: Database) -> None:
    question = "List the cities with more than 1 customers."
    right = "SELECT city FROM customers GROUP BY city HAVING COUNT(*) > 1"
    wrong = "SELECT city FROM customers WHERE customer_id > 1"
    assert "unusual_having" not in _evidence(shop, question, right)
    text = "Such wording usually asks to choose among groups; this query was made to choose no groups by size or total."
    assert _evidence(shop, question, wrong)["unusual_having"] == text
    said = next(e for e in score(examine(Query(question, wrong), shop)).evidence if e.name == "unusual_having")
    assert said.supports is False


def test_a_column_that_nothing_suggests_is_named(shop: Database) -> None:
    evidence = _evidence(shop, "What are the names of the customers in France?", "SELECT name, city FROM customers")
    assert evidence["unusual_column"] == "Nothing in the question's wording suggests that what is returned uses city."


def test_a_column_that_the_question_names_is_likelier(shop: Database) -> None:
    schema = shop.schema()
    customers = schema.table("customers")
    assert customers is not None
    wording = Wording("What are the names of the customers in France?", schema)
    name, city = (customers.column(c) for c in ("name", "city"))
    assert name is not None
    assert city is not None
    learned = expectation()
    assert learned.returned(wording, customers, name) > learned.returned(wording, customers, city) + 1


def test_training_finds_what_tells_the_labels_apart_and_is_reproducible() -> None:
    dice = random.Random(1)
    rows = [{w for w in ("each", "most", "the") if dice.random() < 0.5} for _ in range(600)]
    labels = ["group" if "each" in r else "rank" if "most" in r else "plain" for r in rows]
    model = train(rows, labels, least=5)
    assert model == train(rows, labels, least=5)
    chances = model.log_probabilities({"most"})
    assert max(chances, key=lambda label: chances[label]) == "rank"
    assert model.log_probabilities({"each", "most"})["group"] > -0.3
    assert model.log_probabilities({"never seen"}) == model.log_probabilities(set())


def test_what_is_learned_survives_its_file(tmp_path: Path) -> None:
    model = train(
        [{"how many"}, {"how many"}, {"list <table>"}, {"list <table>"}] * 9, ["a", "a", "c", "c"] * 9, least=2
    )
    learned = Expectation({"output": model})
    path = tmp_path / "learned.txt"
    path.write_text(expectation_text(learned, "one\ntwo"), encoding="utf-8")
    assert expectation(path) == learned
    path.write_text("[output] a c\n\t0.5\nhow many\tc much\n", encoding="utf-8")
    expectation.cache_clear()
    with pytest.raises(ValueError, match=r"learned.txt, line 3: expected a phrase and its weights"):
        expectation(path)


def test_the_phrases_that_are_shipped_name_no_data() -> None:
    """Every phrase is shared by questions about many databases: short, and without capitals or quoted values."""
    for model in expectation().models.values():
        for phrase in model.weights:
            assert len(phrase) <= 60
            assert phrase == phrase.lower()
