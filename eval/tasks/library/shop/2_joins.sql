-- Several tables of the shop: join paths, rows that a join repeats or drops, groups, sets.
-- "Revenue" is the sum of line totals (or order totals) of orders that were not cancelled; each question says so.

-- TASK category-revenue-2024  medium  date, group-by, join
-- ASK  What was the revenue of each category in 2024, by the day of the order and without cancelled orders? Leave out
--      categories that sold nothing. Give category name and revenue, the highest revenue first.
-- GOLD
SELECT c.name, SUM(i.line_total) AS revenue
FROM categories AS c
JOIN products AS p ON p.category_id = c.category_id
JOIN order_items AS i ON i.product_id = p.product_id
JOIN orders AS o ON o.order_id = i.order_id
WHERE o.status <> 'cancelled' AND o.order_date >= '2024-01-01' AND o.order_date < '2025-01-01'
GROUP BY c.category_id, c.name
ORDER BY revenue DESC
-- WRONG adds the total of the whole order once for each of its lines
SELECT c.name, SUM(o.total_amount) AS revenue
FROM categories AS c
JOIN products AS p ON p.category_id = c.category_id
JOIN order_items AS i ON i.product_id = p.product_id
JOIN orders AS o ON o.order_id = i.order_id
WHERE o.status <> 'cancelled' AND o.order_date >= '2024-01-01' AND o.order_date < '2025-01-01'
GROUP BY c.category_id, c.name
ORDER BY revenue DESC
-- WRONG today's price instead of the price on the day of the order
SELECT c.name, SUM(i.quantity * p.price) AS revenue
FROM categories AS c
JOIN products AS p ON p.category_id = c.category_id
JOIN order_items AS i ON i.product_id = p.product_id
JOIN orders AS o ON o.order_id = i.order_id
WHERE o.status <> 'cancelled' AND o.order_date >= '2024-01-01' AND o.order_date < '2025-01-01'
GROUP BY c.category_id, c.name
ORDER BY revenue DESC
-- WRONG cancelled orders keep their items and count here
SELECT c.name, SUM(i.line_total) AS revenue
FROM categories AS c
JOIN products AS p ON p.category_id = c.category_id
JOIN order_items AS i ON i.product_id = p.product_id
JOIN orders AS o ON o.order_id = i.order_id
WHERE o.order_date >= '2024-01-01' AND o.order_date < '2025-01-01'
GROUP BY c.category_id, c.name
ORDER BY revenue DESC

-- TASK all-categories-product-count  medium  null, group-by, join, outer-join
-- ASK  How many products that are not discontinued does each category have? List every category, also one without
--      products, with 0. Give category name and number.
-- GOLD
SELECT c.name, COUNT(p.product_id) AS products
FROM categories AS c
LEFT JOIN products AS p ON p.category_id = c.category_id AND NOT p.is_discontinued
GROUP BY c.category_id, c.name
-- WRONG COUNT(*) counts the empty row of a category without products
SELECT c.name, COUNT(*) AS products
FROM categories AS c
LEFT JOIN products AS p ON p.category_id = c.category_id AND NOT p.is_discontinued
GROUP BY c.category_id, c.name
-- WRONG the condition in WHERE drops the category without products
SELECT c.name, COUNT(p.product_id) AS products
FROM categories AS c
LEFT JOIN products AS p ON p.category_id = c.category_id
WHERE NOT p.is_discontinued
GROUP BY c.category_id, c.name

-- TASK products-not-sold-2025  medium  anti-join, date, correlated, join, subquery
-- ASK  Which products that are not discontinued were in no order of 2025? Orders that were cancelled do not count as
--      sales. Give product number and name.
-- GOLD
SELECT p.product_id, p.name
FROM products AS p
WHERE NOT p.is_discontinued
  AND NOT EXISTS (
    SELECT 1
    FROM order_items AS i
    JOIN orders AS o ON o.order_id = i.order_id
    WHERE i.product_id = p.product_id
      AND o.status <> 'cancelled'
      AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
  )
-- WRONG discontinued products are in the list
SELECT p.product_id, p.name
FROM products AS p
WHERE NOT EXISTS (
    SELECT 1
    FROM order_items AS i
    JOIN orders AS o ON o.order_id = i.order_id
    WHERE i.product_id = p.product_id
      AND o.status <> 'cancelled'
      AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
  )
