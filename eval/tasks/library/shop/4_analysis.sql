-- What an analyst asks of the shop: rankings, medians, shares that add up, RFM, baskets, days out of the ordinary.

-- TASK two-bestsellers-per-category  hard  top-n, group-by, join, subquery, window
-- ASK  What are the two products of each category with the most pieces sold in 2025, cancelled orders left out? Of equal
--      numbers, the product with the smaller number comes first. Give category name, place (1 or 2), product name and
--      pieces.
-- GOLD
WITH sold AS (
  SELECT p.category_id, p.product_id, p.name, SUM(i.quantity) AS pieces
  FROM products AS p
  JOIN order_items AS i ON i.product_id = p.product_id
  JOIN orders AS o ON o.order_id = i.order_id
  WHERE o.status <> 'cancelled' AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
  GROUP BY p.category_id, p.product_id, p.name
),
placed AS (
  SELECT
    category_id,
    name,
    pieces,
    ROW_NUMBER() OVER (PARTITION BY category_id ORDER BY pieces DESC, product_id) AS place
  FROM sold
)
SELECT c.name AS category, s.place, s.name AS product, s.pieces
FROM placed AS s
JOIN categories AS c ON c.category_id = s.category_id
WHERE s.place <= 2
-- WRONG the two best of all categories together
WITH sold AS (
  SELECT p.category_id, p.product_id, p.name, SUM(i.quantity) AS pieces
  FROM products AS p
  JOIN order_items AS i ON i.product_id = p.product_id
  JOIN orders AS o ON o.order_id = i.order_id
  WHERE o.status <> 'cancelled' AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
  GROUP BY p.category_id, p.product_id, p.name
),
placed AS (
  SELECT category_id, name, pieces, ROW_NUMBER() OVER (ORDER BY pieces DESC, product_id) AS place
  FROM sold
)
SELECT c.name AS category, s.place, s.name AS product, s.pieces
FROM placed AS s
JOIN categories AS c ON c.category_id = s.category_id
WHERE s.place <= 2
-- WRONG ranks by revenue instead of pieces
WITH sold AS (
  SELECT p.category_id, p.product_id, p.name, SUM(i.quantity) AS pieces, SUM(i.line_total) AS revenue
  FROM products AS p
  JOIN order_items AS i ON i.product_id = p.product_id
  JOIN orders AS o ON o.order_id = i.order_id
  WHERE o.status <> 'cancelled' AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
  GROUP BY p.category_id, p.product_id, p.name
),
placed AS (
  SELECT
    category_id,
    name,
    pieces,
    ROW_NUMBER() OVER (PARTITION BY category_id ORDER BY revenue DESC, product_id) AS place
  FROM sold
)
SELECT c.name AS category, s.place, s.name AS product, s.pieces
FROM placed AS s
JOIN categories AS c ON c.category_id = s.category_id
WHERE s.place <= 2

-- TASK cheapest-products-with-ties  hard  top-n, subquery, window
-- ASK  Which products have one of the three lowest prices of their category? Products of the same price share a place,
--      and no place is skipped after a shared one; discontinued products are left out. Give category number, place,
--      product name and price.
-- GOLD
SELECT category_id, place, name, price
FROM (
  SELECT category_id, name, price, DENSE_RANK() OVER (PARTITION BY category_id ORDER BY price) AS place
  FROM products
  WHERE NOT is_discontinued
) AS ranked
WHERE place <= 3
-- WRONG of two products with the same price one is dropped
SELECT category_id, place, name, price
FROM (
  SELECT
    category_id,
    name,
    price,
    ROW_NUMBER() OVER (PARTITION BY category_id ORDER BY price, product_id) AS place
  FROM products
  WHERE NOT is_discontinued
) AS ranked
WHERE place <= 3
-- WRONG RANK skips places after a tie
SELECT category_id, place, name, price
FROM (
  SELECT category_id, name, price, RANK() OVER (PARTITION BY category_id ORDER BY price) AS place
  FROM products
  WHERE NOT is_discontinued
) AS ranked
WHERE place <= 3

