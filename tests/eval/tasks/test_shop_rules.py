"""What holds in `shop`: each rule is a query for its violations, each planted feature a query that finds it."""

from __future__ import annotations

import sqlite3

import pytest

RULES = {
    "no reference is broken": "SELECT * FROM pragma_foreign_key_check",
    "a line's total is quantity times price": """
        SELECT * FROM order_items WHERE line_total <> quantity * unit_price""",
    "an order's total is the sum of its items, to the cent and without rounding": """
        SELECT o.order_id FROM orders o LEFT JOIN order_items i USING (order_id)
        GROUP BY o.order_id HAVING o.total_amount <> SUM(i.line_total) OR COUNT(i.order_id) = 0""",
    "every amount is a multiple of a quarter": """
        SELECT unit_price FROM order_items WHERE unit_price * 4 <> CAST(unit_price * 4 AS INTEGER)
        UNION ALL SELECT amount FROM payments WHERE amount * 4 <> CAST(amount * 4 AS INTEGER)
        UNION ALL SELECT price FROM products WHERE price * 4 <> CAST(price * 4 AS INTEGER)""",
    "payments never exceed the order": """
        SELECT o.order_id FROM orders o JOIN payments p USING (order_id)
        GROUP BY o.order_id HAVING SUM(p.amount) > o.total_amount""",
    "nobody pays before ordering": """
        SELECT payment_id FROM payments JOIN orders USING (order_id) WHERE payment_date < order_date""",
    "cancelled orders are neither paid nor shipped": """
        SELECT order_id FROM orders WHERE status = 'cancelled'
        AND (shipped_date IS NOT NULL OR order_id IN (SELECT order_id FROM payments))""",
    "nothing ships before it is ordered or arrives before it ships": """
        SELECT order_id FROM orders WHERE shipped_date < order_date OR delivered_date < shipped_date
        OR (delivered_date IS NOT NULL AND shipped_date IS NULL)""",
    "the status says what the dates say": """
        SELECT order_id FROM orders WHERE
        (status IN ('delivered', 'returned')) <> (delivered_date IS NOT NULL)
        OR (status IN ('delivered', 'returned', 'shipped')) <> (shipped_date IS NOT NULL)""",
    "nobody orders before opening an account": """
        SELECT order_id FROM orders JOIN customers USING (customer_id) WHERE order_date < registered_on""",
    "nothing is sold before it is in the shop": """
        SELECT order_item_id FROM order_items JOIN orders USING (order_id) JOIN products USING (product_id)
        WHERE order_date < added_on""",
    "a discontinued product is not sold in 2025": """
        SELECT order_item_id FROM order_items JOIN orders USING (order_id) JOIN products USING (product_id)
        WHERE is_discontinued AND order_date >= '2025-01-01'""",
    "a discontinued product is not in stock": "SELECT * FROM products WHERE is_discontinued AND stock_quantity > 0",
    "a price is today's or last year's": """
        SELECT order_item_id FROM order_items JOIN products USING (product_id) JOIN orders USING (order_id)
        WHERE unit_price > price OR unit_price < price * 0.85
        OR (order_date >= '2025-01-01' AND unit_price <> price)""",
    "reviews come only from buyers, after delivery": """
        SELECT review_id FROM reviews r WHERE NOT EXISTS (
            SELECT 1 FROM orders o JOIN order_items i USING (order_id)
            WHERE o.customer_id = r.customer_id AND i.product_id = r.product_id
            AND r.review_date > o.delivered_date)""",
    "nothing happens after the end of 2025": """
        SELECT order_date FROM orders WHERE MAX(order_date, COALESCE(shipped_date, ''), COALESCE(delivered_date, ''))
        > '2025-12-31' UNION ALL SELECT payment_date FROM payments WHERE payment_date > '2025-12-31'
        UNION ALL SELECT review_date FROM reviews WHERE review_date > '2025-12-31'""",
    "order numbers follow the days": """
        SELECT a.order_id FROM orders a JOIN orders b ON b.order_id = a.order_id + 1
        WHERE b.order_date < a.order_date""",
}