-- WRONG the products that have some order in another year
SELECT DISTINCT p.product_id, p.name
FROM products AS p
JOIN order_items AS i ON i.product_id = p.product_id
JOIN orders AS o ON o.order_id = i.order_id
WHERE NOT p.is_discontinued AND o.status <> 'cancelled' AND o.order_date < '2025-01-01'

-- TASK idle-customers-by-country  medium  anti-join, group-by, join, outer-join
-- ASK  For each country that has any, how many customers registered before 1 January 2024 never placed an order?
--      Give country and number.
-- GOLD
SELECT c.country, COUNT(*) AS customers
FROM customers AS c
LEFT JOIN orders AS o ON o.customer_id = c.customer_id
WHERE o.order_id IS NULL AND c.registered_on < '2024-01-01'
GROUP BY c.country
-- WRONG counts the orders of those who did order
SELECT c.country, COUNT(*) AS customers
FROM customers AS c
JOIN orders AS o ON o.customer_id = c.customer_id
WHERE c.registered_on < '2024-01-01'
GROUP BY c.country
-- WRONG the day of registration is ignored
SELECT c.country, COUNT(*) AS customers
FROM customers AS c
LEFT JOIN orders AS o ON o.customer_id = c.customer_id
WHERE o.order_id IS NULL
GROUP BY c.country

-- TASK ordered-and-paid-by-year  medium  fan-out, date, group-by, join, outer-join, subquery
-- ASK  For the orders of each year (year of the order as text, like 2024) that were not cancelled: what is the sum of
--      their totals, and how much was paid for them, whenever it was paid? Give year, ordered and paid.
-- GOLD
WITH paid AS (
  SELECT order_id, SUM(amount) AS amount
  FROM payments
  GROUP BY order_id
)
SELECT SUBSTR(CAST(o.order_date AS TEXT), 1, 4) AS year, SUM(o.total_amount) AS ordered, SUM(p.amount) AS paid
FROM orders AS o
LEFT JOIN paid AS p ON p.order_id = o.order_id
WHERE o.status <> 'cancelled'
GROUP BY SUBSTR(CAST(o.order_date AS TEXT), 1, 4)
-- WRONG an order paid in two parts is added twice
SELECT SUBSTR(CAST(o.order_date AS TEXT), 1, 4) AS year, SUM(o.total_amount) AS ordered, SUM(p.amount) AS paid
FROM orders AS o
LEFT JOIN payments AS p ON p.order_id = o.order_id
WHERE o.status <> 'cancelled'
GROUP BY SUBSTR(CAST(o.order_date AS TEXT), 1, 4)
-- WRONG orders that nobody has paid yet are dropped
WITH paid AS (
  SELECT order_id, SUM(amount) AS amount
  FROM payments
  GROUP BY order_id
)
SELECT SUBSTR(CAST(o.order_date AS TEXT), 1, 4) AS year, SUM(o.total_amount) AS ordered, SUM(p.amount) AS paid
FROM orders AS o
JOIN paid AS p ON p.order_id = o.order_id
WHERE o.status <> 'cancelled'
GROUP BY SUBSTR(CAST(o.order_date AS TEXT), 1, 4)

-- TASK average-order-by-country  medium  fan-out, correlated, group-by, join, subquery
-- ASK  What is the average order total of the customers of each country, over orders of coffee drinkers only: orders
--      with at least one product of the category Coffee? Leave out cancelled orders. Give country and average.
-- GOLD
SELECT c.country, AVG(o.total_amount) AS average_total
FROM orders AS o
JOIN customers AS c ON c.customer_id = o.customer_id
WHERE o.status <> 'cancelled'
  AND EXISTS (
    SELECT 1
    FROM order_items AS i
    JOIN products AS p ON p.product_id = i.product_id
    JOIN categories AS g ON g.category_id = p.category_id
    WHERE i.order_id = o.order_id AND g.name = 'Coffee'
  )