-- TASK median-order-total  hard  median, group-by, subquery, window
-- ASK  What is the median order total of each year, cancelled orders left out? With an even number of orders it is the
--      mean of the two in the middle. Give the year as text like 2024 and the median.
-- GOLD
WITH placed AS (
  SELECT
    SUBSTR(CAST(order_date AS TEXT), 1, 4) AS year,
    total_amount,
    ROW_NUMBER() OVER (
      PARTITION BY SUBSTR(CAST(order_date AS TEXT), 1, 4) ORDER BY total_amount, order_id
    ) AS place,
    COUNT(*) OVER (PARTITION BY SUBSTR(CAST(order_date AS TEXT), 1, 4)) AS orders
  FROM orders
  WHERE status <> 'cancelled'
)
SELECT year, AVG(total_amount) AS median
FROM placed
WHERE 2 * place BETWEEN orders AND orders + 2
GROUP BY year
-- ON duckdb, postgres
SELECT
  SUBSTR(CAST(order_date AS TEXT), 1, 4) AS year,
  PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY CAST(total_amount AS DOUBLE PRECISION)) AS median
FROM orders
WHERE status <> 'cancelled'
GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 4)
-- WRONG the mean
SELECT SUBSTR(CAST(order_date AS TEXT), 1, 4) AS year, AVG(total_amount) AS median
FROM orders
WHERE status <> 'cancelled'
GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 4)
-- WRONG half-way between the smallest and the largest
SELECT SUBSTR(CAST(order_date AS TEXT), 1, 4) AS year, (MIN(total_amount) + MAX(total_amount)) / 2 AS median
FROM orders
WHERE status <> 'cancelled'
GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 4)

-- TASK spending-quartiles  hard  median, group-by, subquery, window
-- ASK  Sort the customers who ordered (cancelled orders left out) by the sum of their order totals into four groups of
--      equal size (the first groups take one more where it does not divide), group 1 spending most; of equal sums the
--      smaller customer number comes first. For each group give its number, how many customers it has and the sum of
--      what they spent, in order of groups.
-- GOLD
WITH spent AS (
  SELECT customer_id, SUM(total_amount) AS amount
  FROM orders
  WHERE status <> 'cancelled'
  GROUP BY customer_id
),
grouped AS (
  SELECT amount, NTILE(4) OVER (ORDER BY amount DESC, customer_id) AS quartile
  FROM spent
)
SELECT quartile, COUNT(*) AS customers, SUM(amount) AS spent
FROM grouped
GROUP BY quartile
ORDER BY quartile
-- WRONG group 1 spends least
WITH spent AS (
  SELECT customer_id, SUM(total_amount) AS amount
  FROM orders
  WHERE status <> 'cancelled'
  GROUP BY customer_id
),
grouped AS (
  SELECT amount, NTILE(4) OVER (ORDER BY amount, customer_id) AS quartile
  FROM spent
)
SELECT quartile, COUNT(*) AS customers, SUM(amount) AS spent
FROM grouped
GROUP BY quartile
ORDER BY quartile
-- WRONG four groups of orders, not of customers
WITH grouped AS (
  SELECT customer_id, total_amount AS amount, NTILE(4) OVER (ORDER BY total_amount DESC, order_id) AS quartile
  FROM orders
  WHERE status <> 'cancelled'
)
SELECT quartile, COUNT(DISTINCT customer_id) AS customers, SUM(amount) AS spent
FROM grouped
GROUP BY quartile
ORDER BY quartile

