"""Small databases, built in a temporary folder, on which queries are scored."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval.databases.base import Database
from eval.databases.factory import open_database

SHOP = """
CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, name TEXT, city TEXT, country TEXT);
CREATE TABLE products (product_id INTEGER PRIMARY KEY, title TEXT, category TEXT, price REAL);
CREATE TABLE orders (order_id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers, ordered_on TEXT);
CREATE TABLE order_lines (
  order_id INTEGER REFERENCES orders, product_id INTEGER REFERENCES products, quantity INTEGER);
CREATE TABLE suppliers (supplier_id INTEGER PRIMARY KEY, company TEXT, phone TEXT);
INSERT INTO customers VALUES (1,'Ada','Paris','France'),(2,'Bo','Lyon','France'),(3,'Cy','Rome','Italy');
INSERT INTO customers VALUES (4,'Di','Oslo','Norway');
INSERT INTO products VALUES (1,'Lamp','light',20),(2,'Desk','wood',150),(3,'Chair','wood',60);
INSERT INTO orders VALUES (1,1,'2024-01-05'),(2,1,'2024-02-01'),(3,3,'2024-02-03');
INSERT INTO order_lines VALUES (1,1,2),(1,2,1),(2,3,4),(3,1,1);
INSERT INTO suppliers VALUES (1,'Woody','1'),(2,'Lumen','2');
"""

SCHOOL = """
CREATE TABLE teacher (teacher_id INTEGER PRIMARY KEY, first_name TEXT, age INTEGER, hometown TEXT);
CREATE TABLE course (course_id INTEGER PRIMARY KEY, title TEXT, credits INTEGER);
CREATE TABLE teaches (teacher_id INTEGER REFERENCES teacher, course_id INTEGER REFERENCES course, year INTEGER);
CREATE TABLE boiler (boiler_id INTEGER PRIMARY KEY, maker TEXT, kilowatts REAL);
INSERT INTO teacher VALUES (1,'Eva',34,'Bath'),(2,'Finn',51,'York'),(3,'Gus',29,'Bath');
INSERT INTO course VALUES (1,'Algebra',4),(2,'Poetry',2),(3,'Physics',6);
INSERT INTO teaches VALUES (1,1,2023),(1,3,2024),(2,2,2024);
INSERT INTO boiler VALUES (1,'Vulcan',20),(2,'Etna',35);
"""


def _built(folder: Path, name: str, script: str) -> Database:
    path = folder / f"{name}.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    return open_database(path)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Database]:
    with _built(tmp_path, "shop", SHOP) as database:
        yield database


@pytest.fixture
def school(tmp_path: Path) -> Iterator[Database]:
    with _built(tmp_path, "school", SCHOOL) as database:
        yield database
