"""What holds in `enterprise`: each rule is a query for its violations, each planted feature a query that finds it."""

from __future__ import annotations

import sqlite3
from datetime import date, timedelta

import pytest

_CUSTOMER_FACTS = {
    "fact_orders": "ordered_at",
    "fact_support_tickets": "opened_at",
    "fact_marketing_touches": "touched_at",
    "fact_web_events": "occurred_at",
}
_MOMENTS = {**_CUSTOMER_FACTS, "fact_payments": "paid_at"}
_TENANT_LINKS = [
    ("fact_orders", "dim_customer", "customer_key", "customer_key"),
    ("fact_orders", "dim_store", "store_key", "store_key"),
    ("fact_sales", "fact_orders", "order_id", "order_id"),
    ("fact_sales", "dim_product", "product_key", "product_key"),
    ("fact_sales", "dim_customer", "customer_key", "customer_key"),
    ("fact_sales", "dim_store", "store_key", "store_key"),
    ("fact_sales", "dim_employee", "employee_id", "employee_id"),
    ("fact_sales", "dim_promotion", "promotion_key", "promotion_key"),
    ("fact_payments", "fact_orders", "order_id", "order_id"),
    ("fact_shipments", "fact_orders", "order_id", "order_id"),
    ("fact_returns", "fact_sales", "sale_id", "sale_id"),
    ("fact_inventory", "dim_store", "store_key", "store_key"),
    ("fact_inventory", "dim_product", "product_key", "product_key"),
    ("fact_support_tickets", "dim_customer", "customer_key", "customer_key"),
    ("fact_support_tickets", "fact_orders", "order_id", "order_id"),
    ("fact_support_tickets", "dim_employee", "employee_id", "employee_id"),
    ("fact_marketing_touches", "dim_customer", "customer_key", "customer_key"),
    ("fact_marketing_touches", "dim_promotion", "promotion_key", "promotion_key"),
    ("fact_marketing_touches", "fact_orders", "order_id", "order_id"),
    ("fact_web_events", "dim_customer", "customer_key", "customer_key"),
    ("fact_web_events", "dim_product", "product_key", "product_key"),
    ("fact_web_events", "fact_orders", "order_id", "order_id"),
    ("fact_customer_engagement", "dim_customer", "customer_key", "customer_key"),
    ("dim_employee", "dim_store", "store_key", "store_key"),
    ("dim_employee", "dim_employee", "manager_id", "employee_id"),
    ("bill_of_materials", "dim_product", "parent_product_key", "product_key"),
    ("bill_of_materials", "dim_product", "component_product_key", "product_key"),
]