-- TASK half-of-revenue  hard  pareto, running-total, group-by, join, subquery, window
-- ASK  Sort the products by their revenue of 2025 (line totals, cancelled orders left out), highest first, of equal ones
--      the smaller product number first. Which products, from the top, are needed to reach at least half of the whole
--      revenue of 2025? The product that reaches it belongs to them. Give product number and revenue, highest first.
-- GOLD
WITH sold AS (
  SELECT i.product_id, SUM(i.line_total) AS revenue
  FROM order_items AS i
  JOIN orders AS o ON o.order_id = i.order_id
  WHERE o.status <> 'cancelled' AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
  GROUP BY i.product_id
),
running AS (
  SELECT
    product_id,
    revenue,
    SUM(revenue) OVER (ORDER BY revenue DESC, product_id ROWS UNBOUNDED PRECEDING) AS running_total,
    SUM(revenue) OVER () AS total
  FROM sold
)
SELECT product_id, revenue
FROM running
WHERE 2 * (running_total - revenue) < total
ORDER BY revenue DESC, product_id
-- WRONG the product that crosses the line is left out
WITH sold AS (
  SELECT i.product_id, SUM(i.line_total) AS revenue
  FROM order_items AS i
  JOIN orders AS o ON o.order_id = i.order_id
  WHERE o.status <> 'cancelled' AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
  GROUP BY i.product_id
),
running AS (
  SELECT
    product_id,
    revenue,
    SUM(revenue) OVER (ORDER BY revenue DESC, product_id ROWS UNBOUNDED PRECEDING) AS running_total,
    SUM(revenue) OVER () AS total
  FROM sold
)
SELECT product_id, revenue
FROM running
WHERE 2 * running_total <= total
ORDER BY revenue DESC, product_id
-- WRONG the better half of the products
WITH sold AS (
  SELECT i.product_id, SUM(i.line_total) AS revenue
  FROM order_items AS i
  JOIN orders AS o ON o.order_id = i.order_id
  WHERE o.status <> 'cancelled' AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
  GROUP BY i.product_id
),
halves AS (
  SELECT product_id, revenue, NTILE(2) OVER (ORDER BY revenue DESC, product_id) AS half
  FROM sold
)
SELECT product_id, revenue
FROM halves
WHERE half = 1
ORDER BY revenue DESC, product_id

-- TASK abc-classes  hard  pareto, case, group-by, join, subquery, window
-- ASK  ABC analysis of the products sold in 2025 by revenue (line totals, cancelled orders left out): sorted by revenue,
--      highest first and of equal ones the smaller product number first, a product is A while the running share
--      including it is at most 80 percent, B while it is at most 95 percent, else C. Give class, number of products and
--      revenue of each class, in order of classes.
-- GOLD
WITH sold AS (
  SELECT i.product_id, SUM(i.line_total) AS revenue
  FROM order_items AS i
  JOIN orders AS o ON o.order_id = i.order_id
  WHERE o.status <> 'cancelled' AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
  GROUP BY i.product_id
),
shares AS (
  SELECT
    revenue,
    SUM(revenue) OVER (ORDER BY revenue DESC, product_id ROWS UNBOUNDED PRECEDING)
      / SUM(revenue) OVER () AS running_share
  FROM sold
),
classed AS (
  SELECT revenue, CASE WHEN running_share <= 0.8 THEN 'A' WHEN running_share <= 0.95 THEN 'B' ELSE 'C' END AS class
  FROM shares
)
SELECT class, COUNT(*) AS products, SUM(revenue) AS revenue
FROM classed
GROUP BY class
ORDER BY class
-- WRONG classes by place, not by share of revenue
WITH sold AS (
  SELECT i.product_id, SUM(i.line_total) AS revenue
  FROM order_items AS i
  JOIN orders AS o ON o.order_id = i.order_id
  WHERE o.status <> 'cancelled' AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
  GROUP BY i.product_id
),
shares AS (
  SELECT revenue, 1.0 * ROW_NUMBER() OVER (ORDER BY revenue DESC, product_id) / COUNT(*) OVER () AS running_share
  FROM sold
),
classed AS (
  SELECT revenue, CASE WHEN running_share <= 0.8 THEN 'A' WHEN running_share <= 0.95 THEN 'B' ELSE 'C' END AS class
  FROM shares
)
SELECT class, COUNT(*) AS products, SUM(revenue) AS revenue
FROM classed
GROUP BY class
ORDER BY class
-- WRONG adds up from the weakest product
WITH sold AS (
  SELECT i.product_id, SUM(i.line_total) AS revenue
  FROM order_items AS i
  JOIN orders AS o ON o.order_id = i.order_id
  WHERE o.status <> 'cancelled' AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
  GROUP BY i.product_id
),
shares AS (
  SELECT
    revenue,
    SUM(revenue) OVER (ORDER BY revenue, product_id ROWS UNBOUNDED PRECEDING)
      / SUM(revenue) OVER () AS running_share
  FROM sold
),
classed AS (
  SELECT revenue, CASE WHEN running_share <= 0.8 THEN 'A' WHEN running_share <= 0.95 THEN 'B' ELSE 'C' END AS class
  FROM shares
)
SELECT class, COUNT(*) AS products, SUM(revenue) AS revenue
FROM classed
GROUP BY class
ORDER BY class

