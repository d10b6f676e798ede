"""Each check proves a plain mistake against a query, and nothing against its repair."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval.databases.base import Database
from eval.databases.factory import open_database
from eval.examination import Query, examine
from eval.scoring.contradictions import contradictions
from eval.scoring.evidence.features import unscaled
from eval.scoring.evidence.question_reading import Reading

ZOO = """
CREATE TABLE keepers (keeper_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, birth_date TEXT, city TEXT,
  wage REAL, hired_on TEXT, is_senior TEXT);
CREATE TABLE kinds (kind_id INTEGER PRIMARY KEY, name TEXT, diet TEXT);
CREATE TABLE animals (animal_id INTEGER PRIMARY KEY, kind_id INTEGER REFERENCES kinds, keeper_id INTEGER
  REFERENCES keepers, nick TEXT, age INTEGER, weight REAL, arrived TEXT);
CREATE TABLE tickets (ticket_id INTEGER PRIMARY KEY, sold_on TEXT, price REAL, quantity INTEGER, gate TEXT);
CREATE TABLE visits (visit_id INTEGER PRIMARY KEY, state TEXT, closed_on TEXT);
INSERT INTO visits VALUES (1,'Closed','2024-01-02'),(2,'Open',NULL),(3,'Closed','2024-02-03');
INSERT INTO keepers VALUES (1,'Ada','Berg','1980-02-01','Oslo',30,'2010-04-01','Y'),
  (2,'Bo','Lund','1990-05-01','Bergen',20,'2015-04-01','N'),(3,'Cy','Dahl','1970-06-01','Oslo',25,'2012-01-05','N');
INSERT INTO kinds VALUES (1,'Zebra','plants'),(2,'Lion','meat'),(3,'Otter','fish');
INSERT INTO animals VALUES (1,1,1,'Stripes',4,300,'2019-03-01'),(2,1,2,'Dot',9,280,'2021-03-01'),
  (3,2,2,'Roar',6,190,'2020-07-01'),(4,3,3,'Splash',2,9,'2021-09-01'),(5,3,1,'Drip',3,11,'2022-09-01');
INSERT INTO tickets VALUES (1,'2023-05-01',10,2,'north'),(2,'2023-06-01',12,1,'south'),(3,'2024-05-01',10,4,'north'),
  (4,'2024-06-01',14,2,'south');