RULES = {
    "no reference is broken": "SELECT * FROM pragma_foreign_key_check",
    "an order's total is the sum of its sales, without rounding; a cancelled order has neither": """
        SELECT o.order_id FROM fact_orders o LEFT JOIN fact_sales s USING (order_id)
        GROUP BY o.order_id HAVING o.total_amount IS NOT SUM(s.sales_amount)
        OR (o.status = 'cancelled') <> (o.total_amount IS NULL)""",
    "an order counts its pieces": """
        SELECT o.order_id FROM fact_orders o LEFT JOIN fact_sales s USING (order_id)
        GROUP BY o.order_id HAVING o.item_count <> COALESCE(SUM(s.quantity), 0)""",
    "a line repeats its order's day, customer and store": """
        SELECT s.sale_id FROM fact_sales s JOIN fact_orders o USING (order_id)
        WHERE s.date_key <> o.date_key OR s.customer_key <> o.customer_key OR s.store_key <> o.store_key""",
    "every amount is a multiple of a quarter": """
        SELECT sales_amount FROM fact_sales WHERE sales_amount * 4 <> CAST(sales_amount * 4 AS INTEGER)
        UNION ALL SELECT discount_amount FROM fact_sales
        WHERE discount_amount * 4 <> CAST(discount_amount * 4 AS INTEGER)
        UNION ALL SELECT cost_amount FROM fact_sales WHERE cost_amount * 4 <> CAST(cost_amount * 4 AS INTEGER)
        UNION ALL SELECT amount FROM fact_payments WHERE amount * 4 <> CAST(amount * 4 AS INTEGER)
        UNION ALL SELECT refund_amount FROM fact_returns WHERE refund_amount * 4 <> CAST(refund_amount * 4 AS INTEGER)
        UNION ALL SELECT cost FROM fact_marketing_touches WHERE cost * 4 <> CAST(cost * 4 AS INTEGER)""",
    "a discount is the promotion's percentage, rounded down to a quarter": """
        SELECT sale_id FROM fact_sales JOIN dim_promotion USING (promotion_key)
        WHERE discount_amount > quantity * unit_price * discount_percent / 100.0
        OR discount_amount <= quantity * unit_price * discount_percent / 100.0 - 0.25""",
    "promotions are used only in their windows and for their category": """
        SELECT sale_id FROM fact_sales s JOIN dim_promotion p USING (promotion_key) JOIN dim_date USING (date_key)
        JOIN dim_product USING (product_key)
        WHERE full_date NOT BETWEEN start_date AND end_date OR p.category <> dim_product.category""",
    "a touch announces a promotion at most a week before it, never after": """
        SELECT touch_id FROM fact_marketing_touches JOIN dim_promotion USING (promotion_key)
        JOIN dim_date USING (date_key)
        WHERE full_date < DATE(start_date, '-7 days') OR full_date > end_date""",
    "the price of 2025 is the list price": """
        SELECT sale_id FROM fact_sales JOIN dim_product USING (product_key)
        WHERE date_key > 20250000 AND unit_price <> list_price OR unit_price > list_price""",
    "the cost of a line is the product's": """
        SELECT sale_id FROM fact_sales JOIN dim_product USING (product_key)
        WHERE cost_amount <> quantity * unit_cost""",
    "only finished products are sold, while they are on sale": """
        SELECT sale_id FROM fact_sales JOIN dim_product USING (product_key) JOIN dim_date USING (date_key)
        WHERE product_type <> 'finished' OR full_date < launched_on OR full_date > discontinued_on""",
    "stores sell only while open; online orders belong to the online store": """
        SELECT order_id FROM fact_orders JOIN dim_store USING (store_key) JOIN dim_date USING (date_key)
        WHERE full_date < opened_on OR full_date > closed_on OR (channel = 'online') <> (store_type = 'online')""",
    "employees are hired before they sell, sell before they leave, and in their own store": """
        SELECT sale_id FROM fact_sales s JOIN dim_employee e USING (employee_id) JOIN dim_date USING (date_key)
        WHERE full_date < hire_date OR full_date > termination_date OR s.store_key <> e.store_key""",
    "online sales have no seller, others have": """
        SELECT sale_id FROM fact_sales JOIN fact_orders USING (order_id)
        WHERE (channel = 'online') <> (employee_id IS NULL)""",
    "agents are hired before they answer": """
        SELECT ticket_id FROM fact_support_tickets t JOIN dim_employee e USING (employee_id)
        WHERE DATE(opened_at) < hire_date OR department <> 'Support'""",
    "the managers' chain ends at the head of the brand": """
        WITH RECURSIVE chain(employee_id, top, depth) AS (
            SELECT employee_id, employee_id, 0 FROM dim_employee WHERE manager_id IS NULL
            UNION ALL SELECT e.employee_id, top, depth + 1 FROM dim_employee e
            JOIN chain c ON e.manager_id = c.employee_id)
        SELECT employee_id FROM dim_employee WHERE employee_id NOT IN (SELECT employee_id FROM chain)
        UNION ALL SELECT employee_id FROM chain GROUP BY employee_id HAVING COUNT(*) > 1""",
    "every brand has one head": """
        SELECT tenant_id FROM dim_tenant LEFT JOIN dim_employee USING (tenant_id)
        GROUP BY tenant_id HAVING SUM(manager_id IS NULL) <> 1""",
    "payments never exceed the order": """
        SELECT o.order_id FROM fact_orders o JOIN fact_payments p USING (order_id)
        GROUP BY o.order_id HAVING SUM(p.amount) > COALESCE(o.total_amount, 0)""",
    "nobody pays before ordering": """
        SELECT payment_id FROM fact_payments JOIN fact_orders USING (order_id) WHERE paid_at < ordered_at""",
    "nothing ships before it is ordered or arrives before it ships": """
        SELECT shipment_id FROM fact_shipments JOIN fact_orders USING (order_id)
        WHERE shipped_at <= ordered_at OR delivered_at <= shipped_at""",
    "cancelled orders and those of the shop counter are not shipped": """
        SELECT shipment_id FROM fact_shipments JOIN fact_orders USING (order_id)
        WHERE channel = 'in_store' OR fact_orders.status IN ('cancelled', 'processing')""",
    "the status of an order says where its parcel is": """
        SELECT o.order_id FROM fact_orders o LEFT JOIN fact_shipments s USING (order_id)
        WHERE o.channel <> 'in_store' AND o.status <> 'cancelled' AND o.status <>
        CASE s.status WHEN 'delivered' THEN 'completed' WHEN 'in_transit' THEN 'shipped' WHEN 'lost' THEN 'shipped'
        ELSE 'processing' END""",
    "the keys of a shipment's days are those of its moments": """
        SELECT shipment_id FROM fact_shipments s JOIN dim_date a ON a.date_key = shipped_date_key
        LEFT JOIN dim_date b ON b.date_key = delivered_date_key
        WHERE DATE(shipped_at) <> a.full_date OR DATE(delivered_at) IS NOT b.full_date""",
    "returns follow the arrival, and never exceed what was bought and paid": """
        SELECT return_id FROM fact_returns r JOIN fact_sales s USING (sale_id)
        JOIN dim_date d ON d.date_key = r.date_key JOIN fact_orders USING (order_id)
        LEFT JOIN fact_shipments p USING (order_id)
        WHERE r.quantity > s.quantity OR refund_amount > sales_amount
        OR full_date <= DATE(COALESCE(delivered_at, ordered_at)) OR (channel <> 'in_store' AND delivered_at IS NULL)""",
    "a customer's versions do not overlap and leave no gap": """
        SELECT a.customer_key FROM dim_customer a JOIN dim_customer b
        ON a.customer_id = b.customer_id AND a.customer_key <> b.customer_key
        WHERE a.valid_from <= b.valid_from AND (a.valid_to IS NULL OR a.valid_to >= b.valid_from)
        UNION ALL SELECT customer_key FROM (SELECT customer_key, valid_to, LEAD(valid_from) OVER (
            PARTITION BY customer_id ORDER BY valid_from) AS following FROM dim_customer)
        WHERE following <> DATE(valid_to, '+1 day')""",
    "exactly one version of a customer is current, and it is the open one": """
        SELECT customer_id FROM dim_customer GROUP BY customer_id HAVING SUM(is_current) <> 1
        UNION ALL SELECT customer_id FROM dim_customer WHERE is_current <> (valid_to IS NULL)""",
    "a new version of a customer differs from the last": """
        SELECT a.customer_key FROM dim_customer a JOIN dim_customer b USING (customer_id)
        WHERE b.valid_from = DATE(a.valid_to, '+1 day') AND a.city = b.city AND a.loyalty_tier = b.loyalty_tier
        AND a.segment = b.segment""",
    "the bill of materials has no cycle": """
        WITH RECURSIVE inside(top, part) AS (
            SELECT parent_product_key, component_product_key FROM bill_of_materials
            UNION SELECT top, component_product_key FROM inside JOIN bill_of_materials ON parent_product_key = part)
        SELECT top FROM inside WHERE top = part""",
    "what is made costs what its parts cost": """
        SELECT p.product_key FROM dim_product p JOIN bill_of_materials b ON b.parent_product_key = p.product_key
        JOIN dim_product c ON c.product_key = b.component_product_key
        GROUP BY p.product_key HAVING p.unit_cost <> SUM(b.quantity * c.unit_cost)""",
    "assemblies have parts, components have none": """
        SELECT product_key FROM dim_product WHERE (product_type = 'assembly' AND product_key NOT IN (
            SELECT parent_product_key FROM bill_of_materials)) OR (product_type = 'component' AND product_key IN (
            SELECT parent_product_key FROM bill_of_materials))""",
    "stock closes at opening plus received less sold and is never negative": """
        SELECT inventory_id FROM fact_inventory WHERE closing_quantity < 0 OR
        closing_quantity <> opening_quantity + received_quantity - sold_quantity""",
    "a month opens with what the last one closed with": """
        SELECT inventory_id FROM (SELECT inventory_id, opening_quantity, LAG(closing_quantity, 1, 0) OVER (
            PARTITION BY store_key, product_key ORDER BY date_key) AS before FROM fact_inventory)
        WHERE opening_quantity <> before""",
    "stock sold is what the sales say": """
        SELECT place FROM (
            SELECT store_key || '/' || product_key || '/' || date_key / 100 AS place, SUM(sold_quantity) AS sold
            FROM fact_inventory GROUP BY 1
            UNION ALL SELECT store_key || '/' || product_key || '/' || date_key / 100, -SUM(quantity)
            FROM fact_sales GROUP BY 1) GROUP BY place HAVING SUM(sold) <> 0""",
    "a visit belongs to one customer, one brand and one device": """
        SELECT session_id FROM fact_web_events GROUP BY session_id
        HAVING COUNT(DISTINCT tenant_id) + COUNT(DISTINCT COALESCE(customer_key, 0)) + COUNT(DISTINCT device) <> 3""",
    "a visit goes from view to cart to checkout to purchase": """
        SELECT session_id FROM (SELECT session_id, event_type, LAG(event_type) OVER (
            PARTITION BY session_id ORDER BY occurred_at, event_id) AS before FROM fact_web_events)
        WHERE event_type || COALESCE(before, '') NOT IN (
            'view', 'viewview', 'cartview', 'cartcart', 'checkoutcart', 'purchasecheckout')""",
    "every online order is one purchase, at that moment, by that customer": """
        SELECT o.order_id FROM fact_orders o LEFT JOIN fact_web_events e USING (order_id)
        GROUP BY o.order_id HAVING COUNT(e.event_id) <> (o.channel = 'online')
        OR o.ordered_at <> MAX(e.occurred_at) OR o.customer_key <> MAX(e.customer_key)""",
    "what was bought was in the cart": """
        SELECT s.sale_id FROM fact_web_events e JOIN fact_sales s USING (order_id) WHERE NOT EXISTS (
            SELECT 1 FROM fact_web_events c WHERE c.session_id = e.session_id AND c.event_type = 'cart'
            AND c.product_key = s.product_key)""",
    "a touch that led to an order was clicked within the week before it, by the same customer": """
        SELECT touch_id FROM fact_marketing_touches t JOIN fact_orders o USING (order_id)
        JOIN dim_customer a ON a.customer_key = t.customer_key JOIN dim_customer b ON b.customer_key = o.customer_key
        WHERE NOT was_clicked OR a.customer_id <> b.customer_id OR touched_at >= ordered_at
        OR touched_at < DATETIME(ordered_at, '-7 days')""",
    "a ticket about an order is its customer's and comes after it": """
        SELECT ticket_id FROM fact_support_tickets t JOIN fact_orders o USING (order_id)
        JOIN dim_customer a ON a.customer_key = t.customer_key JOIN dim_customer b ON b.customer_key = o.customer_key
        WHERE opened_at <= ordered_at OR a.customer_id <> b.customer_id""",
    "a ticket's status says what its moments say": """
        SELECT ticket_id FROM fact_support_tickets WHERE (status = 'resolved') <> (resolved_at IS NOT NULL)
        OR (status = 'open') <> (first_response_at IS NULL) OR (employee_id IS NULL) <> (first_response_at IS NULL)""",
    "engagement counts the web events": """
        SELECT customer_key, month FROM (
            SELECT customer_key, date_key / 100 AS month, web_sessions AS n, page_views AS v, purchases AS p
            FROM fact_customer_engagement
            UNION ALL SELECT customer_key, date_key / 100, -COUNT(DISTINCT session_id), -SUM(event_type = 'view'),
            -SUM(event_type = 'purchase') FROM fact_web_events WHERE customer_key IS NOT NULL GROUP BY 1, 2)
        GROUP BY 1, 2 HAVING SUM(n) <> 0 OR SUM(v) <> 0 OR SUM(p) <> 0""",
    "engagement counts the touches and tickets": """
        SELECT customer_key, month FROM (
            SELECT customer_key, date_key / 100 AS month, marketing_touches AS n, marketing_clicks AS c,
            support_tickets AS t FROM fact_customer_engagement
            UNION ALL SELECT customer_key, date_key / 100, -COUNT(*), -SUM(was_clicked), 0
            FROM fact_marketing_touches GROUP BY 1, 2
            UNION ALL SELECT customer_key, date_key / 100, 0, 0, -COUNT(*) FROM fact_support_tickets GROUP BY 1, 2)
        GROUP BY 1, 2 HAVING SUM(n) <> 0 OR SUM(c) <> 0 OR SUM(t) <> 0""",
    "the feed names a warehouse order wherever it names an order": """
        SELECT feed_row_id FROM stg_order_feed
        WHERE order_ref IS NOT NULL AND CAST(order_ref AS INTEGER) NOT IN (SELECT order_id FROM fact_orders)""",
    "an order of the feed is taken in once": """
        SELECT order_ref FROM stg_order_feed WHERE processed_on IS NOT NULL GROUP BY order_ref HAVING COUNT(*) > 1""",
} | {
    f"{table}: the date key is the day of {moment}": f"""
        SELECT * FROM {table} JOIN dim_date USING (date_key) WHERE full_date <> DATE({moment})"""
    for table, moment in _MOMENTS.items()
} | {
    f"{table}: nothing happens before 2023 or after 2025": f"""
        SELECT * FROM {table} WHERE {moment} < '2023-01-01' OR {moment} > '2025-12-31 23:59:59'"""
    for table, moment in _MOMENTS.items()
} | {
    f"{table}: the customer's version is the one of that day": f"""
        SELECT * FROM {table} JOIN dim_customer USING (customer_key)
        WHERE DATE({moment}) < valid_from OR DATE({moment}) > valid_to"""
    for table, moment in _CUSTOMER_FACTS.items()
} | {
    f"tenants are separate: {table}.{column}": f"""
        SELECT 1 FROM {table} a JOIN {target} b ON a.{column} = b.{key} WHERE a.tenant_id <> b.tenant_id"""
    for table, target, column, key in _TENANT_LINKS
}  # fmt: skip