-- TASK rfm-segments  hard  rfm, date, case, group-by, subquery
-- ASK  Sort all customers with an order that was not cancelled, as of 31 December 2025, into segments by their orders
--      that were not cancelled: 'champion' with a last order on or after 1 October 2025, at least 10 orders and at least
--      1000 euros in total; else 'active' with a last order on or after 1 July 2025; else 'at risk' with at least 5
--      orders; else 'lost'. Give segment, number of customers and their total spending.
-- GOLD
WITH profile AS (
  SELECT customer_id, MAX(order_date) AS last_order, COUNT(*) AS orders, SUM(total_amount) AS spent
  FROM orders
  WHERE status <> 'cancelled'
  GROUP BY customer_id
),
segmented AS (
  SELECT
    spent,
    CASE
      WHEN last_order >= '2025-10-01' AND orders >= 10 AND spent >= 1000 THEN 'champion'
      WHEN last_order >= '2025-07-01' THEN 'active'
      WHEN orders >= 5 THEN 'at risk'
      ELSE 'lost'
    END AS segment
  FROM profile
)
SELECT segment, COUNT(*) AS customers, SUM(spent) AS spent
FROM segmented
GROUP BY segment
-- WRONG the order of the branches: every recent customer is active before being a champion
WITH profile AS (
  SELECT customer_id, MAX(order_date) AS last_order, COUNT(*) AS orders, SUM(total_amount) AS spent
  FROM orders
  WHERE status <> 'cancelled'
  GROUP BY customer_id
),
segmented AS (
  SELECT
    spent,
    CASE
      WHEN last_order >= '2025-07-01' THEN 'active'
      WHEN last_order >= '2025-10-01' AND orders >= 10 AND spent >= 1000 THEN 'champion'
      WHEN orders >= 5 THEN 'at risk'
      ELSE 'lost'
    END AS segment
  FROM profile
)
SELECT segment, COUNT(*) AS customers, SUM(spent) AS spent
FROM segmented
GROUP BY segment
-- WRONG joined with the lines, orders and spending are counted once for each product
WITH profile AS (
  SELECT o.customer_id, MAX(o.order_date) AS last_order, COUNT(*) AS orders, SUM(o.total_amount) AS spent
  FROM orders AS o
  JOIN order_items AS i ON i.order_id = o.order_id
  WHERE o.status <> 'cancelled'
  GROUP BY o.customer_id
),
segmented AS (
  SELECT
    spent,
    CASE
      WHEN last_order >= '2025-10-01' AND orders >= 10 AND spent >= 1000 THEN 'champion'
      WHEN last_order >= '2025-07-01' THEN 'active'
      WHEN orders >= 5 THEN 'at risk'
      ELSE 'lost'
    END AS segment
  FROM profile
)
SELECT segment, COUNT(*) AS customers, SUM(spent) AS spent
FROM segmented
GROUP BY segment
-- WRONG OR in place of AND makes champions of too many
WITH profile AS (
  SELECT customer_id, MAX(order_date) AS last_order, COUNT(*) AS orders, SUM(total_amount) AS spent
  FROM orders
  WHERE status <> 'cancelled'
  GROUP BY customer_id
),
segmented AS (
  SELECT
    spent,
    CASE
      WHEN last_order >= '2025-10-01' AND orders >= 10 OR spent >= 1000 THEN 'champion'
      WHEN last_order >= '2025-07-01' THEN 'active'
      WHEN orders >= 5 THEN 'at risk'
      ELSE 'lost'
    END AS segment
  FROM profile
)
SELECT segment, COUNT(*) AS customers, SUM(spent) AS spent
FROM segmented
GROUP BY segment

