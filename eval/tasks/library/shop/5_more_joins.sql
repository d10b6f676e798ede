-- More of what a shop's owner asks: groups and their exceptions, sets, conditions on both sides of a join.

-- TASK payment-habits  medium  aggregate, distinct, group-by, having, join, subquery
-- ASK  How many customers have paid with at least three different payment methods, over all their orders? Give one
--      number.
-- GOLD
SELECT COUNT(*)
FROM (
  SELECT o.customer_id
  FROM payments AS p
  JOIN orders AS o ON o.order_id = p.order_id
  GROUP BY o.customer_id
  HAVING COUNT(DISTINCT p.method) >= 3
) AS varied
-- WRONG three payments, perhaps all by card
SELECT COUNT(*)
FROM (
  SELECT o.customer_id
  FROM payments AS p
  JOIN orders AS o ON o.order_id = p.order_id
  GROUP BY o.customer_id
  HAVING COUNT(p.method) >= 3
) AS varied
-- WRONG methods of one order, not of a customer
SELECT COUNT(*)
FROM (
  SELECT p.order_id
  FROM payments AS p
  GROUP BY p.order_id
  HAVING COUNT(DISTINCT p.method) >= 2
) AS varied

-- TASK local-suppliers  medium  logic, group-by, join
-- ASK  How many pieces of products whose supplier sits in the customer's own country were sold in orders that were not
--      cancelled, by country? Give country and pieces, only countries with such sales.
-- GOLD
SELECT c.country, SUM(i.quantity) AS pieces
FROM order_items AS i
JOIN orders AS o ON o.order_id = i.order_id
JOIN customers AS c ON c.customer_id = o.customer_id
JOIN products AS p ON p.product_id = i.product_id
JOIN suppliers AS s ON s.supplier_id = p.supplier_id
WHERE s.country = c.country AND o.status <> 'cancelled'
GROUP BY c.country
-- WRONG suppliers joined by country and not by product: every supplier of the country multiplies each line
SELECT c.country, SUM(i.quantity) AS pieces
FROM order_items AS i
JOIN orders AS o ON o.order_id = i.order_id
JOIN customers AS c ON c.customer_id = o.customer_id
JOIN suppliers AS s ON s.country = c.country
WHERE o.status <> 'cancelled'
GROUP BY c.country
-- WRONG counts lines
SELECT c.country, COUNT(i.quantity) AS pieces
FROM order_items AS i
JOIN orders AS o ON o.order_id = i.order_id
JOIN customers AS c ON c.customer_id = o.customer_id
JOIN products AS p ON p.product_id = i.product_id
JOIN suppliers AS s ON s.supplier_id = p.supplier_id
WHERE s.country = c.country AND o.status <> 'cancelled'
GROUP BY c.country

-- TASK return-rate-by-category  medium  ratio, case, distinct, group-by, join, subquery
-- ASK  What percentage of the orders holding a product of the category was returned, for each category that was in any
--      order of 2023? An order counts once for each category in it; all orders of 2023 count. Give category name and
--      percentage, unrounded.
-- GOLD
WITH held AS (
  SELECT DISTINCT o.order_id, o.status, p.category_id
  FROM orders AS o
  JOIN order_items AS i ON i.order_id = o.order_id
  JOIN products AS p ON p.product_id = i.product_id
  WHERE o.order_date >= '2023-01-01' AND o.order_date < '2024-01-01'
)
SELECT c.name, 100.0 * SUM(CASE WHEN h.status = 'returned' THEN 1 ELSE 0 END) / COUNT(*) AS percent
FROM held AS h
JOIN categories AS c ON c.category_id = h.category_id
GROUP BY c.category_id, c.name
-- WRONG an order with two teas counts twice for tea
SELECT c.name, 100.0 * SUM(CASE WHEN o.status = 'returned' THEN 1 ELSE 0 END) / COUNT(*) AS percent
FROM orders AS o
JOIN order_items AS i ON i.order_id = o.order_id
JOIN products AS p ON p.product_id = i.product_id
JOIN categories AS c ON c.category_id = p.category_id
WHERE o.order_date >= '2023-01-01' AND o.order_date < '2024-01-01'
GROUP BY c.category_id, c.name
-- WRONG percentages of all returned orders
WITH held AS (
  SELECT DISTINCT o.order_id, p.category_id
  FROM orders AS o
  JOIN order_items AS i ON i.order_id = o.order_id
  JOIN products AS p ON p.product_id = i.product_id
  WHERE o.status = 'returned' AND o.order_date >= '2023-01-01' AND o.order_date < '2024-01-01'
)
SELECT
  c.name,
  100.0 * COUNT(*)
    / (SELECT COUNT(*) FROM orders WHERE status = 'returned' AND order_date >= '2023-01-01' AND order_date < '2024-01-01')
  AS percent