"""

PAIRS = [
    ("value_foreign", "How many keepers live in Oslo?",
     "SELECT COUNT(*) FROM keepers WHERE city = 'Oslo' AND hired_on = '2010-04-01'",
     "SELECT COUNT(*) FROM keepers WHERE city = 'Oslo'"),
    ("value_foreign", "List the nicks of all animals",
     "SELECT a.nick FROM animals a JOIN kinds k ON k.kind_id = a.kind_id WHERE k.diet = 'meat'",
     "SELECT nick FROM animals"),
    ("value_foreign", "How many keepers are there?",
     "SELECT COUNT(*) FROM keepers WHERE city LIKE 'B%'",
     "SELECT COUNT(*) FROM keepers"),
    ("value_foreign", "How many keepers live in Oslo?",
     "SELECT COUNT(*) FROM keepers WHERE city = 'Oslo' AND hired_on > '2001-12-31'",
     "SELECT COUNT(*) FROM keepers WHERE city LIKE '%oslo%'"),
    ("value_foreign", "How many keepers were hired recently?",
     "SELECT COUNT(*) FROM keepers WHERE city >= 'B'",
     "SELECT COUNT(*) FROM keepers WHERE hired_on >= '2020-01-01'"),
    ("number_foreign", "How many keepers are there?",
     "SELECT COUNT(*) FROM keepers WHERE keeper_id > 1",
     "SELECT COUNT(*) FROM keepers WHERE keeper_id > 0"),
    ("never_true", "Which keepers live in Oslo?",
     "SELECT first_name, last_name FROM keepers WHERE city = 'Oslo' AND keepers.city = 'Bergen'",
     "SELECT first_name, last_name FROM keepers WHERE city = 'Oslo'"),
    ("idle_condition", "Which first names have keepers in Oslo, but none in Bergen?",
     "SELECT first_name FROM keepers WHERE city = 'Oslo' AND city <> 'Bergen'",
     "SELECT first_name FROM keepers WHERE city = 'Oslo' "
     "AND first_name NOT IN (SELECT first_name FROM keepers WHERE city = 'Bergen')"),
    ("idle_condition", "How many keepers are there, by city?",
     "SELECT COUNT(*) FROM keepers ORDER BY city", "SELECT city, COUNT(*) FROM keepers GROUP BY city ORDER BY city"),
    ("idle_condition", "How many keepers have no animal?",
     "SELECT COUNT(*) FROM keepers k JOIN animals a ON a.keeper_id = k.keeper_id WHERE a.animal_id IS NULL",
     "SELECT COUNT(*) FROM keepers k LEFT JOIN animals a ON a.keeper_id = k.keeper_id WHERE a.animal_id IS NULL"),
    ("name_unused", "How many keepers come from Tromsø?",
     "SELECT COUNT(*) FROM keepers", "SELECT COUNT(*) FROM keepers WHERE city = 'Tromsø'"),
    ("value_named", "How many animals does the keeper Lund have?",
     "SELECT COUNT(*) FROM animals a JOIN keepers k ON k.keeper_id = a.keeper_id",
     "SELECT COUNT(*) FROM animals a JOIN keepers k ON k.keeper_id = a.keeper_id WHERE k.last_name = 'Lund'"),
    # what the question says stands in the name of a column that the query leaves out, and is a value beside
    ("value_named", "How many visits have the state Closed?",
     "SELECT COUNT(*) FROM visits", "SELECT COUNT(*) FROM visits WHERE state = 'Closed'"),
    ("rank_direction_wrong", "Which gate sold the most tickets by total quantity?",
     "SELECT gate, SUM(quantity) AS sold FROM tickets GROUP BY gate ORDER BY sold LIMIT 1",
     "SELECT gate, SUM(quantity) AS sold FROM tickets GROUP BY gate ORDER BY sold DESC LIMIT 1"),
    ("rank_direction_wrong", "Which gates sold the most tickets?",
     "SELECT gate, COUNT(*) FROM tickets GROUP BY gate ORDER BY COUNT(*)",
     "SELECT gate, COUNT(*) FROM tickets GROUP BY gate ORDER BY COUNT(*) DESC"),
    ("number_foreign", "Which kinds have at least two animals?",
     "SELECT k.name FROM kinds k JOIN animals a ON a.kind_id = k.kind_id GROUP BY k.name HAVING COUNT(*) >= 7",
     "SELECT k.name FROM kinds k JOIN animals a ON a.kind_id = k.kind_id GROUP BY k.name HAVING COUNT(*) >= 2"),
    ("year_foreign", "Which animals arrived after 2020?",
     "SELECT nick FROM animals WHERE arrived >= '2020-01-01' AND arrived > '2019-12-31'",
     "SELECT nick FROM animals WHERE arrived >= '2021-01-01'"),
    ("year_unused", "Which gates sold tickets in 2023 but not in 2024?",
     "SELECT gate FROM tickets WHERE sold_on LIKE '2023%' EXCEPT SELECT gate FROM tickets WHERE price > 90",
     "SELECT gate FROM tickets WHERE sold_on LIKE '2023%' EXCEPT SELECT gate FROM tickets WHERE sold_on LIKE '2024%'"),
    ("comparison_flipped", "Which animals are older than 3 and lighter than 200?",
     "SELECT nick FROM animals WHERE age > 3 AND weight > 200",
     "SELECT nick FROM animals WHERE age > 3 AND weight < 200"),
    ("comparison_flipped", "Which animals weigh more than the average?",
     "SELECT nick FROM animals WHERE weight < (SELECT AVG(weight) FROM animals)",
     "SELECT nick FROM animals WHERE weight > (SELECT AVG(weight) FROM animals)"),
    ("rank_from_behind", "The 2 heaviest animals of each kind",
     "SELECT kind_id, nick FROM (SELECT kind_id, nick, RANK() OVER (PARTITION BY kind_id ORDER BY weight DESC) AS n "
     "FROM animals) WHERE n >= 2",
     "SELECT kind_id, nick FROM (SELECT kind_id, nick, RANK() OVER (PARTITION BY kind_id ORDER BY weight DESC) AS n "
     "FROM animals) WHERE n <= 2"),
    ("rank_direction_wrong", "Who is the youngest keeper?",
     "SELECT first_name, last_name FROM keepers ORDER BY birth_date LIMIT 1",
     "SELECT first_name, last_name FROM keepers ORDER BY birth_date DESC LIMIT 1"),
    ("rank_direction_wrong", "Show the 2 heaviest animals",
     "SELECT * FROM (SELECT nick FROM animals ORDER BY weight LIMIT 2)",
     "SELECT * FROM (SELECT nick FROM animals ORDER BY weight DESC LIMIT 2)"),
    ("column_missing", "Show the nick, age and weight of the 2 heaviest animals",
     "SELECT * FROM (SELECT nick, age FROM animals ORDER BY weight DESC LIMIT 2) AS found",
     "SELECT * FROM (SELECT nick, age, weight FROM animals ORDER BY weight DESC LIMIT 2) AS found"),
    ("order_wrong", "List the animals' nicks ordered by nick",
     "SELECT nick FROM animals ORDER BY nick DESC", "SELECT nick FROM animals ORDER BY nick"),
    ("order_wrong", "List the nicks of the animals, sorted from old to young by age",
     "SELECT nick FROM animals ORDER BY age", "SELECT nick FROM animals ORDER BY age DESC"),
    ("superlative_unmet", "How old is the heaviest animal?",
     "SELECT age FROM animals", "SELECT age FROM animals ORDER BY weight DESC LIMIT 1"),
    ("unconditioned", "How many keepers are not senior?",
     "SELECT COUNT(*) FROM keepers", "SELECT COUNT(*) FROM keepers WHERE is_senior = 'N'"),
    ("unconditioned", "keepers that didnt feed anything",
     "SELECT k.first_name, k.last_name FROM keepers k LEFT JOIN animals a ON a.age = k.keeper_id",
     "SELECT k.first_name, k.last_name FROM keepers k LEFT JOIN animals a ON a.age = k.keeper_id WHERE a.nick IS NULL"),
    ("column_missing", "Show the nick, age and weight of every animal",
     "SELECT nick, weight FROM animals", "SELECT nick, age, weight FROM animals"),
    ("column_missing", "Which animals are there? Give each nick and its weight.",
     "SELECT nick FROM animals", "SELECT nick, weight FROM animals"),
    ("half_a_name", "Which keepers live in Oslo?",
     "SELECT first_name FROM keepers WHERE city = 'Oslo'",
     "SELECT first_name, last_name FROM keepers WHERE city = 'Oslo'"),
    ("column_missing", "List the animals with their age, weight and kind_id",
     "SELECT nick, age FROM animals", "SELECT nick, age, weight, kind_id FROM animals"),
    ("column_missing", "Which is the heaviest animal? Return the nick and its age.",
     "SELECT age FROM animals ORDER BY weight DESC LIMIT 1",
     "SELECT nick, age FROM animals ORDER BY weight DESC LIMIT 1"),
    ("group_untold", "weight over the kinds",
     "SELECT AVG(weight) FROM animals GROUP BY kind_id", "SELECT kind_id, AVG(weight) FROM animals GROUP BY kind_id"),
    ("group_untold", "How many animals are there per kind?",
     "SELECT COUNT(*) FROM animals GROUP BY kind_id", "SELECT kind_id, COUNT(*) FROM animals GROUP BY kind_id"),
    ("group_untold", "The heaviest animal of each kind",
     "SELECT a.nick FROM animals a JOIN kinds k ON k.kind_id = a.kind_id WHERE a.weight = "
     "(SELECT MAX(b.weight) FROM animals b WHERE b.kind_id = a.kind_id)",
     "SELECT k.name, a.nick FROM animals a JOIN kinds k ON k.kind_id = a.kind_id WHERE a.weight = "
     "(SELECT MAX(b.weight) FROM animals b WHERE b.kind_id = a.kind_id)"),
    ("figure_untold", "Ticket sales by gate",
     "SELECT gate FROM tickets GROUP BY gate", "SELECT gate, SUM(price * quantity) FROM tickets GROUP BY gate"),
    ("figures_missing", "What are the minimum and maximum weight of the animals?",
     "SELECT MIN(weight) FROM animals", "SELECT MIN(weight), MAX(weight) FROM animals"),
    ("thing_untold", "Which gate sold the most tickets?",
     "SELECT COUNT(*) FROM tickets GROUP BY gate ORDER BY COUNT(*) DESC LIMIT 1",
     "SELECT gate FROM tickets GROUP BY gate ORDER BY COUNT(*) DESC LIMIT 1"),
    ("aggregate_differs", "Revenue of each gate",
     "SELECT gate, MAX(price) FROM tickets GROUP BY gate", "SELECT gate, SUM(price) FROM tickets GROUP BY gate"),
]  # fmt: skip

LEFT_ALONE = [
    ("heavy animals", "SELECT nick FROM animals ORDER BY weight DESC LIMIT 2"),
    # What stands for a word of the question: a flag, an older person's earlier day of birth.
    ("Which keepers are senior?", "SELECT first_name, last_name FROM keepers WHERE is_senior = 'Y'"),
    ("Which keepers were born before 1975 and which after 1985?",
     "SELECT first_name, last_name FROM keepers WHERE birth_date < '1975-01-01' OR birth_date > '1985-12-31'"),
    ("Which animals arrived in 2021 or later?", "SELECT nick FROM animals WHERE arrived >= '2021-01-01'"),
    ("Which animals are not younger than 4?", "SELECT nick FROM animals WHERE age >= 4"),
    ("Who has worked here the longest?", "SELECT first_name, last_name FROM keepers ORDER BY hired_on LIMIT 1"),
    ("What are the first names of the keepers?", "SELECT first_name FROM keepers"),
    ("How many animals of each kind are there? Show the name of the kind.",
     "SELECT k.name, COUNT(*) FROM animals a JOIN kinds k ON k.kind_id = a.kind_id GROUP BY a.kind_id"),
    ("How much does a ticket cost on average at each gate?", "SELECT gate, AVG(price) FROM tickets GROUP BY gate"),
    ("Which tickets were not sold in 2023?", "SELECT ticket_id FROM tickets WHERE strftime('%Y', sold_on) <> '2023'"),
    ("Suppose the lion were sold: how many animals would be left?", "SELECT COUNT(*) - 1 FROM animals"),
]  # fmt: skip


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path: Path = tmp_path_factory.mktemp("zoo") / "zoo.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(ZOO)
    connection.close()
    with open_database(path) as database:
        yield database


def _proved(database: Database, question: str, sql: str) -> set[str]:
    reading = Reading(examine(Query(question, sql), database))
    assert reading.ran, reading.case.result
    return {proof.check for proof in contradictions(reading, unscaled(reading))}


@pytest.mark.parametrize(("check", "question", "wrong", "right"), PAIRS)
def test_a_mistake_is_proved_and_its_repair_is_not(
    zoo: Database, check: str, question: str, wrong: str, right: str
) -> None:
    assert check in _proved(zoo, question, wrong)
    assert _proved(zoo, question, right) == set()


@pytest.mark.parametrize(("question", "sql"), LEFT_ALONE)
def test_what_cannot_be_told_is_left_alone(zoo: Database, question: str, sql: str) -> None:
    assert _proved(zoo, question, sql) == set()