PLANTED = {
    "customers with several versions": "SELECT 1 FROM dim_customer GROUP BY customer_id HAVING COUNT(*) = 3",
    "customers who never order": """
        SELECT 1 FROM dim_customer c WHERE is_current AND NOT EXISTS (SELECT 1 FROM fact_orders
        JOIN dim_customer v USING (customer_key) WHERE v.customer_id = c.customer_id)""",
    "customers without an address": "SELECT 1 FROM dim_customer WHERE email IS NULL",
    "finished products never sold": """
        SELECT 1 FROM dim_product WHERE product_type = 'finished'
        AND product_key NOT IN (SELECT product_key FROM fact_sales)""",
    "a promotion planned and not yet used": "SELECT 1 FROM dim_promotion WHERE start_date > '2025-12-31'",
    "a store opened on the way": "SELECT 1 FROM dim_store WHERE opened_on > '2024-01-01'",
    "a store closed": "SELECT 1 FROM dim_store WHERE closed_on IS NOT NULL",
    "discontinued products that once sold": """
        SELECT 1 FROM dim_product JOIN fact_sales USING (product_key) WHERE discontinued_on IS NOT NULL""",
    "employees who left and somebody who took their seat": """
        SELECT 1 FROM dim_employee a JOIN dim_employee b USING (store_key)
        WHERE b.hire_date = DATE(a.termination_date, '+8 days')""",
    "tickets that nobody has answered": "SELECT 1 FROM fact_support_tickets WHERE status = 'open'",
    "cancelled orders": "SELECT 1 FROM fact_orders WHERE status = 'cancelled'",
    "orders not fully paid": """
        SELECT 1 FROM fact_orders o LEFT JOIN fact_payments p USING (order_id) GROUP BY o.order_id
        HAVING o.total_amount > COALESCE(SUM(p.amount), 0)""",
    "orders paid in parts": "SELECT 1 FROM fact_payments GROUP BY order_id HAVING COUNT(*) = 3",
    "lost parcels": "SELECT 1 FROM fact_shipments WHERE status = 'lost'",
    "returns without a reason": "SELECT 1 FROM fact_returns WHERE reason IS NULL",
    "stock that ran out": "SELECT 1 FROM fact_inventory WHERE closing_quantity = 0",
    "carts left behind": """
        SELECT 1 FROM fact_web_events GROUP BY session_id HAVING SUM(event_type = 'cart') > 0
        AND SUM(event_type = 'purchase') = 0""",
    "visitors not signed in": "SELECT 1 FROM fact_web_events WHERE customer_key IS NULL",
    "a bill of materials of four levels": """
        SELECT 1 FROM bill_of_materials a JOIN bill_of_materials b ON b.parent_product_key = a.component_product_key
        JOIN bill_of_materials c ON c.parent_product_key = b.component_product_key""",
    "feed rows sent twice": "SELECT 1 FROM stg_order_feed GROUP BY order_ref HAVING COUNT(*) > 1",
    "feed rows that came late": """
        SELECT 1 FROM stg_order_feed WHERE order_date_text LIKE '____-__-__'
        AND DATE(loaded_at) > DATE(order_date_text, '+3 days')""",
    "feed rows of unknown customers": """
        SELECT 1 FROM stg_order_feed WHERE customer_ref NOT IN (SELECT customer_id FROM dim_customer)""",
    "feed rows without an order": "SELECT 1 FROM stg_order_feed WHERE order_ref IS NULL",
    "feed rows without a customer": "SELECT 1 FROM stg_order_feed WHERE customer_ref IS NULL",
    "feed dates in three formats": """
        SELECT 1 WHERE (SELECT SUM(order_date_text LIKE '____-__-__') > 0 AND SUM(order_date_text LIKE '__/__/____') > 0
        AND SUM(order_date_text LIKE '__-__-__') > 0 FROM stg_order_feed)""",
    "feed amounts in six guises": """
        SELECT 1 WHERE (SELECT SUM(amount_text LIKE '%,%') > 0 AND SUM(amount_text LIKE 'EUR %') > 0
        AND SUM(amount_text LIKE '-%') > 0 AND SUM(amount_text IS NULL) > 0 AND SUM(amount_text = '') > 0
        AND SUM(amount_text = 'n/a') > 0 FROM stg_order_feed)""",
    "a feed status in capitals with a blank behind it": "SELECT 1 FROM stg_order_feed WHERE status_text = 'OK '",
    "feed codes in lower case with blanks": "SELECT 1 FROM stg_order_feed WHERE tenant_code LIKE ' nfo '",
    "feed rows not yet taken in": "SELECT 1 FROM stg_order_feed WHERE processed_on IS NULL",
}