GROUP BY c.country
-- WRONG an order with two coffees counts twice
SELECT c.country, AVG(o.total_amount) AS average_total
FROM orders AS o
JOIN customers AS c ON c.customer_id = o.customer_id
JOIN order_items AS i ON i.order_id = o.order_id
JOIN products AS p ON p.product_id = i.product_id
JOIN categories AS g ON g.category_id = p.category_id
WHERE o.status <> 'cancelled' AND g.name = 'Coffee'
GROUP BY c.country
-- WRONG averages the coffee lines, not the orders
SELECT c.country, AVG(i.line_total) AS average_total
FROM orders AS o
JOIN customers AS c ON c.customer_id = o.customer_id
JOIN order_items AS i ON i.order_id = o.order_id
JOIN products AS p ON p.product_id = i.product_id
JOIN categories AS g ON g.category_id = p.category_id
WHERE o.status <> 'cancelled' AND g.name = 'Coffee'
GROUP BY c.country

-- TASK coffee-and-tea-buyers  medium  semi-join, aggregate, join, set-operation, subquery
-- ASK  How many customers bought something of the category Coffee and something of the category Tea, not necessarily in
--      the same order? Cancelled orders do not count. Give one number.
-- GOLD
SELECT COUNT(*)
FROM (
  SELECT o.customer_id
  FROM orders AS o
  JOIN order_items AS i ON i.order_id = o.order_id
  JOIN products AS p ON p.product_id = i.product_id
  JOIN categories AS c ON c.category_id = p.category_id
  WHERE o.status <> 'cancelled' AND c.name = 'Coffee'
  INTERSECT
  SELECT o.customer_id
  FROM orders AS o
  JOIN order_items AS i ON i.order_id = o.order_id
  JOIN products AS p ON p.product_id = i.product_id
  JOIN categories AS c ON c.category_id = p.category_id
  WHERE o.status <> 'cancelled' AND c.name = 'Tea'
) AS both_kinds
-- WRONG one or the other is enough
SELECT COUNT(DISTINCT o.customer_id)
FROM orders AS o
JOIN order_items AS i ON i.order_id = o.order_id
JOIN products AS p ON p.product_id = i.product_id
JOIN categories AS c ON c.category_id = p.category_id
WHERE o.status <> 'cancelled' AND c.name IN ('Coffee', 'Tea')
-- WRONG both in one order
SELECT COUNT(DISTINCT o.customer_id)
FROM orders AS o
JOIN order_items AS i ON i.order_id = o.order_id
JOIN products AS p ON p.product_id = i.product_id
JOIN categories AS c ON c.category_id = p.category_id
JOIN order_items AS i2 ON i2.order_id = o.order_id
JOIN products AS p2 ON p2.product_id = i2.product_id
JOIN categories AS c2 ON c2.category_id = p2.category_id
WHERE o.status <> 'cancelled' AND c.name = 'Coffee' AND c2.name = 'Tea'

-- TASK supplier-share-2025  medium  ratio, group-by, join, subquery
-- ASK  What share of the revenue of 2025, in percent, does each supplier's goods bring in? Leave out cancelled orders
--      and suppliers without sales in 2025. Give supplier name and percentage, unrounded.
-- GOLD
WITH sold AS (
  SELECT p.supplier_id, SUM(i.line_total) AS revenue
  FROM order_items AS i
  JOIN orders AS o ON o.order_id = i.order_id
  JOIN products AS p ON p.product_id = i.product_id
  WHERE o.status <> 'cancelled' AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
  GROUP BY p.supplier_id
)
SELECT s.name, 100.0 * sold.revenue / (SELECT SUM(revenue) FROM sold) AS percent
FROM sold
JOIN suppliers AS s ON s.supplier_id = sold.supplier_id
-- WRONG divides by the revenue of all years
WITH sold AS (
  SELECT p.supplier_id, SUM(i.line_total) AS revenue
  FROM order_items AS i
  JOIN orders AS o ON o.order_id = i.order_id
  JOIN products AS p ON p.product_id = i.product_id
  WHERE o.status <> 'cancelled' AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
  GROUP BY p.supplier_id
)
SELECT s.name, 100.0 * sold.revenue / (SELECT SUM(line_total) FROM order_items) AS percent
FROM sold
JOIN suppliers AS s ON s.supplier_id = sold.supplier_id
-- WRONG a share of lines, not of revenue
WITH sold AS (
  SELECT p.supplier_id, COUNT(*) AS line_count
  FROM order_items AS i
  JOIN orders AS o ON o.order_id = i.order_id
  JOIN products AS p ON p.product_id = i.product_id
  WHERE o.status <> 'cancelled' AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
  GROUP BY p.supplier_id
)
SELECT s.name, 100.0 * sold.line_count / (SELECT SUM(line_count) FROM sold) AS percent
FROM sold
JOIN suppliers AS s ON s.supplier_id = sold.supplier_id