FROM held AS h
JOIN categories AS c ON c.category_id = h.category_id
GROUP BY c.category_id, c.name

-- TASK critics-and-fans  medium  case, group-by, having
-- ASK  Which customers have given both a rating of 1 and a rating of 5, for different products? Give customer number and
--      how many reviews they wrote in all.
-- GOLD
SELECT customer_id, COUNT(*) AS reviews
FROM reviews
GROUP BY customer_id
HAVING SUM(CASE WHEN rating = 1 THEN 1 ELSE 0 END) > 0 AND SUM(CASE WHEN rating = 5 THEN 1 ELSE 0 END) > 0
-- WRONG counts only the reviews with 1 and 5
SELECT customer_id, COUNT(*) AS reviews
FROM reviews
WHERE rating IN (1, 5)
GROUP BY customer_id
HAVING COUNT(DISTINCT rating) = 2
-- WRONG one of the two is enough
SELECT customer_id, COUNT(*) AS reviews
FROM reviews
GROUP BY customer_id
HAVING SUM(CASE WHEN rating = 1 OR rating = 5 THEN 1 ELSE 0 END) > 0

-- TASK old-and-new-customers  medium  date, anti-join, aggregate, case, group-by, having, subquery
-- ASK  How many customers ordered in 2023 and in 2025 but not in 2024? Cancelled orders do not count. Give one number.
-- GOLD
SELECT COUNT(*)
FROM (
  SELECT customer_id
  FROM orders
  WHERE status <> 'cancelled'
  GROUP BY customer_id
  HAVING SUM(CASE WHEN order_date < '2024-01-01' THEN 1 ELSE 0 END) > 0
    AND SUM(CASE WHEN order_date >= '2024-01-01' AND order_date < '2025-01-01' THEN 1 ELSE 0 END) = 0
    AND SUM(CASE WHEN order_date >= '2025-01-01' THEN 1 ELSE 0 END) > 0
) AS came_back
-- WRONG no order can be of two years: always 0
SELECT COUNT(DISTINCT customer_id)
FROM orders
WHERE status <> 'cancelled' AND order_date < '2024-01-01' AND order_date >= '2025-01-01'
-- WRONG everyone who has an order outside 2024
SELECT COUNT(DISTINCT customer_id)
FROM orders
WHERE status <> 'cancelled' AND NOT (order_date >= '2024-01-01' AND order_date < '2025-01-01')

-- TASK low-stock-bestsellers  medium  filter, group-by, having, join
-- ASK  Which products that are not discontinued have fewer pieces in stock now than were sold from 1 October to
--      31 December 2025 in orders that were not cancelled? Give product number, stock and pieces sold.
-- GOLD
SELECT p.product_id, p.stock_quantity, SUM(i.quantity) AS pieces
FROM products AS p
JOIN order_items AS i ON i.product_id = p.product_id
JOIN orders AS o ON o.order_id = i.order_id
WHERE NOT p.is_discontinued
  AND o.status <> 'cancelled'
  AND o.order_date >= '2025-10-01' AND o.order_date < '2026-01-01'
GROUP BY p.product_id, p.stock_quantity
HAVING SUM(i.quantity) > p.stock_quantity
-- WRONG adds up the stock once for each line
SELECT p.product_id, SUM(p.stock_quantity) AS stock_quantity, SUM(i.quantity) AS pieces
FROM products AS p
JOIN order_items AS i ON i.product_id = p.product_id
JOIN orders AS o ON o.order_id = i.order_id
WHERE NOT p.is_discontinued
  AND o.status <> 'cancelled'
  AND o.order_date >= '2025-10-01' AND o.order_date < '2026-01-01'
GROUP BY p.product_id
HAVING SUM(i.quantity) > SUM(p.stock_quantity)
-- WRONG the whole year's sales
SELECT p.product_id, p.stock_quantity, SUM(i.quantity) AS pieces
FROM products AS p
JOIN order_items AS i ON i.product_id = p.product_id
JOIN orders AS o ON o.order_id = i.order_id
WHERE NOT p.is_discontinued
  AND o.status <> 'cancelled'
  AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
GROUP BY p.product_id, p.stock_quantity
HAVING SUM(i.quantity) > p.stock_quantity