PLANTED = {
    "customers without orders": """
        SELECT 1 FROM customers WHERE customer_id NOT IN (SELECT customer_id FROM orders)""",
    "products never sold": "SELECT 1 FROM products WHERE product_id NOT IN (SELECT product_id FROM order_items)",
    "an empty category": "SELECT 1 FROM categories WHERE category_id NOT IN (SELECT category_id FROM products)",
    "suppliers without an address": "SELECT 1 FROM suppliers WHERE contact_email IS NULL",
    "customers without phone": "SELECT 1 FROM customers WHERE phone IS NULL",
    "customers without birth date": "SELECT 1 FROM customers WHERE birth_date IS NULL",
    "products of unknown weight": "SELECT 1 FROM products WHERE weight_grams IS NULL",
    "reviews without a comment": "SELECT 1 FROM reviews WHERE comment IS NULL",
    "cancelled orders": "SELECT 1 FROM orders WHERE status = 'cancelled'",
    "returned orders": "SELECT 1 FROM orders WHERE status = 'returned'",
    "orders on their way": "SELECT 1 FROM orders WHERE status = 'shipped'",
    "orders not yet shipped": "SELECT 1 FROM orders WHERE status = 'processing'",
    "orders paid in parts": "SELECT 1 FROM payments GROUP BY order_id HAVING COUNT(*) > 1",
    "orders not fully paid": """
        SELECT 1 FROM orders o JOIN payments p USING (order_id) GROUP BY o.order_id
        HAVING SUM(p.amount) < o.total_amount""",
    "namesakes": "SELECT 1 FROM customers GROUP BY first_name, last_name HAVING COUNT(*) > 1",
    "products of the same price": "SELECT 1 FROM products GROUP BY price HAVING COUNT(*) > 1",
    "discontinued products that once sold": """
        SELECT 1 FROM products JOIN order_items USING (product_id) WHERE is_discontinued""",
    "prices that rose in 2025": """
        SELECT 1 FROM order_items JOIN products USING (product_id) WHERE unit_price < price""",
    "names beyond ASCII": "SELECT 1 FROM customers WHERE last_name GLOB '*[^ -~]*'",
    "a quote in a name": "SELECT 1 FROM customers WHERE last_name = 'O''Connor'",
    "a season: December sells at least twice what August sells": """
        SELECT 1 WHERE (SELECT SUM(order_date LIKE '%-12-%') > 2 * SUM(order_date LIKE '%-08-%') FROM orders)""",
    "growth: each year has more orders than the last": """
        SELECT 1 WHERE (SELECT SUM(order_date LIKE '2023%') < SUM(order_date LIKE '2024%')
        AND SUM(order_date LIKE '2024%') < SUM(order_date LIKE '2025%') FROM orders)""",
}


@pytest.mark.parametrize("rule", RULES)
def test_rule_holds(shop: sqlite3.Connection, rule: str) -> None:
    assert shop.execute(RULES[rule]).fetchmany(5) == []


@pytest.mark.parametrize("feature", PLANTED)
def test_planted_feature_is_there(shop: sqlite3.Connection, feature: str) -> None:
    assert shop.execute(PLANTED[feature]).fetchone() is not None


BREAKAGES = {
    "UPDATE orders SET total_amount = total_amount + 0.25 WHERE order_id = 7": (
        "an order's total is the sum of its items, to the cent and without rounding"
    ),
    "UPDATE payments SET amount = amount + 0.25 WHERE payment_id = 7": "payments never exceed the order",
    "UPDATE orders SET shipped_date = DATE(order_date, '-1 day') WHERE status = 'delivered' AND order_id < 9": (
        "nothing ships before it is ordered or arrives before it ships"
    ),
    "UPDATE reviews SET review_date = DATE(review_date, '-90 days')": "reviews come only from buyers, after delivery",
    "DELETE FROM products WHERE product_id = 3": "no reference is broken",
    "UPDATE order_items SET unit_price = unit_price + 0.1 WHERE order_item_id = 2": (
        "every amount is a multiple of a quarter"
    ),
}


@pytest.mark.parametrize("breakage", BREAKAGES)
def test_rule_notices_what_breaks_it(shop: sqlite3.Connection, breakage: str) -> None:
    shop.execute("PRAGMA ignore_check_constraints = ON")
    try:
        assert shop.execute(breakage).rowcount > 0
        assert shop.execute(RULES[BREAKAGES[breakage]]).fetchone() is not None
    finally:
        shop.rollback()


def test_size(shop: sqlite3.Connection) -> None:
    counts = [
        shop.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
        for table in ("customers", "products", "orders", "order_items")
    ]
    assert counts == [480, 86, 3600, 7842]
