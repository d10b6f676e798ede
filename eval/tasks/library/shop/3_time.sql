-- The shop over time: running totals, moving averages, growth, cohorts, returning customers, runs and holes.
-- Months and years are text cut from ISO dates ('2025-03', '2025'), the same on every engine.

-- TASK running-revenue-2025  hard  running-total, date, group-by, subquery, window
-- ASK  Show, for each month of 2025, the revenue of the month and the revenue since the start of the year up to and
--      including that month. Revenue is the sum of order totals by the day of the order, cancelled orders left out.
--      Columns: month as text like 2025-03, revenue, running total; in order of months.
-- GOLD
WITH monthly AS (
  SELECT SUBSTR(CAST(order_date AS TEXT), 1, 7) AS month, SUM(total_amount) AS revenue
  FROM orders
  WHERE status <> 'cancelled' AND order_date >= '2025-01-01' AND order_date < '2026-01-01'
  GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 7)
)
SELECT month, revenue, SUM(revenue) OVER (ORDER BY month) AS running_total
FROM monthly
ORDER BY month
-- WRONG without ORDER BY in the window every row shows the year's total
WITH monthly AS (
  SELECT SUBSTR(CAST(order_date AS TEXT), 1, 7) AS month, SUM(total_amount) AS revenue
  FROM orders
  WHERE status <> 'cancelled' AND order_date >= '2025-01-01' AND order_date < '2026-01-01'
  GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 7)
)
SELECT month, revenue, SUM(revenue) OVER () AS running_total
FROM monthly
ORDER BY month
-- WRONG the total runs on from 2023
WITH monthly AS (
  SELECT SUBSTR(CAST(order_date AS TEXT), 1, 7) AS month, SUM(total_amount) AS revenue
  FROM orders
  WHERE status <> 'cancelled'
  GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 7)
),
running AS (
  SELECT month, revenue, SUM(revenue) OVER (ORDER BY month) AS running_total
  FROM monthly
)
SELECT month, revenue, running_total
FROM running
WHERE month >= '2025-01'
ORDER BY month
-- WRONG cancelled orders count
WITH monthly AS (
  SELECT SUBSTR(CAST(order_date AS TEXT), 1, 7) AS month, SUM(total_amount) AS revenue
  FROM orders
  WHERE order_date >= '2025-01-01' AND order_date < '2026-01-01'
  GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 7)
)
SELECT month, revenue, SUM(revenue) OVER (ORDER BY month) AS running_total
FROM monthly
ORDER BY month