-- TASK cancellation-rate-by-year  medium  ratio, date, case, group-by
-- ASK  What share of the orders of each year was cancelled, in percent? Give the year as text (like 2024) and the
--      percentage, unrounded.
-- GOLD
SELECT
  SUBSTR(CAST(order_date AS TEXT), 1, 4) AS year,
  100.0 * SUM(CASE WHEN status = 'cancelled' THEN 1 ELSE 0 END) / COUNT(*) AS percent
FROM orders
GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 4)
-- WRONG whole numbers divide to whole numbers: always 0
SELECT
  SUBSTR(CAST(order_date AS TEXT), 1, 4) AS year,
  SUM(CASE WHEN status = 'cancelled' THEN 1 ELSE 0 END) / COUNT(*) * 100 AS percent
FROM orders
GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 4)
-- ON duckdb
SELECT
  SUBSTR(CAST(order_date AS TEXT), 1, 4) AS year,
  SUM(CASE WHEN status = 'cancelled' THEN 1 ELSE 0 END) // COUNT(*) * 100 AS percent
FROM orders
GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 4)
-- WRONG cancelled orders per order that was not cancelled
SELECT
  SUBSTR(CAST(order_date AS TEXT), 1, 4) AS year,
  100.0 * SUM(CASE WHEN status = 'cancelled' THEN 1 ELSE 0 END)
    / SUM(CASE WHEN status <> 'cancelled' THEN 1 ELSE 0 END) AS percent
FROM orders
GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 4)

-- TASK rating-by-category  medium  group-by, join
-- ASK  What is the average rating of each category over all reviews of its products, and how many reviews are there?
--      Leave out categories without reviews. Give category name, average and number.
-- GOLD
SELECT c.name, AVG(1.0 * r.rating) AS average_rating, COUNT(*) AS reviews
FROM categories AS c
JOIN products AS p ON p.category_id = c.category_id
JOIN reviews AS r ON r.product_id = p.product_id
GROUP BY c.category_id, c.name
-- WRONG averages the products' averages: a product with one review weighs as much as one with fifty
SELECT c.name, AVG(rated.average_rating) AS average_rating, SUM(rated.reviews) AS reviews
FROM categories AS c
JOIN products AS p ON p.category_id = c.category_id
JOIN (
  SELECT product_id, AVG(1.0 * rating) AS average_rating, COUNT(*) AS reviews
  FROM reviews
  GROUP BY product_id
) AS rated ON rated.product_id = p.product_id
GROUP BY c.category_id, c.name
-- WRONG only reviews with a comment
SELECT c.name, AVG(1.0 * r.rating) AS average_rating, COUNT(*) AS reviews
FROM categories AS c
JOIN products AS p ON p.category_id = c.category_id
JOIN reviews AS r ON r.product_id = p.product_id
WHERE r.comment IS NOT NULL
GROUP BY c.category_id, c.name

-- TASK top-customers-2024  medium  top-n, group-by, join
-- ASK  Who are the five customers with the highest sum of order totals in 2024, cancelled orders left out? Give
--      customer number, first name, last name and the sum, the highest first.
-- GOLD
SELECT c.customer_id, c.first_name, c.last_name, SUM(o.total_amount) AS spent
FROM customers AS c
JOIN orders AS o ON o.customer_id = c.customer_id
WHERE o.status <> 'cancelled' AND o.order_date >= '2024-01-01' AND o.order_date < '2025-01-01'
GROUP BY c.customer_id, c.first_name, c.last_name
ORDER BY spent DESC
LIMIT 5
-- WRONG the five with most orders
SELECT c.customer_id, c.first_name, c.last_name, SUM(o.total_amount) AS spent
FROM customers AS c
JOIN orders AS o ON o.customer_id = c.customer_id
WHERE o.status <> 'cancelled' AND o.order_date >= '2024-01-01' AND o.order_date < '2025-01-01'
GROUP BY c.customer_id, c.first_name, c.last_name
ORDER BY COUNT(*) DESC, spent DESC
LIMIT 5
-- WRONG the lines repeat each order's total
SELECT c.customer_id, c.first_name, c.last_name, SUM(o.total_amount) AS spent
FROM customers AS c
JOIN orders AS o ON o.customer_id = c.customer_id
JOIN order_items AS i ON i.order_id = o.order_id
WHERE o.status <> 'cancelled' AND o.order_date >= '2024-01-01' AND o.order_date < '2025-01-01'
GROUP BY c.customer_id, c.first_name, c.last_name
ORDER BY spent DESC
LIMIT 5