-- TASK bought-together  hard  basket, group-by, having, join, self-join
-- ASK  Which pairs of products were together in at least 12 orders that were not cancelled? Give both product numbers,
--      the smaller first, and the number of orders; each pair once.
-- GOLD
SELECT a.product_id, b.product_id AS other_id, COUNT(*) AS orders
FROM order_items AS a
JOIN order_items AS b ON b.order_id = a.order_id AND b.product_id > a.product_id
JOIN orders AS o ON o.order_id = a.order_id
WHERE o.status <> 'cancelled'
GROUP BY a.product_id, b.product_id
HAVING COUNT(*) >= 12
-- WRONG each pair twice, once in each order
SELECT a.product_id, b.product_id AS other_id, COUNT(*) AS orders
FROM order_items AS a
JOIN order_items AS b ON b.order_id = a.order_id AND b.product_id <> a.product_id
JOIN orders AS o ON o.order_id = a.order_id
WHERE o.status <> 'cancelled'
GROUP BY a.product_id, b.product_id
HAVING COUNT(*) >= 12
-- WRONG a product is paired with itself
SELECT a.product_id, b.product_id AS other_id, COUNT(*) AS orders
FROM order_items AS a
JOIN order_items AS b ON b.order_id = a.order_id AND b.product_id >= a.product_id
JOIN orders AS o ON o.order_id = a.order_id
WHERE o.status <> 'cancelled'
GROUP BY a.product_id, b.product_id
HAVING COUNT(*) >= 12
-- WRONG more than 12
SELECT a.product_id, b.product_id AS other_id, COUNT(*) AS orders
FROM order_items AS a
JOIN order_items AS b ON b.order_id = a.order_id AND b.product_id > a.product_id
JOIN orders AS o ON o.order_id = a.order_id
WHERE o.status <> 'cancelled'
GROUP BY a.product_id, b.product_id
HAVING COUNT(*) > 12

-- TASK basket-lift  hard  basket, ratio, semi-join, aggregate, case, group-by, join, subquery
-- ASK  How much more often than by chance do orders hold both coffee and sweets? Over all orders that were not cancelled,
--      give the lift: the share of orders with a product of the category Coffee and one of Sweets & Snacks, divided by
--      the share with Coffee times the share with Sweets & Snacks. One number, unrounded.
-- GOLD
WITH marked AS (
  SELECT
    o.order_id,
    MAX(CASE WHEN c.name = 'Coffee' THEN 1 ELSE 0 END) AS has_coffee,
    MAX(CASE WHEN c.name = 'Sweets & Snacks' THEN 1 ELSE 0 END) AS has_sweets
  FROM orders AS o
  JOIN order_items AS i ON i.order_id = o.order_id
  JOIN products AS p ON p.product_id = i.product_id
  JOIN categories AS c ON c.category_id = p.category_id
  WHERE o.status <> 'cancelled'
  GROUP BY o.order_id
)
SELECT 1.0 * SUM(has_coffee * has_sweets) * COUNT(*) / (SUM(has_coffee) * SUM(has_sweets)) AS lift
FROM marked
-- WRONG shares of lines instead of orders: no line is both
SELECT
  1.0 * SUM(CASE WHEN c.name IN ('Coffee', 'Sweets & Snacks') THEN 1 ELSE 0 END) * COUNT(*)
    / (SUM(CASE WHEN c.name = 'Coffee' THEN 1 ELSE 0 END) * SUM(CASE WHEN c.name = 'Sweets & Snacks' THEN 1 ELSE 0 END))
  AS lift
FROM orders AS o
JOIN order_items AS i ON i.order_id = o.order_id
JOIN products AS p ON p.product_id = i.product_id
JOIN categories AS c ON c.category_id = p.category_id
WHERE o.status <> 'cancelled'
-- WRONG the confidence (share of coffee orders that hold sweets), not the lift
WITH marked AS (
  SELECT
    o.order_id,
    MAX(CASE WHEN c.name = 'Coffee' THEN 1 ELSE 0 END) AS has_coffee,
    MAX(CASE WHEN c.name = 'Sweets & Snacks' THEN 1 ELSE 0 END) AS has_sweets
  FROM orders AS o
  JOIN order_items AS i ON i.order_id = o.order_id
  JOIN products AS p ON p.product_id = i.product_id
  JOIN categories AS c ON c.category_id = p.category_id
  WHERE o.status <> 'cancelled'
  GROUP BY o.order_id
)
SELECT 1.0 * SUM(has_coffee * has_sweets) / SUM(has_coffee) AS lift
FROM marked