-- TASK moving-average-three-months  hard  moving-average, date, group-by, subquery, window
-- ASK  For each month of 2025, what is the average monthly revenue of that month and the two before it? January and
--      February reach back into 2024. Revenue is the sum of order totals by the day of the order, cancelled orders
--      left out. Columns: month as text like 2025-03, average; in order of months.
-- GOLD
WITH monthly AS (
  SELECT SUBSTR(CAST(order_date AS TEXT), 1, 7) AS month, SUM(total_amount) AS revenue
  FROM orders
  WHERE status <> 'cancelled'
  GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 7)
),
averaged AS (
  SELECT month, AVG(revenue) OVER (ORDER BY month ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS average_revenue
  FROM monthly
)
SELECT month, average_revenue
FROM averaged
WHERE month >= '2025-01'
ORDER BY month
-- WRONG the year is cut off before the window: January averages one month
WITH monthly AS (
  SELECT SUBSTR(CAST(order_date AS TEXT), 1, 7) AS month, SUM(total_amount) AS revenue
  FROM orders
  WHERE status <> 'cancelled' AND order_date >= '2025-01-01'
  GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 7)
)
SELECT month, AVG(revenue) OVER (ORDER BY month ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS average_revenue
FROM monthly
ORDER BY month
-- WRONG three months before and the month itself make four
WITH monthly AS (
  SELECT SUBSTR(CAST(order_date AS TEXT), 1, 7) AS month, SUM(total_amount) AS revenue
  FROM orders
  WHERE status <> 'cancelled'
  GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 7)
),
averaged AS (
  SELECT month, AVG(revenue) OVER (ORDER BY month ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS average_revenue
  FROM monthly
)
SELECT month, average_revenue
FROM averaged
WHERE month >= '2025-01'
ORDER BY month
-- WRONG centred: the month before, the month, the month after
WITH monthly AS (
  SELECT SUBSTR(CAST(order_date AS TEXT), 1, 7) AS month, SUM(total_amount) AS revenue
  FROM orders
  WHERE status <> 'cancelled'
  GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 7)
),
averaged AS (
  SELECT month, AVG(revenue) OVER (ORDER BY month ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS average_revenue
  FROM monthly
)
SELECT month, average_revenue
FROM averaged
WHERE month >= '2025-01'
ORDER BY month

-- TASK month-over-month-growth  hard  period-over-period, ratio, group-by, subquery, window
-- ASK  By how many percent did revenue grow from month to month in 2025? January is compared with December 2024.
--      Revenue is the sum of order totals by the day of the order, cancelled orders left out. Columns: month as text
--      like 2025-03, growth in percent (negative for a fall, unrounded); in order of months.
-- GOLD
WITH monthly AS (
  SELECT SUBSTR(CAST(order_date AS TEXT), 1, 7) AS month, SUM(total_amount) AS revenue
  FROM orders
  WHERE status <> 'cancelled'
  GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 7)
),
compared AS (
  SELECT month, revenue, LAG(revenue) OVER (ORDER BY month) AS before
  FROM monthly
)
SELECT month, 100.0 * (revenue - before) / before AS growth
FROM compared
WHERE month >= '2025-01'
ORDER BY month
-- WRONG divides by the new month's revenue
WITH monthly AS (
  SELECT SUBSTR(CAST(order_date AS TEXT), 1, 7) AS month, SUM(total_amount) AS revenue
  FROM orders
  WHERE status <> 'cancelled'
  GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 7)
),
compared AS (
  SELECT month, revenue, LAG(revenue) OVER (ORDER BY month) AS before
  FROM monthly
)
SELECT month, 100.0 * (revenue - before) / revenue AS growth
FROM compared
WHERE month >= '2025-01'
ORDER BY month
-- WRONG January has nothing to compare with, as 2024 was cut off first
WITH monthly AS (
  SELECT SUBSTR(CAST(order_date AS TEXT), 1, 7) AS month, SUM(total_amount) AS revenue
  FROM orders
  WHERE status <> 'cancelled' AND order_date >= '2025-01-01'
  GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 7)
),
compared AS (
  SELECT month, revenue, LAG(revenue) OVER (ORDER BY month) AS before
  FROM monthly
)
SELECT month, 100.0 * (revenue - before) / before AS growth
FROM compared
ORDER BY month
-- WRONG compares with the month after
WITH monthly AS (
  SELECT SUBSTR(CAST(order_date AS TEXT), 1, 7) AS month, SUM(total_amount) AS revenue
  FROM orders
  WHERE status <> 'cancelled'
  GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 7)
),
compared AS (
  SELECT month, revenue, LEAD(revenue) OVER (ORDER BY month) AS before
  FROM monthly
)
SELECT month, 100.0 * (revenue - before) / before AS growth
FROM compared
WHERE month >= '2025-01'
ORDER BY month