-- TASK underpaid-orders  medium  null, group-by, having, join, outer-join
-- ASK  For which orders placed before 1 December 2025 and not cancelled is less paid than their total? Give order
--      number and what is missing in euros.
-- GOLD
SELECT o.order_id, o.total_amount - COALESCE(SUM(p.amount), 0) AS missing
FROM orders AS o
LEFT JOIN payments AS p ON p.order_id = o.order_id
WHERE o.status <> 'cancelled' AND o.order_date < '2025-12-01'
GROUP BY o.order_id, o.total_amount
HAVING COALESCE(SUM(p.amount), 0) < o.total_amount
-- WRONG each payment alone is compared: parts of a paid order look like debts
SELECT o.order_id, o.total_amount - p.amount AS missing
FROM orders AS o
JOIN payments AS p ON p.order_id = o.order_id
WHERE o.status <> 'cancelled' AND o.order_date < '2025-12-01' AND p.amount < o.total_amount
-- WRONG cancelled orders owe nothing
SELECT o.order_id, o.total_amount - COALESCE(SUM(p.amount), 0) AS missing
FROM orders AS o
LEFT JOIN payments AS p ON p.order_id = o.order_id
WHERE o.order_date < '2025-12-01'
GROUP BY o.order_id, o.total_amount
HAVING COALESCE(SUM(p.amount), 0) < o.total_amount

-- TASK status-by-year-pivot  medium  pivot, date, case, group-by
-- ASK  Show the number of orders by year, one row a year and one column for each outcome: year as text (like 2024),
--      delivered, returned, cancelled, and all others together. The earliest year first.
-- GOLD
SELECT
  SUBSTR(CAST(order_date AS TEXT), 1, 4) AS year,
  SUM(CASE WHEN status = 'delivered' THEN 1 ELSE 0 END) AS delivered,
  SUM(CASE WHEN status = 'returned' THEN 1 ELSE 0 END) AS returned,
  SUM(CASE WHEN status = 'cancelled' THEN 1 ELSE 0 END) AS cancelled,
  SUM(CASE WHEN status NOT IN ('delivered', 'returned', 'cancelled') THEN 1 ELSE 0 END) AS others
FROM orders
GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 4)
ORDER BY year
-- WRONG rows instead of columns
SELECT SUBSTR(CAST(order_date AS TEXT), 1, 4) AS year, status, COUNT(*) AS orders
FROM orders
GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 4), status
ORDER BY year, status
-- WRONG COUNT counts the zeros as well
SELECT
  SUBSTR(CAST(order_date AS TEXT), 1, 4) AS year,
  COUNT(CASE WHEN status = 'delivered' THEN 1 ELSE 0 END) AS delivered,
  COUNT(CASE WHEN status = 'returned' THEN 1 ELSE 0 END) AS returned,
  COUNT(CASE WHEN status = 'cancelled' THEN 1 ELSE 0 END) AS cancelled,
  COUNT(CASE WHEN status NOT IN ('delivered', 'returned', 'cancelled') THEN 1 ELSE 0 END) AS others
FROM orders
GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 4)
ORDER BY year