@pytest.mark.parametrize("rule", RULES)
def test_rule_holds(enterprise: sqlite3.Connection, rule: str) -> None:
    assert enterprise.execute(RULES[rule]).fetchmany(5) == []


@pytest.mark.parametrize("feature", PLANTED)
def test_planted_feature_is_there(enterprise: sqlite3.Connection, feature: str) -> None:
    assert enterprise.execute(PLANTED[feature]).fetchone() is not None


BREAKAGES = {
    "UPDATE fact_orders SET total_amount = total_amount + 0.25 WHERE order_id = 41": (
        "an order's total is the sum of its sales, without rounding; a cancelled order has neither"
    ),
    "UPDATE dim_customer SET valid_to = DATE(valid_to, '+1 day') WHERE customer_key = ("
    "SELECT MIN(customer_key) FROM dim_customer WHERE NOT is_current)": (
        "a customer's versions do not overlap and leave no gap"
    ),
    "UPDATE dim_employee SET hire_date = '2025-12-30' WHERE employee_id = (SELECT MAX(employee_id) FROM fact_sales)": (
        "employees are hired before they sell, sell before they leave, and in their own store"
    ),
    "UPDATE dim_employee SET manager_id = employee_id + 1 WHERE manager_id IS NULL AND tenant_id = 1": (
        "the managers' chain ends at the head of the brand"
    ),
    "UPDATE bill_of_materials SET component_product_key = (SELECT b.parent_product_key FROM bill_of_materials b "
    "WHERE b.component_product_key = bill_of_materials.parent_product_key) WHERE rowid = ("
    "SELECT MIN(rowid) FROM bill_of_materials WHERE parent_product_key IN ("
    "SELECT component_product_key FROM bill_of_materials))": "the bill of materials has no cycle",
    "UPDATE dim_promotion SET end_date = start_date": (
        "promotions are used only in their windows and for their category"
    ),
    "UPDATE fact_sales SET quantity = quantity + 1 WHERE sale_id = 77": "stock sold is what the sales say",
    "DELETE FROM fact_web_events WHERE event_type = 'checkout' AND session_id = 3": (
        "a visit goes from view to cart to checkout to purchase"
    ),
    "UPDATE fact_payments SET amount = amount + 0.25 WHERE payment_id = 9": "payments never exceed the order",
    "UPDATE fact_sales SET product_key = (SELECT MAX(product_key) FROM dim_product) "
    "WHERE sale_id = 5 AND tenant_id < 3": ("tenants are separate: fact_sales.product_key"),
    "DELETE FROM fact_marketing_touches WHERE touch_id = 8": "engagement counts the touches and tickets",
    "DELETE FROM dim_store WHERE store_key = 2": "no reference is broken",
}