-- TASK category-year-over-year  hard  period-over-period, pivot, case, group-by, join, subquery
-- ASK  How did the revenue of each category change from 2024 to 2025? Revenue is the sum of line totals by the day of the
--      order, cancelled orders left out. Give category name, revenue of 2024, revenue of 2025 and the change in percent
--      of 2024 (unrounded), only for categories that sold something in 2024, the strongest growth first.
-- GOLD
WITH yearly AS (
  SELECT
    p.category_id,
    SUM(CASE WHEN o.order_date < '2025-01-01' THEN i.line_total ELSE 0 END) AS revenue_2024,
    SUM(CASE WHEN o.order_date >= '2025-01-01' THEN i.line_total ELSE 0 END) AS revenue_2025
  FROM order_items AS i
  JOIN orders AS o ON o.order_id = i.order_id
  JOIN products AS p ON p.product_id = i.product_id
  WHERE o.status <> 'cancelled' AND o.order_date >= '2024-01-01' AND o.order_date < '2026-01-01'
  GROUP BY p.category_id
)
SELECT c.name, y.revenue_2024, y.revenue_2025, 100.0 * (y.revenue_2025 - y.revenue_2024) / y.revenue_2024 AS change
FROM yearly AS y
JOIN categories AS c ON c.category_id = y.category_id
WHERE y.revenue_2024 > 0
ORDER BY change DESC
-- WRONG 2024 holds the revenue of 2023 too
WITH yearly AS (
  SELECT
    p.category_id,
    SUM(CASE WHEN o.order_date < '2025-01-01' THEN i.line_total ELSE 0 END) AS revenue_2024,
    SUM(CASE WHEN o.order_date >= '2025-01-01' THEN i.line_total ELSE 0 END) AS revenue_2025
  FROM order_items AS i
  JOIN orders AS o ON o.order_id = i.order_id
  JOIN products AS p ON p.product_id = i.product_id
  WHERE o.status <> 'cancelled'
  GROUP BY p.category_id
)
SELECT c.name, y.revenue_2024, y.revenue_2025, 100.0 * (y.revenue_2025 - y.revenue_2024) / y.revenue_2024 AS change
FROM yearly AS y
JOIN categories AS c ON c.category_id = y.category_id
WHERE y.revenue_2024 > 0
ORDER BY change DESC
-- WRONG the ratio of the two years, not the change
WITH yearly AS (
  SELECT
    p.category_id,
    SUM(CASE WHEN o.order_date < '2025-01-01' THEN i.line_total ELSE 0 END) AS revenue_2024,
    SUM(CASE WHEN o.order_date >= '2025-01-01' THEN i.line_total ELSE 0 END) AS revenue_2025
  FROM order_items AS i
  JOIN orders AS o ON o.order_id = i.order_id
  JOIN products AS p ON p.product_id = i.product_id
  WHERE o.status <> 'cancelled' AND o.order_date >= '2024-01-01' AND o.order_date < '2026-01-01'
  GROUP BY p.category_id
)
SELECT c.name, y.revenue_2024, y.revenue_2025, 100.0 * y.revenue_2025 / y.revenue_2024 AS change
FROM yearly AS y
JOIN categories AS c ON c.category_id = y.category_id
WHERE y.revenue_2024 > 0
ORDER BY change DESC

-- TASK months-above-year-average  hard  date, correlated, group-by, subquery
-- ASK  In which months of 2024 and 2025 were more orders placed than in the average month of the same year? Cancelled
--      orders count. Give the month as text like 2025-03 and the number of orders, in order of months.
-- GOLD
WITH monthly AS (
  SELECT SUBSTR(CAST(order_date AS TEXT), 1, 7) AS month, COUNT(*) AS orders
  FROM orders
  WHERE order_date >= '2024-01-01' AND order_date < '2026-01-01'
  GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 7)
)
SELECT m.month, m.orders
FROM monthly AS m
WHERE m.orders > (
  SELECT AVG(1.0 * y.orders)
  FROM monthly AS y
  WHERE SUBSTR(y.month, 1, 4) = SUBSTR(m.month, 1, 4)
)
ORDER BY m.month
-- WRONG one average over both years
WITH monthly AS (
  SELECT SUBSTR(CAST(order_date AS TEXT), 1, 7) AS month, COUNT(*) AS orders
  FROM orders
  WHERE order_date >= '2024-01-01' AND order_date < '2026-01-01'
  GROUP BY SUBSTR(CAST(order_date AS TEXT), 1, 7)
)
SELECT m.month, m.orders
FROM monthly AS m
WHERE m.orders > (SELECT AVG(1.0 * orders) FROM monthly)
ORDER BY m.month
-- WRONG the two years' Januaries become one month
WITH monthly AS (
  SELECT SUBSTR(CAST(order_date AS TEXT), 6, 2) AS month, COUNT(*) AS orders
  FROM orders
  WHERE order_date >= '2024-01-01' AND order_date < '2026-01-01'
  GROUP BY SUBSTR(CAST(order_date AS TEXT), 6, 2)
)
SELECT m.month, m.orders
FROM monthly AS m
WHERE m.orders > (SELECT AVG(1.0 * orders) FROM monthly)
ORDER BY m.month