-- TASK varied-orders  medium  aggregate, distinct, group-by, having, join, subquery
-- ASK  How many orders that were not cancelled hold products of at least four different categories? Give one number.
-- GOLD
SELECT COUNT(*)
FROM (
  SELECT o.order_id
  FROM orders AS o
  JOIN order_items AS i ON i.order_id = o.order_id
  JOIN products AS p ON p.product_id = i.product_id
  WHERE o.status <> 'cancelled'
  GROUP BY o.order_id
  HAVING COUNT(DISTINCT p.category_id) >= 4
) AS varied
-- WRONG four products, perhaps of one category
SELECT COUNT(*)
FROM (
  SELECT o.order_id
  FROM orders AS o
  JOIN order_items AS i ON i.order_id = o.order_id
  JOIN products AS p ON p.product_id = i.product_id
  WHERE o.status <> 'cancelled'
  GROUP BY o.order_id
  HAVING COUNT(p.category_id) >= 4
) AS varied
-- WRONG more than four
SELECT COUNT(*)
FROM (
  SELECT o.order_id
  FROM orders AS o
  JOIN order_items AS i ON i.order_id = o.order_id
  JOIN products AS p ON p.product_id = i.product_id
  WHERE o.status <> 'cancelled'
  GROUP BY o.order_id
  HAVING COUNT(DISTINCT p.category_id) > 4
) AS varied

-- TASK delivery-days-by-country  medium  date, null, group-by, join
-- ASK  How many days pass on average from the order to its delivery, by country of the customer, for orders that were
--      placed in 2025 and have been delivered (whatever became of them later)? Give country and average days.
-- GOLD
SELECT c.country, AVG(JULIANDAY(o.delivered_date) - JULIANDAY(o.order_date)) AS days
FROM orders AS o
JOIN customers AS c ON c.customer_id = o.customer_id
WHERE o.delivered_date IS NOT NULL AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
GROUP BY c.country
-- ON duckdb, postgres
SELECT c.country, AVG(o.delivered_date - o.order_date) AS days
FROM orders AS o
JOIN customers AS c ON c.customer_id = o.customer_id
WHERE o.delivered_date IS NOT NULL AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
GROUP BY c.country
-- WRONG counts from the day of shipping
SELECT c.country, AVG(JULIANDAY(o.delivered_date) - JULIANDAY(o.shipped_date)) AS days
FROM orders AS o
JOIN customers AS c ON c.customer_id = o.customer_id
WHERE o.delivered_date IS NOT NULL AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
GROUP BY c.country
-- ON duckdb, postgres
SELECT c.country, AVG(o.delivered_date - o.shipped_date) AS days
FROM orders AS o
JOIN customers AS c ON c.customer_id = o.customer_id
WHERE o.delivered_date IS NOT NULL AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
GROUP BY c.country
-- WRONG status 'delivered' leaves out what was delivered and then returned
SELECT c.country, AVG(JULIANDAY(o.delivered_date) - JULIANDAY(o.order_date)) AS days
FROM orders AS o
JOIN customers AS c ON c.customer_id = o.customer_id
WHERE o.status = 'delivered' AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
GROUP BY c.country
-- ON duckdb, postgres
SELECT c.country, AVG(o.delivered_date - o.order_date) AS days
FROM orders AS o
JOIN customers AS c ON c.customer_id = o.customer_id
WHERE o.status = 'delivered' AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
GROUP BY c.country

-- TASK price-rises-2025  medium  case, group-by, having, join
-- ASK  For which products was the lowest piece price in an order of 2025 higher than the highest piece price in an order
--      of 2024? Cancelled orders count. Give product number, highest price of 2024 and lowest price of 2025.
-- GOLD
SELECT
  i.product_id,
  MAX(CASE WHEN o.order_date < '2025-01-01' THEN i.unit_price END) AS highest_2024,
  MIN(CASE WHEN o.order_date >= '2025-01-01' THEN i.unit_price END) AS lowest_2025
FROM order_items AS i
JOIN orders AS o ON o.order_id = i.order_id
WHERE o.order_date >= '2024-01-01' AND o.order_date < '2026-01-01'
GROUP BY i.product_id
HAVING MIN(CASE WHEN o.order_date >= '2025-01-01' THEN i.unit_price END)
  > MAX(CASE WHEN o.order_date < '2025-01-01' THEN i.unit_price END)
-- WRONG at least as high: products whose price did not change come too
SELECT
  i.product_id,
  MAX(CASE WHEN o.order_date < '2025-01-01' THEN i.unit_price END) AS highest_2024,
  MIN(CASE WHEN o.order_date >= '2025-01-01' THEN i.unit_price END) AS lowest_2025
FROM order_items AS i
JOIN orders AS o ON o.order_id = i.order_id
WHERE o.order_date >= '2024-01-01' AND o.order_date < '2026-01-01'
GROUP BY i.product_id
HAVING MIN(CASE WHEN o.order_date >= '2025-01-01' THEN i.unit_price END)
  >= MAX(CASE WHEN o.order_date < '2025-01-01' THEN i.unit_price END)