@pytest.mark.parametrize("breakage", BREAKAGES)
def test_rule_notices_what_breaks_it(enterprise: sqlite3.Connection, breakage: str) -> None:
    enterprise.execute("PRAGMA ignore_check_constraints = ON")
    try:
        assert enterprise.execute(breakage).rowcount > 0
        assert enterprise.execute(RULES[BREAKAGES[breakage]]).fetchone() is not None
    finally:
        enterprise.rollback()


def test_date_dimension_is_complete_and_right(enterprise: sqlite3.Connection) -> None:
    result = enterprise.execute("SELECT * FROM dim_date ORDER BY full_date").fetchall()
    days = [date(2022, 1, 1) + timedelta(days=n) for n in range(len(result))]
    assert days[-1] == date(2026, 12, 31)
    for day, row in zip(days, result, strict=True):
        assert row[:11] == (
            int(day.strftime("%Y%m%d")),
            day.isoformat(),
            day.year,
            {1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 2, 7: 3, 8: 3, 9: 3, 10: 4, 11: 4, 12: 4}[day.month],
            day.month,
            day.strftime("%B"),
            day.day,
            day.isoweekday(),
            day.strftime("%A"),
            day.isocalendar()[1],
            int(day.strftime("%A") in ("Saturday", "Sunday")),
        )
        fiscal = {7: 1, 8: 1, 9: 1, 10: 2, 11: 2, 12: 2, 1: 3, 2: 3, 3: 3, 4: 4, 5: 4, 6: 4}[day.month]
        assert row[12:] == (day.year + 1 if fiscal <= 2 else day.year, fiscal)
        assert (row[11] is not None) == ((day.month, day.day) in ((1, 1), (5, 1), (12, 25), (12, 26)))


def test_there_are_nineteen_tables_with_keys_checks_and_indexes(enterprise: sqlite3.Connection) -> None:
    made = enterprise.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ).fetchall()
    assert len(made) == 19
    assert all("PRIMARY KEY" in sql for _, sql in made)
    linked = {name for name, sql in made if "FOREIGN KEY" in sql}
    assert {name for name, _ in made} - linked == {"dim_tenant", "dim_date", "stg_order_feed"}
    indexed = enterprise.execute("SELECT COUNT(DISTINCT tbl_name) FROM sqlite_master WHERE type = 'index'").fetchone()
    assert indexed == (19,)


def test_size(enterprise: sqlite3.Connection) -> None:
    names = [row[0] for row in enterprise.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    counts = {name: enterprise.execute(f"SELECT COUNT(*) FROM {name}").fetchone()[0] for name in names}
    assert 200_000 <= sum(counts.values()) <= 400_000
    assert counts["fact_orders"] == 16_300