-- TASK cohort-retention-by-year  hard  cohort, retention, date, distinct, group-by, join, outer-join, subquery
-- ASK  Group customers by the year of their first order. For each of these groups, how many customers are there, and how
--      many of them ordered again in the calendar year after? Cancelled orders do not count at all. Take first orders of
--      2023 and 2024. Columns: year as text like 2023, customers, came back.
-- GOLD
WITH ordered AS (
  SELECT DISTINCT customer_id, CAST(SUBSTR(CAST(order_date AS TEXT), 1, 4) AS INTEGER) AS year
  FROM orders
  WHERE status <> 'cancelled'
),
firsts AS (
  SELECT customer_id, MIN(year) AS first_year
  FROM ordered
  GROUP BY customer_id
)
SELECT CAST(f.first_year AS TEXT) AS year, COUNT(*) AS customers, COUNT(o.customer_id) AS came_back
FROM firsts AS f
LEFT JOIN ordered AS o ON o.customer_id = f.customer_id AND o.year = f.first_year + 1
WHERE f.first_year IN (2023, 2024)
GROUP BY f.first_year
-- WRONG counts orders of the year after, not customers
WITH ordered AS (
  SELECT customer_id, CAST(SUBSTR(CAST(order_date AS TEXT), 1, 4) AS INTEGER) AS year
  FROM orders
  WHERE status <> 'cancelled'
),
firsts AS (
  SELECT customer_id, MIN(year) AS first_year
  FROM ordered
  GROUP BY customer_id
)
SELECT CAST(f.first_year AS TEXT) AS year, COUNT(*) AS customers, COUNT(o.customer_id) AS came_back
FROM firsts AS f
LEFT JOIN ordered AS o ON o.customer_id = f.customer_id AND o.year = f.first_year + 1
WHERE f.first_year IN (2023, 2024)
GROUP BY f.first_year
-- WRONG everyone who ordered in a year is in its group, not only those who began in it
WITH ordered AS (
  SELECT DISTINCT customer_id, CAST(SUBSTR(CAST(order_date AS TEXT), 1, 4) AS INTEGER) AS year
  FROM orders
  WHERE status <> 'cancelled'
)
SELECT CAST(f.year AS TEXT) AS year, COUNT(*) AS customers, COUNT(o.customer_id) AS came_back
FROM ordered AS f
LEFT JOIN ordered AS o ON o.customer_id = f.customer_id AND o.year = f.year + 1
WHERE f.year IN (2023, 2024)
GROUP BY f.year
-- WRONG groups by the year of registration
WITH ordered AS (
  SELECT DISTINCT customer_id, CAST(SUBSTR(CAST(order_date AS TEXT), 1, 4) AS INTEGER) AS year
  FROM orders
  WHERE status <> 'cancelled'
),
firsts AS (
  SELECT customer_id, CAST(SUBSTR(CAST(registered_on AS TEXT), 1, 4) AS INTEGER) AS first_year
  FROM customers
)
SELECT CAST(f.first_year AS TEXT) AS year, COUNT(*) AS customers, COUNT(o.customer_id) AS came_back
FROM firsts AS f
LEFT JOIN ordered AS o ON o.customer_id = f.customer_id AND o.year = f.first_year + 1
WHERE f.first_year IN (2023, 2024)
GROUP BY f.first_year

-- TASK new-and-returning-revenue  hard  cohort, case, group-by, join, subquery
-- ASK  Split the revenue of each year into that of new customers (their first order ever lies in the same year) and that
--      of returning customers. Revenue is the sum of order totals; cancelled orders count neither as revenue nor as a
--      first order. Columns: year as text like 2024, revenue of new customers, revenue of returning customers; in order
--      of years.
-- GOLD
WITH valid AS (
  SELECT customer_id, SUBSTR(CAST(order_date AS TEXT), 1, 4) AS year, total_amount
  FROM orders
  WHERE status <> 'cancelled'
),
firsts AS (
  SELECT customer_id, MIN(year) AS first_year
  FROM valid
  GROUP BY customer_id
)
SELECT
  v.year,
  SUM(CASE WHEN v.year = f.first_year THEN v.total_amount ELSE 0 END) AS new_customers,
  SUM(CASE WHEN v.year > f.first_year THEN v.total_amount ELSE 0 END) AS returning_customers