-- WRONG ELSE 0 makes every lowest price 0
SELECT
  i.product_id,
  MAX(CASE WHEN o.order_date < '2025-01-01' THEN i.unit_price ELSE 0 END) AS highest_2024,
  MIN(CASE WHEN o.order_date >= '2025-01-01' THEN i.unit_price ELSE 0 END) AS lowest_2025
FROM order_items AS i
JOIN orders AS o ON o.order_id = i.order_id
WHERE o.order_date >= '2024-01-01' AND o.order_date < '2026-01-01'
GROUP BY i.product_id
HAVING MIN(CASE WHEN o.order_date >= '2025-01-01' THEN i.unit_price ELSE 0 END)
  > MAX(CASE WHEN o.order_date < '2025-01-01' THEN i.unit_price ELSE 0 END)

-- TASK above-category-average  medium  group-by, join, subquery
-- ASK  Which products cost at least twice the average price of their category? All products count for the average.
--      Give product name, price and the average price of the category.
-- GOLD
SELECT p.name, p.price, a.average_price
FROM products AS p
JOIN (
  SELECT category_id, AVG(price) AS average_price
  FROM products
  GROUP BY category_id
) AS a ON a.category_id = p.category_id
WHERE p.price >= 2 * a.average_price
-- WRONG the average over all categories
SELECT p.name, p.price, (SELECT AVG(price) FROM products) AS average_price
FROM products AS p
WHERE p.price >= 2 * (SELECT AVG(price) FROM products)
-- WRONG discontinued products are left out of the average
SELECT p.name, p.price, a.average_price
FROM products AS p
JOIN (
  SELECT category_id, AVG(price) AS average_price
  FROM products
  WHERE NOT is_discontinued
  GROUP BY category_id
) AS a ON a.category_id = p.category_id
WHERE p.price >= 2 * a.average_price

-- TASK rarely-reviewed-bestsellers  medium  anti-join, group-by, join, outer-join, subquery
-- ASK  Which products were sold in at least 60 pieces over all orders that were not cancelled, and have fewer than ten
--      reviews (perhaps none)? Give product number, pieces sold and number of reviews.
-- GOLD
WITH sold AS (
  SELECT i.product_id, SUM(i.quantity) AS pieces
  FROM order_items AS i
  JOIN orders AS o ON o.order_id = i.order_id
  WHERE o.status <> 'cancelled'
  GROUP BY i.product_id
),
rated AS (
  SELECT product_id, COUNT(*) AS reviews
  FROM reviews
  GROUP BY product_id
)
SELECT s.product_id, s.pieces, COALESCE(r.reviews, 0) AS reviews
FROM sold AS s
LEFT JOIN rated AS r ON r.product_id = s.product_id
WHERE s.pieces >= 60 AND COALESCE(r.reviews, 0) < 10
-- WRONG joined before they are counted, items and reviews multiply
SELECT i.product_id, SUM(i.quantity) AS pieces, COUNT(DISTINCT r.review_id) AS reviews
FROM order_items AS i
JOIN orders AS o ON o.order_id = i.order_id
LEFT JOIN reviews AS r ON r.product_id = i.product_id
WHERE o.status <> 'cancelled'
GROUP BY i.product_id
HAVING SUM(i.quantity) >= 60 AND COUNT(DISTINCT r.review_id) < 10
-- WRONG counts order lines as pieces
WITH sold AS (
  SELECT i.product_id, COUNT(*) AS pieces
  FROM order_items AS i
  JOIN orders AS o ON o.order_id = i.order_id
  WHERE o.status <> 'cancelled'
  GROUP BY i.product_id
),
rated AS (
  SELECT product_id, COUNT(*) AS reviews
  FROM reviews
  GROUP BY product_id
)
SELECT s.product_id, s.pieces, COALESCE(r.reviews, 0) AS reviews
FROM sold AS s
LEFT JOIN rated AS r ON r.product_id = s.product_id
WHERE s.pieces >= 60 AND COALESCE(r.reviews, 0) < 10