-- TASK busy-days  hard  anomaly, group-by, join, subquery
-- ASK  Take the number of orders of each day on which there were any, cancelled ones included. Which days lie more than
--      four standard deviations (of the population) above the mean of these days? Give day and number of orders.
-- GOLD
WITH daily AS (
  SELECT order_date, COUNT(*) AS orders
  FROM orders
  GROUP BY order_date
),
spread AS (
  SELECT AVG(1.0 * orders) AS mean, AVG(1.0 * orders * orders) - AVG(1.0 * orders) * AVG(1.0 * orders) AS variance
  FROM daily
)
SELECT d.order_date, d.orders
FROM daily AS d
CROSS JOIN spread AS s
WHERE d.orders > s.mean AND (d.orders - s.mean) * (d.orders - s.mean) > 16 * s.variance
-- ON duckdb, postgres
WITH daily AS (
  SELECT order_date, COUNT(*) AS orders
  FROM orders
  GROUP BY order_date
)
SELECT order_date, orders
FROM daily
WHERE orders > (SELECT AVG(orders) + 4 * STDDEV_POP(orders) FROM daily)
-- WRONG the variance in place of the standard deviation
WITH daily AS (
  SELECT order_date, COUNT(*) AS orders
  FROM orders
  GROUP BY order_date
),
spread AS (
  SELECT AVG(1.0 * orders) AS mean, AVG(1.0 * orders * orders) - AVG(1.0 * orders) * AVG(1.0 * orders) AS variance
  FROM daily
)
SELECT d.order_date, d.orders
FROM daily AS d
CROSS JOIN spread AS s
WHERE d.orders > s.mean + 4 * s.variance
-- WRONG four times the mean is no deviation
WITH daily AS (
  SELECT order_date, COUNT(*) AS orders
  FROM orders
  GROUP BY order_date
)
SELECT order_date, orders
FROM daily
WHERE orders > 4 * (SELECT AVG(1.0 * orders) FROM daily)

-- TASK buyers-of-every-category  hard  distinct, group-by, having, join, subquery
-- ASK  Which customers bought something of every category that has products that are not discontinued? Cancelled orders
--      do not count. Give customer number.
-- GOLD
SELECT o.customer_id
FROM orders AS o
JOIN order_items AS i ON i.order_id = o.order_id
JOIN products AS p ON p.product_id = i.product_id
WHERE o.status <> 'cancelled'
  AND p.category_id IN (SELECT category_id FROM products WHERE NOT is_discontinued)
GROUP BY o.customer_id
HAVING COUNT(DISTINCT p.category_id) = (SELECT COUNT(DISTINCT category_id) FROM products WHERE NOT is_discontinued)
-- WRONG a category without products can never be bought: nobody is left
SELECT o.customer_id
FROM orders AS o
JOIN order_items AS i ON i.order_id = o.order_id
JOIN products AS p ON p.product_id = i.product_id
WHERE o.status <> 'cancelled'
GROUP BY o.customer_id
HAVING COUNT(DISTINCT p.category_id) = (SELECT COUNT(*) FROM categories)
-- WRONG as many lines as there are categories
SELECT o.customer_id
FROM orders AS o
JOIN order_items AS i ON i.order_id = o.order_id
JOIN products AS p ON p.product_id = i.product_id
WHERE o.status <> 'cancelled'
GROUP BY o.customer_id
HAVING COUNT(p.category_id) >= (SELECT COUNT(DISTINCT category_id) FROM products WHERE NOT is_discontinued)