FROM valid AS v
JOIN firsts AS f ON f.customer_id = v.customer_id
GROUP BY v.year
ORDER BY v.year
-- WRONG new by the year of registration
SELECT
  SUBSTR(CAST(o.order_date AS TEXT), 1, 4) AS year,
  SUM(CASE WHEN SUBSTR(CAST(o.order_date AS TEXT), 1, 4) = SUBSTR(CAST(c.registered_on AS TEXT), 1, 4)
    THEN o.total_amount ELSE 0 END) AS new_customers,
  SUM(CASE WHEN SUBSTR(CAST(o.order_date AS TEXT), 1, 4) > SUBSTR(CAST(c.registered_on AS TEXT), 1, 4)
    THEN o.total_amount ELSE 0 END) AS returning_customers
FROM orders AS o
JOIN customers AS c ON c.customer_id = o.customer_id
WHERE o.status <> 'cancelled'
GROUP BY SUBSTR(CAST(o.order_date AS TEXT), 1, 4)
ORDER BY year
-- WRONG only the first order itself counts as new
WITH valid AS (
  SELECT
    SUBSTR(CAST(order_date AS TEXT), 1, 4) AS year,
    total_amount,
    ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY order_date, order_id) AS place
  FROM orders
  WHERE status <> 'cancelled'
)
SELECT
  year,
  SUM(CASE WHEN place = 1 THEN total_amount ELSE 0 END) AS new_customers,
  SUM(CASE WHEN place > 1 THEN total_amount ELSE 0 END) AS returning_customers
FROM valid
GROUP BY year
ORDER BY year

-- TASK second-order-within-30-days  hard  date, retention, aggregate, subquery, window
-- ASK  How many customers placed their second order at most 30 days after their first? Cancelled orders are not counted
--      as orders; two orders on one day are first and second. Give one number.
-- GOLD
WITH placed AS (
  SELECT
    customer_id,
    order_date,
    LEAD(order_date) OVER (PARTITION BY customer_id ORDER BY order_date, order_id) AS next_date,
    ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY order_date, order_id) AS place
  FROM orders
  WHERE status <> 'cancelled'
)
SELECT COUNT(*)
FROM placed
WHERE place = 1 AND JULIANDAY(next_date) - JULIANDAY(order_date) <= 30
-- ON duckdb, postgres
WITH placed AS (
  SELECT
    customer_id,
    order_date,
    LEAD(order_date) OVER (PARTITION BY customer_id ORDER BY order_date, order_id) AS next_date,
    ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY order_date, order_id) AS place
  FROM orders
  WHERE status <> 'cancelled'
)
SELECT COUNT(*)
FROM placed
WHERE place = 1 AND next_date - order_date <= 30
-- WRONG any two orders in a row, not the first two
WITH placed AS (
  SELECT
    customer_id,
    order_date,
    LEAD(order_date) OVER (PARTITION BY customer_id ORDER BY order_date, order_id) AS next_date
  FROM orders
  WHERE status <> 'cancelled'
)
SELECT COUNT(DISTINCT customer_id)
FROM placed
WHERE JULIANDAY(next_date) - JULIANDAY(order_date) <= 30
-- ON duckdb, postgres
WITH placed AS (
  SELECT
    customer_id,
    order_date,
    LEAD(order_date) OVER (PARTITION BY customer_id ORDER BY order_date, order_id) AS next_date
  FROM orders
  WHERE status <> 'cancelled'
)
SELECT COUNT(DISTINCT customer_id)
FROM placed
WHERE next_date - order_date <= 30
-- WRONG without a partition the next order is someone else's
WITH placed AS (
  SELECT
    customer_id,
    order_date,
    LEAD(order_date) OVER (ORDER BY order_date, order_id) AS next_date,
    ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY order_date, order_id) AS place
  FROM orders
  WHERE status <> 'cancelled'
)
SELECT COUNT(*)
FROM placed
WHERE place = 1 AND JULIANDAY(next_date) - JULIANDAY(order_date) <= 30
-- ON duckdb, postgres
WITH placed AS (
  SELECT
    customer_id,
    order_date,
    LEAD(order_date) OVER (ORDER BY order_date, order_id) AS next_date,
    ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY order_date, order_id) AS place
  FROM orders
  WHERE status <> 'cancelled'
)
SELECT COUNT(*)
FROM placed
WHERE place = 1 AND next_date - order_date <= 30