-- TASK latest-order-per-customer  medium  top-n, dedup, join, subquery, window
-- ASK  What is the total of the latest order of each customer who lives in Sweden? Of several orders on one day, the
--      one with the highest order number is the latest; cancelled orders count. Give customer number, order number and
--      total.
-- GOLD
SELECT customer_id, order_id, total_amount
FROM (
  SELECT
    o.customer_id,
    o.order_id,
    o.total_amount,
    ROW_NUMBER() OVER (PARTITION BY o.customer_id ORDER BY o.order_date DESC, o.order_id DESC) AS place
  FROM orders AS o
  JOIN customers AS c ON c.customer_id = o.customer_id
  WHERE c.country = 'Sweden'
) AS placed
WHERE place = 1
-- WRONG the highest total is not the latest
SELECT o.customer_id, MAX(o.order_id) AS order_id, MAX(o.total_amount) AS total_amount
FROM orders AS o
JOIN customers AS c ON c.customer_id = o.customer_id
WHERE c.country = 'Sweden'
GROUP BY o.customer_id
-- WRONG the first order
SELECT customer_id, order_id, total_amount
FROM (
  SELECT
    o.customer_id,
    o.order_id,
    o.total_amount,
    ROW_NUMBER() OVER (PARTITION BY o.customer_id ORDER BY o.order_date, o.order_id) AS place
  FROM orders AS o
  JOIN customers AS c ON c.customer_id = o.customer_id
  WHERE c.country = 'Sweden'
) AS placed
WHERE place = 1

-- TASK newsletter-effect  medium  case, group-by, join, outer-join, subquery
-- ASK  Do newsletter readers order more? For customers with and without the newsletter, give the number of customers and
--      the average number of orders per customer, where customers without orders count as 0 and cancelled orders do not
--      count. Columns: 'reader' or 'other', customers, average.
-- GOLD
SELECT
  CASE WHEN c.newsletter THEN 'reader' ELSE 'other' END AS kind,
  COUNT(*) AS customers,
  AVG(1.0 * COALESCE(n.orders, 0)) AS average_orders
FROM customers AS c
LEFT JOIN (
  SELECT customer_id, COUNT(*) AS orders
  FROM orders
  WHERE status <> 'cancelled'
  GROUP BY customer_id
) AS n ON n.customer_id = c.customer_id
GROUP BY CASE WHEN c.newsletter THEN 'reader' ELSE 'other' END
-- WRONG customers without orders are missing from number and average
SELECT
  CASE WHEN c.newsletter THEN 'reader' ELSE 'other' END AS kind,
  COUNT(*) AS customers,
  AVG(1.0 * n.orders) AS average_orders
FROM customers AS c
JOIN (
  SELECT customer_id, COUNT(*) AS orders
  FROM orders
  WHERE status <> 'cancelled'
  GROUP BY customer_id
) AS n ON n.customer_id = c.customer_id
GROUP BY CASE WHEN c.newsletter THEN 'reader' ELSE 'other' END
-- WRONG AVG leaves the missing numbers out instead of taking them as 0
SELECT
  CASE WHEN c.newsletter THEN 'reader' ELSE 'other' END AS kind,
  COUNT(*) AS customers,
  AVG(1.0 * n.orders) AS average_orders
FROM customers AS c
LEFT JOIN (
  SELECT customer_id, COUNT(*) AS orders
  FROM orders
  WHERE status <> 'cancelled'
  GROUP BY customer_id
) AS n ON n.customer_id = c.customer_id
GROUP BY CASE WHEN c.newsletter THEN 'reader' ELSE 'other' END

-- TASK same-price-pairs  medium  join, self-join
-- ASK  Which pairs of products of the same category have the same price now? Give both product numbers, the smaller
--      first, and the price; each pair once.
-- GOLD
SELECT a.product_id, b.product_id AS other_id, a.price
FROM products AS a
JOIN products AS b ON b.category_id = a.category_id AND b.price = a.price AND b.product_id > a.product_id
-- WRONG each pair twice
SELECT a.product_id, b.product_id AS other_id, a.price
FROM products AS a
JOIN products AS b ON b.category_id = a.category_id AND b.price = a.price AND b.product_id <> a.product_id
-- WRONG pairs across categories as well
SELECT a.product_id, b.product_id AS other_id, a.price
FROM products AS a
JOIN products AS b ON b.price = a.price AND b.product_id > a.product_id