-- TASK first-category  hard  dedup, group-by, join, subquery, window
-- ASK  With which category do customers begin? Take each customer's first order that was not cancelled (of several on
--      the first day, the smallest order number) and the line of it with the highest line total (of equal ones, the
--      smallest line number). Give category name and how many customers began with it, the most first, and of equal
--      numbers the smaller category number first.
-- GOLD
WITH lines AS (
  SELECT
    o.customer_id,
    p.category_id,
    ROW_NUMBER() OVER (
      PARTITION BY o.customer_id
      ORDER BY o.order_date, o.order_id, i.line_total DESC, i.order_item_id
    ) AS place
  FROM orders AS o
  JOIN order_items AS i ON i.order_id = o.order_id
  JOIN products AS p ON p.product_id = i.product_id
  WHERE o.status <> 'cancelled'
)
SELECT c.name, COUNT(*) AS customers
FROM lines AS l
JOIN categories AS c ON c.category_id = l.category_id
WHERE l.place = 1
GROUP BY c.category_id, c.name
ORDER BY customers DESC, c.category_id
-- WRONG the dearest line of all the customer's orders
WITH lines AS (
  SELECT
    o.customer_id,
    p.category_id,
    ROW_NUMBER() OVER (PARTITION BY o.customer_id ORDER BY i.line_total DESC, i.order_item_id) AS place
  FROM orders AS o
  JOIN order_items AS i ON i.order_id = o.order_id
  JOIN products AS p ON p.product_id = i.product_id
  WHERE o.status <> 'cancelled'
)
SELECT c.name, COUNT(*) AS customers
FROM lines AS l
JOIN categories AS c ON c.category_id = l.category_id
WHERE l.place = 1
GROUP BY c.category_id, c.name
ORDER BY customers DESC, c.category_id
-- WRONG all lines of the first day: a customer counts several times
WITH lines AS (
  SELECT
    p.category_id,
    RANK() OVER (PARTITION BY o.customer_id ORDER BY o.order_date) AS place
  FROM orders AS o
  JOIN order_items AS i ON i.order_id = o.order_id
  JOIN products AS p ON p.product_id = i.product_id
  WHERE o.status <> 'cancelled'
)
SELECT c.name, COUNT(*) AS customers
FROM lines AS l
JOIN categories AS c ON c.category_id = l.category_id
WHERE l.place = 1
GROUP BY c.category_id, c.name
ORDER BY customers DESC, c.category_id

-- TASK rating-after-price-rise  hard  date, case, group-by, having
-- ASK  Did ratings fall with the higher prices of 2025? For products with at least five reviews before 1 January 2025 and
--      at least five on or after that day, give product number, average rating before and average rating since, only
--      where the later average is lower.
-- GOLD
SELECT
  product_id,
  AVG(CASE WHEN review_date < '2025-01-01' THEN 1.0 * rating END) AS before,
  AVG(CASE WHEN review_date >= '2025-01-01' THEN 1.0 * rating END) AS since
FROM reviews
GROUP BY product_id
HAVING COUNT(CASE WHEN review_date < '2025-01-01' THEN 1 END) >= 5
  AND COUNT(CASE WHEN review_date >= '2025-01-01' THEN 1 END) >= 5
  AND AVG(CASE WHEN review_date >= '2025-01-01' THEN 1.0 * rating END)
    < AVG(CASE WHEN review_date < '2025-01-01' THEN 1.0 * rating END)
-- WRONG ELSE 0 pulls both averages down
SELECT
  product_id,
  AVG(CASE WHEN review_date < '2025-01-01' THEN 1.0 * rating ELSE 0 END) AS before,
  AVG(CASE WHEN review_date >= '2025-01-01' THEN 1.0 * rating ELSE 0 END) AS since
FROM reviews
GROUP BY product_id
HAVING COUNT(CASE WHEN review_date < '2025-01-01' THEN 1 END) >= 5
  AND COUNT(CASE WHEN review_date >= '2025-01-01' THEN 1 END) >= 5
  AND AVG(CASE WHEN review_date >= '2025-01-01' THEN 1.0 * rating ELSE 0 END)
    < AVG(CASE WHEN review_date < '2025-01-01' THEN 1.0 * rating ELSE 0 END)
-- WRONG five reviews in all are enough
SELECT
  product_id,
  AVG(CASE WHEN review_date < '2025-01-01' THEN 1.0 * rating END) AS before,
  AVG(CASE WHEN review_date >= '2025-01-01' THEN 1.0 * rating END) AS since
FROM reviews
GROUP BY product_id
HAVING COUNT(*) >= 5
  AND AVG(CASE WHEN review_date >= '2025-01-01' THEN 1.0 * rating END)
    < AVG(CASE WHEN review_date < '2025-01-01' THEN 1.0 * rating END)