-- TASK longest-pause  hard  gaps-islands, date, subquery, window
-- ASK  Which three customers had the longest pause between two orders that followed each other? Cancelled orders count.
--      Give customer number, the day of the order before the pause, the day of the order after it and its length in
--      days, the longest first; of equal pauses, the smaller customer number first, and of a customer's own
--      equal pauses the earlier one. Each customer comes once.
-- GOLD
WITH paired AS (
  SELECT
    customer_id,
    LAG(order_date) OVER (PARTITION BY customer_id ORDER BY order_date, order_id) AS earlier,
    order_date AS later
  FROM orders
),
paused AS (
  SELECT
    customer_id,
    earlier,
    later,
    CAST(JULIANDAY(later) - JULIANDAY(earlier) AS INTEGER) AS days,
    ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY JULIANDAY(later) - JULIANDAY(earlier) DESC, earlier) AS place
  FROM paired
  WHERE earlier IS NOT NULL
)
SELECT customer_id, earlier, later, days
FROM paused
WHERE place = 1
ORDER BY days DESC, customer_id
LIMIT 3
-- ON duckdb, postgres
WITH paired AS (
  SELECT
    customer_id,
    LAG(order_date) OVER (PARTITION BY customer_id ORDER BY order_date, order_id) AS earlier,
    order_date AS later
  FROM orders
),
paused AS (
  SELECT
    customer_id,
    earlier,
    later,
    later - earlier AS days,
    ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY later - earlier DESC, earlier) AS place
  FROM paired
  WHERE earlier IS NOT NULL
)
SELECT customer_id, earlier, later, days
FROM paused
WHERE place = 1
ORDER BY days DESC, customer_id
LIMIT 3
-- WRONG from the first to the last order, not between neighbours
SELECT
  customer_id,
  MIN(order_date) AS earlier,
  MAX(order_date) AS later,
  CAST(JULIANDAY(MAX(order_date)) - JULIANDAY(MIN(order_date)) AS INTEGER) AS days
FROM orders
GROUP BY customer_id
ORDER BY days DESC, customer_id
LIMIT 3
-- ON duckdb, postgres
SELECT
  customer_id,
  MIN(order_date) AS earlier,
  MAX(order_date) AS later,
  MAX(order_date) - MIN(order_date) AS days
FROM orders
GROUP BY customer_id
ORDER BY days DESC, customer_id
LIMIT 3
-- WRONG the shortest pauses
WITH paired AS (
  SELECT
    customer_id,
    LAG(order_date) OVER (PARTITION BY customer_id ORDER BY order_date, order_id) AS earlier,
    order_date AS later
  FROM orders
)
SELECT customer_id, earlier, later, CAST(JULIANDAY(later) - JULIANDAY(earlier) AS INTEGER) AS days
FROM paired
WHERE earlier IS NOT NULL
ORDER BY days, customer_id
LIMIT 3
-- ON duckdb, postgres
WITH paired AS (
  SELECT
    customer_id,
    LAG(order_date) OVER (PARTITION BY customer_id ORDER BY order_date, order_id) AS earlier,
    order_date AS later
  FROM orders
)
SELECT customer_id, earlier, later, later - earlier AS days
FROM paired
WHERE earlier IS NOT NULL
ORDER BY days, customer_id
LIMIT 3

-- TASK month-streaks  hard  gaps-islands, distinct, group-by, having, subquery, window
-- ASK  For each customer who ordered in at least six calendar months in a row: how long is the longest such streak?
--      Cancelled orders count. Give customer number and length in months.
-- GOLD
WITH active AS (
  SELECT DISTINCT
    customer_id,
    CAST(SUBSTR(CAST(order_date AS TEXT), 1, 4) AS INTEGER) * 12
      + CAST(SUBSTR(CAST(order_date AS TEXT), 6, 2) AS INTEGER) AS month_number
  FROM orders
),
islands AS (
  SELECT
    customer_id,
    month_number - ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY month_number) AS island
  FROM active
),
streaks AS (
  SELECT customer_id, COUNT(*) AS months
  FROM islands
  GROUP BY customer_id, island
)
SELECT customer_id, MAX(months) AS longest
FROM streaks
GROUP BY customer_id
HAVING MAX(months) >= 6
-- WRONG without DISTINCT a second order in a month breaks the streak
WITH active AS (
  SELECT
    customer_id,
    CAST(SUBSTR(CAST(order_date AS TEXT), 1, 4) AS INTEGER) * 12
      + CAST(SUBSTR(CAST(order_date AS TEXT), 6, 2) AS INTEGER) AS month_number
  FROM orders
),
islands AS (
  SELECT
    customer_id,
    month_number - ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY month_number) AS island
  FROM active
),
streaks AS (
  SELECT customer_id, COUNT(*) AS months
  FROM islands
  GROUP BY customer_id, island
)
SELECT customer_id, MAX(months) AS longest
FROM streaks
GROUP BY customer_id
HAVING MAX(months) >= 6
-- WRONG all months with an order, in a row or not
SELECT customer_id, COUNT(DISTINCT SUBSTR(CAST(order_date AS TEXT), 1, 7)) AS longest
FROM orders
GROUP BY customer_id
HAVING COUNT(DISTINCT SUBSTR(CAST(order_date AS TEXT), 1, 7)) >= 6
-- WRONG month numbers without the year: December and January are not neighbours, two Marches are one
WITH active AS (
  SELECT DISTINCT customer_id, CAST(SUBSTR(CAST(order_date AS TEXT), 6, 2) AS INTEGER) AS month_number
  FROM orders
),
islands AS (
  SELECT
    customer_id,
    month_number - ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY month_number) AS island
  FROM active
),
streaks AS (
  SELECT customer_id, COUNT(*) AS months
  FROM islands
  GROUP BY customer_id, island
)
SELECT customer_id, MAX(months) AS longest
FROM streaks
GROUP BY customer_id
HAVING MAX(months) >= 6

-- TASK fully-paid-on  hard  running-total, group-by, join, subquery, window
-- ASK  For orders of 2025 that were paid in more than one payment and are paid in full: on which day was the total
--      reached? Give order number and that day.
-- GOLD
WITH running AS (
  SELECT
    p.order_id,
    p.payment_date,
    o.total_amount,
    SUM(p.amount) OVER (PARTITION BY p.order_id ORDER BY p.payment_date, p.payment_id) AS paid,
    COUNT(*) OVER (PARTITION BY p.order_id) AS parts
  FROM payments AS p
  JOIN orders AS o ON o.order_id = p.order_id
  WHERE o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
)
SELECT order_id, MIN(payment_date) AS paid_on
FROM running
WHERE parts > 1 AND paid >= total_amount
GROUP BY order_id
-- WRONG the first payment
WITH summed AS (
  SELECT order_id, SUM(amount) AS paid, COUNT(*) AS parts, MIN(payment_date) AS paid_on
  FROM payments
  GROUP BY order_id
)
SELECT o.order_id, s.paid_on
FROM summed AS s
JOIN orders AS o ON o.order_id = s.order_id
WHERE s.parts > 1 AND s.paid >= o.total_amount AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
-- WRONG the last payment's day, and all years
WITH summed AS (
  SELECT order_id, SUM(amount) AS paid, COUNT(*) AS parts, MAX(payment_date) AS paid_on
  FROM payments
  GROUP BY order_id
)
SELECT o.order_id, s.paid_on
FROM summed AS s
JOIN orders AS o ON o.order_id = s.order_id
WHERE s.parts > 1 AND s.paid >= o.total_amount
-- WRONG orders paid at once are in the list
WITH running AS (
  SELECT
    p.order_id,
    p.payment_date,
    o.total_amount,
    SUM(p.amount) OVER (PARTITION BY p.order_id ORDER BY p.payment_date, p.payment_id) AS paid
  FROM payments AS p
  JOIN orders AS o ON o.order_id = p.order_id
  WHERE o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
)
SELECT order_id, MIN(payment_date) AS paid_on
FROM running
WHERE paid >= total_amount
GROUP BY order_id

-- TASK months-without-a-sale  hard  date, group-by, join, outer-join, recursive, subquery
-- ASK  For each of the twelve months of 2025, in how many orders of that month, cancelled ones left out, was the product
--      'Copper Saucepan 1.5 l'? Months without any show 0. Columns: month number 1 to 12, orders; in order of
--      months.
-- GOLD
WITH RECURSIVE months(month) AS (
  SELECT 1
  UNION ALL
  SELECT month + 1 FROM months WHERE month < 12
),
sold AS (
  SELECT CAST(SUBSTR(CAST(o.order_date AS TEXT), 6, 2) AS INTEGER) AS month, COUNT(*) AS orders
  FROM orders AS o
  JOIN order_items AS i ON i.order_id = o.order_id
  JOIN products AS p ON p.product_id = i.product_id
  WHERE p.name = 'Copper Saucepan 1.5 l'
    AND o.status <> 'cancelled'
    AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
  GROUP BY CAST(SUBSTR(CAST(o.order_date AS TEXT), 6, 2) AS INTEGER)
)
SELECT m.month, COALESCE(s.orders, 0) AS orders
FROM months AS m
LEFT JOIN sold AS s ON s.month = m.month
ORDER BY m.month
-- WRONG months without a sale are missing
SELECT CAST(SUBSTR(CAST(o.order_date AS TEXT), 6, 2) AS INTEGER) AS month, COUNT(*) AS orders
FROM orders AS o
JOIN order_items AS i ON i.order_id = o.order_id
JOIN products AS p ON p.product_id = i.product_id
WHERE p.name = 'Copper Saucepan 1.5 l'
  AND o.status <> 'cancelled'
  AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
GROUP BY CAST(SUBSTR(CAST(o.order_date AS TEXT), 6, 2) AS INTEGER)
ORDER BY month
-- WRONG the same month of every year
WITH RECURSIVE months(month) AS (
  SELECT 1
  UNION ALL
  SELECT month + 1 FROM months WHERE month < 12
),
sold AS (
  SELECT CAST(SUBSTR(CAST(o.order_date AS TEXT), 6, 2) AS INTEGER) AS month, COUNT(*) AS orders
  FROM orders AS o
  JOIN order_items AS i ON i.order_id = o.order_id
  JOIN products AS p ON p.product_id = i.product_id
  WHERE p.name = 'Copper Saucepan 1.5 l' AND o.status <> 'cancelled'
  GROUP BY CAST(SUBSTR(CAST(o.order_date AS TEXT), 6, 2) AS INTEGER)
)
SELECT m.month, COALESCE(s.orders, 0) AS orders
FROM months AS m
LEFT JOIN sold AS s ON s.month = m.month
ORDER BY m.month
-- WRONG counts pieces, not orders
WITH RECURSIVE months(month) AS (
  SELECT 1
  UNION ALL
  SELECT month + 1 FROM months WHERE month < 12
),
sold AS (
  SELECT CAST(SUBSTR(CAST(o.order_date AS TEXT), 6, 2) AS INTEGER) AS month, SUM(i.quantity) AS orders
  FROM orders AS o
  JOIN order_items AS i ON i.order_id = o.order_id
  JOIN products AS p ON p.product_id = i.product_id
  WHERE p.name = 'Copper Saucepan 1.5 l'
    AND o.status <> 'cancelled'
    AND o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
  GROUP BY CAST(SUBSTR(CAST(o.order_date AS TEXT), 6, 2) AS INTEGER)
)
SELECT m.month, COALESCE(s.orders, 0) AS orders
FROM months AS m
LEFT JOIN sold AS s ON s.month = m.month
ORDER BY m.month
