-- Sales over time and between brands, stores, categories and people.

-- TASK brand-fiscal-growth  enterprise  fiscal, period-over-period, tenant, case, group-by, join, subquery
-- ASK  How did the sales amount of each brand change from fiscal year 2024 to fiscal year 2025? Give brand name, both
--      amounts and the change in percent of the first (unrounded).
-- GOLD
WITH yearly AS (
  SELECT
    s.tenant_id,
    SUM(CASE WHEN d.fiscal_year = 2024 THEN s.sales_amount ELSE 0 END) AS sales_2024,
    SUM(CASE WHEN d.fiscal_year = 2025 THEN s.sales_amount ELSE 0 END) AS sales_2025
  FROM fact_sales AS s
  JOIN dim_date AS d ON d.date_key = s.date_key
  GROUP BY s.tenant_id
)
SELECT t.tenant_name, y.sales_2024, y.sales_2025, 100.0 * (y.sales_2025 - y.sales_2024) / y.sales_2024 AS growth
FROM yearly AS y
JOIN dim_tenant AS t ON t.tenant_id = y.tenant_id
-- WRONG calendar years
WITH yearly AS (
  SELECT
    s.tenant_id,
    SUM(CASE WHEN d.year = 2024 THEN s.sales_amount ELSE 0 END) AS sales_2024,
    SUM(CASE WHEN d.year = 2025 THEN s.sales_amount ELSE 0 END) AS sales_2025
  FROM fact_sales AS s
  JOIN dim_date AS d ON d.date_key = s.date_key
  GROUP BY s.tenant_id
)
SELECT t.tenant_name, y.sales_2024, y.sales_2025, 100.0 * (y.sales_2025 - y.sales_2024) / y.sales_2024 AS growth
FROM yearly AS y
JOIN dim_tenant AS t ON t.tenant_id = y.tenant_id
-- WRONG percent of the later year
WITH yearly AS (
  SELECT
    s.tenant_id,
    SUM(CASE WHEN d.fiscal_year = 2024 THEN s.sales_amount ELSE 0 END) AS sales_2024,
    SUM(CASE WHEN d.fiscal_year = 2025 THEN s.sales_amount ELSE 0 END) AS sales_2025
  FROM fact_sales AS s
  JOIN dim_date AS d ON d.date_key = s.date_key
  GROUP BY s.tenant_id
)
SELECT t.tenant_name, y.sales_2024, y.sales_2025, 100.0 * (y.sales_2025 - y.sales_2024) / y.sales_2025 AS growth
FROM yearly AS y
JOIN dim_tenant AS t ON t.tenant_id = y.tenant_id

-- TASK year-to-date-against-last-year  enterprise  running-total, period-over-period, group-by, join, self-join,
--      subquery, window
-- ASK  For the brand Northfell Outdoor and each month of 2025: the sales amount from the start of the year to the end of
--      that month, and the same for 2024. Give month number, running total of 2025 and running total of 2024, in order
--      of months.
-- GOLD
WITH monthly AS (
  SELECT d.year, d.month, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_date AS d ON d.date_key = s.date_key
  JOIN dim_tenant AS t ON t.tenant_id = s.tenant_id
  WHERE t.tenant_name = 'Northfell Outdoor' AND d.year IN (2024, 2025)
  GROUP BY d.year, d.month
),
running AS (
  SELECT year, month, SUM(sales) OVER (PARTITION BY year ORDER BY month) AS to_date
  FROM monthly
)
SELECT a.month, a.to_date AS to_date_2025, b.to_date AS to_date_2024
FROM running AS a
JOIN running AS b ON b.month = a.month AND b.year = 2024
WHERE a.year = 2025
ORDER BY a.month
-- WRONG without a partition 2025 goes on from the end of 2024
WITH monthly AS (
  SELECT d.year, d.month, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_date AS d ON d.date_key = s.date_key
  JOIN dim_tenant AS t ON t.tenant_id = s.tenant_id
  WHERE t.tenant_name = 'Northfell Outdoor' AND d.year IN (2024, 2025)
  GROUP BY d.year, d.month
),
running AS (
  SELECT year, month, SUM(sales) OVER (ORDER BY year, month) AS to_date
  FROM monthly
)
SELECT a.month, a.to_date AS to_date_2025, b.to_date AS to_date_2024
FROM running AS a
JOIN running AS b ON b.month = a.month AND b.year = 2024
WHERE a.year = 2025
ORDER BY a.month
-- WRONG the months alone, not running
WITH monthly AS (
  SELECT d.year, d.month, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_date AS d ON d.date_key = s.date_key
  JOIN dim_tenant AS t ON t.tenant_id = s.tenant_id
  WHERE t.tenant_name = 'Northfell Outdoor' AND d.year IN (2024, 2025)
  GROUP BY d.year, d.month
)
SELECT a.month, a.sales AS to_date_2025, b.sales AS to_date_2024
FROM monthly AS a
JOIN monthly AS b ON b.month = a.month AND b.year = 2024
WHERE a.year = 2025
ORDER BY a.month

-- TASK seven-day-average-with-empty-days  enterprise  moving-average, tenant, group-by, join, outer-join, subquery,
--      window
-- ASK  For each day of December 2025, what is the average daily sales amount of the store Lumen & Loom Kyoto over that
--      day and the six calendar days before it? A day without sales counts as 0. Give date and average, in order of days.
-- GOLD
WITH daily AS (
  SELECT s.date_key, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_store AS st ON st.store_key = s.store_key
  WHERE st.store_name = 'Lumen & Loom Kyoto'
  GROUP BY s.date_key
),
averaged AS (
  SELECT
    d.date_key,
    d.full_date,
    AVG(COALESCE(daily.sales, 0)) OVER (ORDER BY d.date_key ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS average_sales
  FROM dim_date AS d
  LEFT JOIN daily ON daily.date_key = d.date_key
  WHERE d.date_key BETWEEN 20251101 AND 20251231
)
SELECT full_date, average_sales
FROM averaged
WHERE date_key >= 20251201
ORDER BY full_date
-- WRONG seven days with sales are more than seven days
WITH daily AS (
  SELECT s.date_key, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_store AS st ON st.store_key = s.store_key
  WHERE st.store_name = 'Lumen & Loom Kyoto'
  GROUP BY s.date_key
),
averaged AS (
  SELECT date_key, AVG(sales) OVER (ORDER BY date_key ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS average_sales
  FROM daily
)
SELECT d.full_date, a.average_sales
FROM averaged AS a
JOIN dim_date AS d ON d.date_key = a.date_key
WHERE a.date_key BETWEEN 20251201 AND 20251231
ORDER BY d.full_date
-- WRONG without COALESCE the average leaves empty days out
WITH daily AS (
  SELECT s.date_key, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_store AS st ON st.store_key = s.store_key
  WHERE st.store_name = 'Lumen & Loom Kyoto'
  GROUP BY s.date_key
),
averaged AS (
  SELECT
    d.date_key,
    d.full_date,
    AVG(daily.sales) OVER (ORDER BY d.date_key ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS average_sales
  FROM dim_date AS d
  LEFT JOIN daily ON daily.date_key = d.date_key
  WHERE d.date_key BETWEEN 20251101 AND 20251231
)
SELECT full_date, average_sales
FROM averaged
WHERE date_key >= 20251201
ORDER BY full_date
-- WRONG December is cut off first: its first days average fewer than seven
WITH daily AS (
  SELECT s.date_key, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_store AS st ON st.store_key = s.store_key
  WHERE st.store_name = 'Lumen & Loom Kyoto'
  GROUP BY s.date_key
)
SELECT
  d.full_date,
  AVG(COALESCE(daily.sales, 0)) OVER (ORDER BY d.date_key ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS average_sales
FROM dim_date AS d
LEFT JOIN daily ON daily.date_key = d.date_key
WHERE d.date_key BETWEEN 20251201 AND 20251231
ORDER BY d.full_date

-- TASK margin-leaders-by-brand  enterprise  top-n, tenant, group-by, join, subquery, window
-- ASK  What are the three products of each brand with the highest gross margin in 2025, where the margin is sales amount
--      less cost amount, summed over the sales lines? Give brand name, place, product name and margin.
-- GOLD
WITH margins AS (
  SELECT tenant_id, product_key, SUM(sales_amount - cost_amount) AS margin
  FROM fact_sales
  WHERE date_key BETWEEN 20250101 AND 20251231
  GROUP BY tenant_id, product_key
),
placed AS (
  SELECT
    tenant_id,
    product_key,
    margin,
    ROW_NUMBER() OVER (PARTITION BY tenant_id ORDER BY margin DESC, product_key) AS place
  FROM margins
)
SELECT t.tenant_name, m.place, p.product_name, m.margin
FROM placed AS m
JOIN dim_tenant AS t ON t.tenant_id = m.tenant_id
JOIN dim_product AS p ON p.product_key = m.product_key
WHERE m.place <= 3
-- WRONG cost_amount is the cost of the whole line, not of one piece
WITH margins AS (
  SELECT tenant_id, product_key, SUM(sales_amount - quantity * cost_amount) AS margin
  FROM fact_sales
  WHERE date_key BETWEEN 20250101 AND 20251231
  GROUP BY tenant_id, product_key
),
placed AS (
  SELECT
    tenant_id,
    product_key,
    margin,
    ROW_NUMBER() OVER (PARTITION BY tenant_id ORDER BY margin DESC, product_key) AS place
  FROM margins
)
SELECT t.tenant_name, m.place, p.product_name, m.margin
FROM placed AS m
JOIN dim_tenant AS t ON t.tenant_id = m.tenant_id
JOIN dim_product AS p ON p.product_key = m.product_key
WHERE m.place <= 3
-- WRONG the three best of all brands
WITH margins AS (
  SELECT tenant_id, product_key, SUM(sales_amount - cost_amount) AS margin
  FROM fact_sales
  WHERE date_key BETWEEN 20250101 AND 20251231
  GROUP BY tenant_id, product_key
),
placed AS (
  SELECT tenant_id, product_key, margin, ROW_NUMBER() OVER (ORDER BY margin DESC, product_key) AS place
  FROM margins
)
SELECT t.tenant_name, m.place, p.product_name, m.margin
FROM placed AS m
JOIN dim_tenant AS t ON t.tenant_id = m.tenant_id
JOIN dim_product AS p ON p.product_key = m.product_key
WHERE m.place <= 3
-- WRONG list prices hide the discounts
WITH margins AS (
  SELECT tenant_id, product_key, SUM(quantity * unit_price - cost_amount) AS margin
  FROM fact_sales
  WHERE date_key BETWEEN 20250101 AND 20251231
  GROUP BY tenant_id, product_key
),
placed AS (
  SELECT
    tenant_id,
    product_key,
    margin,
    ROW_NUMBER() OVER (PARTITION BY tenant_id ORDER BY margin DESC, product_key) AS place
  FROM margins
)
SELECT t.tenant_name, m.place, p.product_name, m.margin
FROM placed AS m
JOIN dim_tenant AS t ON t.tenant_id = m.tenant_id
JOIN dim_product AS p ON p.product_key = m.product_key
WHERE m.place <= 3

-- TASK quarterly-cohort-retention  enterprise  cohort, retention, pivot, case, distinct, group-by, join, subquery
-- ASK  Group the customers of Copper Kettle Kitchens by the calendar quarter of 2024 in which their first order ever
--      (cancelled orders left out) was placed. For each of the four quarters: how many customers are in the group, and how
--      many of them ordered again in the first, and how many in the second quarter after it? A customer with several
--      versions is one customer. Columns: quarter (1 to 4), customers, first quarter after, second quarter after; in
--      order of quarters.
-- GOLD
WITH active AS (
  SELECT DISTINCT c.customer_id, d.year * 4 + d.quarter AS period
  FROM fact_orders AS o
  JOIN dim_customer AS c ON c.customer_key = o.customer_key
  JOIN dim_date AS d ON d.date_key = o.date_key
  JOIN dim_tenant AS t ON t.tenant_id = o.tenant_id
  WHERE t.tenant_name = 'Copper Kettle Kitchens' AND o.status <> 'cancelled'
),
firsts AS (
  SELECT customer_id, MIN(period) AS first_period
  FROM active
  GROUP BY customer_id
)
SELECT
  f.first_period - 2024 * 4 AS quarter,
  COUNT(DISTINCT f.customer_id) AS customers,
  COUNT(DISTINCT CASE WHEN a.period = f.first_period + 1 THEN a.customer_id END) AS one_later,
  COUNT(DISTINCT CASE WHEN a.period = f.first_period + 2 THEN a.customer_id END) AS two_later
FROM firsts AS f
JOIN active AS a ON a.customer_id = f.customer_id
WHERE f.first_period BETWEEN 2024 * 4 + 1 AND 2024 * 4 + 4
GROUP BY f.first_period
ORDER BY quarter
-- WRONG versions instead of customers: a mover begins anew
WITH active AS (
  SELECT DISTINCT o.customer_key AS customer_id, d.year * 4 + d.quarter AS period
  FROM fact_orders AS o
  JOIN dim_date AS d ON d.date_key = o.date_key
  JOIN dim_tenant AS t ON t.tenant_id = o.tenant_id
  WHERE t.tenant_name = 'Copper Kettle Kitchens' AND o.status <> 'cancelled'
),
firsts AS (
  SELECT customer_id, MIN(period) AS first_period
  FROM active
  GROUP BY customer_id
)
SELECT
  f.first_period - 2024 * 4 AS quarter,
  COUNT(DISTINCT f.customer_id) AS customers,
  COUNT(DISTINCT CASE WHEN a.period = f.first_period + 1 THEN a.customer_id END) AS one_later,
  COUNT(DISTINCT CASE WHEN a.period = f.first_period + 2 THEN a.customer_id END) AS two_later
FROM firsts AS f
JOIN active AS a ON a.customer_id = f.customer_id
WHERE f.first_period BETWEEN 2024 * 4 + 1 AND 2024 * 4 + 4
GROUP BY f.first_period
ORDER BY quarter
-- WRONG the first order of 2024 is not the first ever
WITH active AS (
  SELECT DISTINCT c.customer_id, d.year * 4 + d.quarter AS period
  FROM fact_orders AS o
  JOIN dim_customer AS c ON c.customer_key = o.customer_key
  JOIN dim_date AS d ON d.date_key = o.date_key
  JOIN dim_tenant AS t ON t.tenant_id = o.tenant_id
  WHERE t.tenant_name = 'Copper Kettle Kitchens' AND o.status <> 'cancelled' AND d.year >= 2024
),
firsts AS (
  SELECT customer_id, MIN(period) AS first_period
  FROM active
  GROUP BY customer_id
)
SELECT
  f.first_period - 2024 * 4 AS quarter,
  COUNT(DISTINCT f.customer_id) AS customers,
  COUNT(DISTINCT CASE WHEN a.period = f.first_period + 1 THEN a.customer_id END) AS one_later,
  COUNT(DISTINCT CASE WHEN a.period = f.first_period + 2 THEN a.customer_id END) AS two_later
FROM firsts AS f
JOIN active AS a ON a.customer_id = f.customer_id
WHERE f.first_period BETWEEN 2024 * 4 + 1 AND 2024 * 4 + 4
GROUP BY f.first_period
ORDER BY quarter
-- WRONG the fourth quarter has no quarter after it in the same year
WITH active AS (
  SELECT DISTINCT c.customer_id, d.year, d.quarter
  FROM fact_orders AS o
  JOIN dim_customer AS c ON c.customer_key = o.customer_key
  JOIN dim_date AS d ON d.date_key = o.date_key
  JOIN dim_tenant AS t ON t.tenant_id = o.tenant_id
  WHERE t.tenant_name = 'Copper Kettle Kitchens' AND o.status <> 'cancelled'
),
firsts AS (
  SELECT customer_id, MIN(quarter) AS first_quarter
  FROM active
  WHERE year = 2024 AND customer_id NOT IN (SELECT customer_id FROM active WHERE year < 2024)
  GROUP BY customer_id
)
SELECT
  f.first_quarter AS quarter,
  COUNT(DISTINCT f.customer_id) AS customers,
  COUNT(DISTINCT CASE WHEN a.quarter = f.first_quarter + 1 THEN a.customer_id END) AS one_later,
  COUNT(DISTINCT CASE WHEN a.quarter = f.first_quarter + 2 THEN a.customer_id END) AS two_later
FROM firsts AS f
JOIN active AS a ON a.customer_id = f.customer_id AND a.year = 2024
GROUP BY f.first_quarter
ORDER BY quarter

-- TASK best-tenth-of-customers  enterprise  pareto, scd, case, group-by, join, subquery, window
-- ASK  For each brand, which percentage of the sales amount of 2025 comes from the best tenth of its customers? Order the
--      customers who bought in 2025 by their sales amount, highest first and of equal ones by customer id, and split them
--      into ten groups of equal size (the first groups take one more where it does not divide): the best tenth is the
--      first group. Versions of a customer are one customer. Give brand name and percentage, unrounded.
-- GOLD
WITH spent AS (
  SELECT c.tenant_id, c.customer_id, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_customer AS c ON c.customer_key = s.customer_key
  WHERE s.date_key BETWEEN 20250101 AND 20251231
  GROUP BY c.tenant_id, c.customer_id
),
grouped AS (
  SELECT tenant_id, sales, NTILE(10) OVER (PARTITION BY tenant_id ORDER BY sales DESC, customer_id) AS tenth
  FROM spent
)
SELECT t.tenant_name, 100.0 * SUM(CASE WHEN g.tenth = 1 THEN g.sales ELSE 0 END) / SUM(g.sales) AS percent
FROM grouped AS g
JOIN dim_tenant AS t ON t.tenant_id = g.tenant_id
GROUP BY t.tenant_id, t.tenant_name
-- WRONG one ranking over all brands
WITH spent AS (
  SELECT c.tenant_id, c.customer_id, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_customer AS c ON c.customer_key = s.customer_key
  WHERE s.date_key BETWEEN 20250101 AND 20251231
  GROUP BY c.tenant_id, c.customer_id
),
grouped AS (
  SELECT tenant_id, sales, NTILE(10) OVER (ORDER BY sales DESC, customer_id) AS tenth
  FROM spent
)
SELECT t.tenant_name, 100.0 * SUM(CASE WHEN g.tenth = 1 THEN g.sales ELSE 0 END) / SUM(g.sales) AS percent
FROM grouped AS g
JOIN dim_tenant AS t ON t.tenant_id = g.tenant_id
GROUP BY t.tenant_id, t.tenant_name
-- WRONG versions are ranked as if they were customers
WITH spent AS (
  SELECT tenant_id, customer_key, SUM(sales_amount) AS sales
  FROM fact_sales
  WHERE date_key BETWEEN 20250101 AND 20251231
  GROUP BY tenant_id, customer_key
),
grouped AS (
  SELECT tenant_id, sales, NTILE(10) OVER (PARTITION BY tenant_id ORDER BY sales DESC, customer_key) AS tenth
  FROM spent
)
SELECT t.tenant_name, 100.0 * SUM(CASE WHEN g.tenth = 1 THEN g.sales ELSE 0 END) / SUM(g.sales) AS percent
FROM grouped AS g
JOIN dim_tenant AS t ON t.tenant_id = g.tenant_id
GROUP BY t.tenant_id, t.tenant_name

-- TASK store-ranks-moved  enterprise  period-over-period, group-by, join, self-join, subquery, window
-- ASK  Rank all stores (online stores too) by sales amount within 2024 and within 2025, 1 for the highest. Which stores
--      sold in both years and have another rank in 2025 than in 2024? Give store name, rank of 2024 and rank of 2025.
-- GOLD
WITH yearly AS (
  SELECT s.store_key, d.year, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_date AS d ON d.date_key = s.date_key
  WHERE d.year IN (2024, 2025)
  GROUP BY s.store_key, d.year
),
ranked AS (
  SELECT store_key, year, RANK() OVER (PARTITION BY year ORDER BY sales DESC) AS place
  FROM yearly
)
SELECT st.store_name, a.place AS rank_2024, b.place AS rank_2025
FROM ranked AS a
JOIN ranked AS b ON b.store_key = a.store_key AND b.year = 2025
JOIN dim_store AS st ON st.store_key = a.store_key
WHERE a.year = 2024 AND a.place <> b.place
-- WRONG one ranking over both years
WITH yearly AS (
  SELECT s.store_key, d.year, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_date AS d ON d.date_key = s.date_key
  WHERE d.year IN (2024, 2025)
  GROUP BY s.store_key, d.year
),
ranked AS (
  SELECT store_key, year, RANK() OVER (ORDER BY sales DESC) AS place
  FROM yearly
)
SELECT st.store_name, a.place AS rank_2024, b.place AS rank_2025
FROM ranked AS a
JOIN ranked AS b ON b.store_key = a.store_key AND b.year = 2025
JOIN dim_store AS st ON st.store_key = a.store_key
WHERE a.year = 2024 AND a.place <> b.place
-- WRONG ranks within each brand
WITH yearly AS (
  SELECT s.store_key, s.tenant_id, d.year, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_date AS d ON d.date_key = s.date_key
  WHERE d.year IN (2024, 2025)
  GROUP BY s.store_key, s.tenant_id, d.year
),
ranked AS (
  SELECT store_key, year, RANK() OVER (PARTITION BY tenant_id, year ORDER BY sales DESC) AS place
  FROM yearly
)
SELECT st.store_name, a.place AS rank_2024, b.place AS rank_2025
FROM ranked AS a
JOIN ranked AS b ON b.store_key = a.store_key AND b.year = 2025
JOIN dim_store AS st ON st.store_key = a.store_key
WHERE a.year = 2024 AND a.place <> b.place

-- TASK sales-per-weekday  enterprise  ratio, group-by, join, outer-join, subquery
-- ASK  What is the average sales amount per calendar day of the store Northfell Denver by weekday in 2025? Days of 2025
--      without sales count as days with 0. Give day name and average, from Monday to Sunday.
-- GOLD
WITH daily AS (
  SELECT s.date_key, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_store AS st ON st.store_key = s.store_key
  WHERE st.store_name = 'Northfell Denver'
  GROUP BY s.date_key
)
SELECT d.day_name, AVG(COALESCE(daily.sales, 0)) AS average_sales
FROM dim_date AS d
LEFT JOIN daily ON daily.date_key = d.date_key
WHERE d.year = 2025
GROUP BY d.day_of_week, d.day_name
ORDER BY d.day_of_week
-- WRONG the average line, not the average day
SELECT d.day_name, AVG(s.sales_amount) AS average_sales
FROM fact_sales AS s
JOIN dim_store AS st ON st.store_key = s.store_key
JOIN dim_date AS d ON d.date_key = s.date_key
WHERE st.store_name = 'Northfell Denver' AND d.year = 2025
GROUP BY d.day_of_week, d.day_name
ORDER BY d.day_of_week
-- WRONG only days with sales
WITH daily AS (
  SELECT s.date_key, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_store AS st ON st.store_key = s.store_key
  WHERE st.store_name = 'Northfell Denver'
  GROUP BY s.date_key
)
SELECT d.day_name, AVG(daily.sales) AS average_sales
FROM dim_date AS d
JOIN daily ON daily.date_key = d.date_key
WHERE d.year = 2025
GROUP BY d.day_of_week, d.day_name
ORDER BY d.day_of_week

-- TASK unusual-store-months  enterprise  anomaly, group-by, join, subquery, window
-- ASK  In which months did a store sell more than twice its own average month? Take all months of 2024 and 2025 in which
--      the store had sales, and the average over just these months. Give store name, year, month and sales amount.
-- GOLD
WITH monthly AS (
  SELECT s.store_key, d.year, d.month, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_date AS d ON d.date_key = s.date_key
  WHERE d.year IN (2024, 2025)
  GROUP BY s.store_key, d.year, d.month
),
compared AS (
  SELECT store_key, year, month, sales, AVG(sales) OVER (PARTITION BY store_key) AS usual
  FROM monthly
)
SELECT st.store_name, c.year, c.month, c.sales
FROM compared AS c
JOIN dim_store AS st ON st.store_key = c.store_key
WHERE c.sales > 2 * c.usual
-- WRONG one average for all stores: large stores are always unusual
WITH monthly AS (
  SELECT s.store_key, d.year, d.month, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_date AS d ON d.date_key = s.date_key
  WHERE d.year IN (2024, 2025)
  GROUP BY s.store_key, d.year, d.month
),
compared AS (
  SELECT store_key, year, month, sales, AVG(sales) OVER () AS usual
  FROM monthly
)
SELECT st.store_name, c.year, c.month, c.sales
FROM compared AS c
JOIN dim_store AS st ON st.store_key = c.store_key
WHERE c.sales > 2 * c.usual
-- WRONG an average for each store and year
WITH monthly AS (
  SELECT s.store_key, d.year, d.month, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_date AS d ON d.date_key = s.date_key
  WHERE d.year IN (2024, 2025)
  GROUP BY s.store_key, d.year, d.month
),
compared AS (
  SELECT store_key, year, month, sales, AVG(sales) OVER (PARTITION BY store_key, year) AS usual
  FROM monthly
)
SELECT st.store_name, c.year, c.month, c.sales
FROM compared AS c
JOIN dim_store AS st ON st.store_key = c.store_key
WHERE c.sales > 2 * c.usual

-- TASK discount-rate-by-promotion-kind  enterprise  ratio, case, group-by, join
-- ASK  For the sales lines of 2025 with a promotion: what percentage of the value at full price was taken off by
--      promotions that are limited to a category, and by those for everything? Full price is quantity times unit price.
--      Columns: 'category' or 'everything', percentage (unrounded).
-- GOLD
SELECT
  CASE WHEN p.category IS NULL THEN 'everything' ELSE 'category' END AS kind,
  100.0 * SUM(s.discount_amount) / SUM(s.quantity * s.unit_price) AS percent
FROM fact_sales AS s
JOIN dim_promotion AS p ON p.promotion_key = s.promotion_key
WHERE s.date_key BETWEEN 20250101 AND 20251231
GROUP BY CASE WHEN p.category IS NULL THEN 'everything' ELSE 'category' END
-- WRONG the plain average of the promotions' percentages, whatever they were used for
SELECT
  CASE WHEN p.category IS NULL THEN 'everything' ELSE 'category' END AS kind,
  AVG(1.0 * p.discount_percent) AS percent
FROM fact_sales AS s
JOIN dim_promotion AS p ON p.promotion_key = s.promotion_key
WHERE s.date_key BETWEEN 20250101 AND 20251231
GROUP BY CASE WHEN p.category IS NULL THEN 'everything' ELSE 'category' END
-- WRONG lines without a promotion fall under 'everything'
SELECT
  CASE WHEN p.category IS NULL THEN 'everything' ELSE 'category' END AS kind,
  100.0 * SUM(s.discount_amount) / SUM(s.quantity * s.unit_price) AS percent
FROM fact_sales AS s
LEFT JOIN dim_promotion AS p ON p.promotion_key = s.promotion_key
WHERE s.date_key BETWEEN 20250101 AND 20251231
GROUP BY CASE WHEN p.category IS NULL THEN 'everything' ELSE 'category' END
-- WRONG percent of what was paid after the discount
SELECT
  CASE WHEN p.category IS NULL THEN 'everything' ELSE 'category' END AS kind,
  100.0 * SUM(s.discount_amount) / SUM(s.sales_amount) AS percent
FROM fact_sales AS s
JOIN dim_promotion AS p ON p.promotion_key = s.promotion_key
WHERE s.date_key BETWEEN 20250101 AND 20251231
GROUP BY CASE WHEN p.category IS NULL THEN 'everything' ELSE 'category' END

-- TASK return-rate-by-category  enterprise  ratio, tenant, group-by, join, outer-join
-- ASK  For the brand Northfell Outdoor: of the pieces sold in 2024, what percentage was returned later, by category?
--      Categories without returns show 0. Give category and percentage, unrounded.
-- GOLD
SELECT p.category, 100.0 * SUM(COALESCE(r.quantity, 0)) / SUM(s.quantity) AS percent
FROM fact_sales AS s
JOIN dim_product AS p ON p.product_key = s.product_key
JOIN dim_tenant AS t ON t.tenant_id = s.tenant_id
LEFT JOIN fact_returns AS r ON r.sale_id = s.sale_id
WHERE t.tenant_name = 'Northfell Outdoor' AND s.date_key BETWEEN 20240101 AND 20241231
GROUP BY p.category
-- WRONG a share of lines with a return, not of pieces
SELECT p.category, 100.0 * COUNT(r.return_id) / COUNT(*) AS percent
FROM fact_sales AS s
JOIN dim_product AS p ON p.product_key = s.product_key
JOIN dim_tenant AS t ON t.tenant_id = s.tenant_id
LEFT JOIN fact_returns AS r ON r.sale_id = s.sale_id
WHERE t.tenant_name = 'Northfell Outdoor' AND s.date_key BETWEEN 20240101 AND 20241231
GROUP BY p.category
-- WRONG an inner join leaves only what was returned in the denominator
SELECT p.category, 100.0 * SUM(r.quantity) / SUM(s.quantity) AS percent
FROM fact_sales AS s
JOIN dim_product AS p ON p.product_key = s.product_key
JOIN dim_tenant AS t ON t.tenant_id = s.tenant_id
JOIN fact_returns AS r ON r.sale_id = s.sale_id
WHERE t.tenant_name = 'Northfell Outdoor' AND s.date_key BETWEEN 20240101 AND 20241231
GROUP BY p.category

-- TASK best-month-of-each-brand  enterprise  top-n, tenant, group-by, join, subquery, window
-- ASK  Which month of 2025 was the best of each brand by sales amount? Give brand name, month number and amount.
-- GOLD
WITH monthly AS (
  SELECT s.tenant_id, d.month, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_date AS d ON d.date_key = s.date_key
  WHERE d.year = 2025
  GROUP BY s.tenant_id, d.month
),
ranked AS (
  SELECT tenant_id, month, sales, RANK() OVER (PARTITION BY tenant_id ORDER BY sales DESC) AS place
  FROM monthly
)
SELECT t.tenant_name, r.month, r.sales
FROM ranked AS r
JOIN dim_tenant AS t ON t.tenant_id = r.tenant_id
WHERE r.place = 1
-- WRONG the latest month beside the highest amount
WITH monthly AS (
  SELECT s.tenant_id, d.month, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_date AS d ON d.date_key = s.date_key
  WHERE d.year = 2025
  GROUP BY s.tenant_id, d.month
)
SELECT t.tenant_name, MAX(m.month) AS month, MAX(m.sales) AS sales
FROM monthly AS m
JOIN dim_tenant AS t ON t.tenant_id = m.tenant_id
GROUP BY t.tenant_id, t.tenant_name
-- WRONG the months of all years run together
WITH monthly AS (
  SELECT s.tenant_id, d.month, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_date AS d ON d.date_key = s.date_key
  GROUP BY s.tenant_id, d.month
),
ranked AS (
  SELECT tenant_id, month, sales, RANK() OVER (PARTITION BY tenant_id ORDER BY sales DESC) AS place
  FROM monthly
)
SELECT t.tenant_name, r.month, r.sales
FROM ranked AS r
JOIN dim_tenant AS t ON t.tenant_id = r.tenant_id
WHERE r.place = 1

-- TASK longest-run-of-sales-days  enterprise  gaps-islands, distinct, group-by, join, subquery, window
-- ASK  What is the longest run of consecutive calendar days with at least one sale in the online store Northfell Online, and when
--      did it begin and end? Give first day, last day and number of days; of equally long runs the earliest.
-- GOLD
WITH numbered AS (
  SELECT date_key, full_date, ROW_NUMBER() OVER (ORDER BY date_key) AS day_number
  FROM dim_date
),
active AS (
  SELECT DISTINCT n.full_date, n.day_number
  FROM fact_sales AS s
  JOIN dim_store AS st ON st.store_key = s.store_key
  JOIN numbered AS n ON n.date_key = s.date_key
  WHERE st.store_name = 'Northfell Online'
),
islands AS (
  SELECT full_date, day_number - ROW_NUMBER() OVER (ORDER BY day_number) AS island
  FROM active
)
SELECT MIN(full_date) AS first_day, MAX(full_date) AS last_day, COUNT(*) AS days
FROM islands
GROUP BY island
ORDER BY days DESC, first_day
LIMIT 1
-- WRONG date_key 20250301 follows 20250228 in the calendar, not in arithmetic: runs break at every month's end
WITH active AS (
  SELECT DISTINCT d.full_date, d.date_key
  FROM fact_sales AS s
  JOIN dim_store AS st ON st.store_key = s.store_key
  JOIN dim_date AS d ON d.date_key = s.date_key
  WHERE st.store_name = 'Northfell Online'
),
islands AS (
  SELECT full_date, date_key - ROW_NUMBER() OVER (ORDER BY date_key) AS island
  FROM active
)
SELECT MIN(full_date) AS first_day, MAX(full_date) AS last_day, COUNT(*) AS days
FROM islands
GROUP BY island
ORDER BY days DESC, first_day
LIMIT 1
-- WRONG first and last sale ever, and the number of days with sales between
SELECT MIN(d.full_date) AS first_day, MAX(d.full_date) AS last_day, COUNT(DISTINCT d.date_key) AS days
FROM fact_sales AS s
JOIN dim_store AS st ON st.store_key = s.store_key
JOIN dim_date AS d ON d.date_key = s.date_key
WHERE st.store_name = 'Northfell Online'

-- TASK channel-share-pivot  enterprise  pivot, ratio, tenant, case, group-by, join
-- ASK  For each brand, what percentage of its orders of 2025 that were not cancelled came online, in store and by phone?
--      One row a brand: brand name and the three percentages in this order, unrounded.
-- GOLD
SELECT
  t.tenant_name,
  100.0 * SUM(CASE WHEN o.channel = 'online' THEN 1 ELSE 0 END) / COUNT(*) AS online,
  100.0 * SUM(CASE WHEN o.channel = 'in_store' THEN 1 ELSE 0 END) / COUNT(*) AS in_store,
  100.0 * SUM(CASE WHEN o.channel = 'phone' THEN 1 ELSE 0 END) / COUNT(*) AS phone
FROM fact_orders AS o
JOIN dim_tenant AS t ON t.tenant_id = o.tenant_id
WHERE o.status <> 'cancelled' AND o.date_key BETWEEN 20250101 AND 20251231
GROUP BY t.tenant_id, t.tenant_name
-- WRONG percentages of the orders of all brands
SELECT
  t.tenant_name,
  100.0 * SUM(CASE WHEN o.channel = 'online' THEN 1 ELSE 0 END) / SUM(COUNT(*)) OVER () AS online,
  100.0 * SUM(CASE WHEN o.channel = 'in_store' THEN 1 ELSE 0 END) / SUM(COUNT(*)) OVER () AS in_store,
  100.0 * SUM(CASE WHEN o.channel = 'phone' THEN 1 ELSE 0 END) / SUM(COUNT(*)) OVER () AS phone
FROM fact_orders AS o
JOIN dim_tenant AS t ON t.tenant_id = o.tenant_id
WHERE o.status <> 'cancelled' AND o.date_key BETWEEN 20250101 AND 20251231
GROUP BY t.tenant_id, t.tenant_name
-- WRONG cancelled orders count
SELECT
  t.tenant_name,
  100.0 * SUM(CASE WHEN o.channel = 'online' THEN 1 ELSE 0 END) / COUNT(*) AS online,
  100.0 * SUM(CASE WHEN o.channel = 'in_store' THEN 1 ELSE 0 END) / COUNT(*) AS in_store,
  100.0 * SUM(CASE WHEN o.channel = 'phone' THEN 1 ELSE 0 END) / COUNT(*) AS phone
FROM fact_orders AS o
JOIN dim_tenant AS t ON t.tenant_id = o.tenant_id
WHERE o.date_key BETWEEN 20250101 AND 20251231
GROUP BY t.tenant_id, t.tenant_name
-- WRONG shares of the sales lines
SELECT
  t.tenant_name,
  100.0 * SUM(CASE WHEN o.channel = 'online' THEN 1 ELSE 0 END) / COUNT(*) AS online,
  100.0 * SUM(CASE WHEN o.channel = 'in_store' THEN 1 ELSE 0 END) / COUNT(*) AS in_store,
  100.0 * SUM(CASE WHEN o.channel = 'phone' THEN 1 ELSE 0 END) / COUNT(*) AS phone
FROM fact_orders AS o
JOIN fact_sales AS s ON s.order_id = o.order_id
JOIN dim_tenant AS t ON t.tenant_id = o.tenant_id
WHERE o.status <> 'cancelled' AND o.date_key BETWEEN 20250101 AND 20251231
GROUP BY t.tenant_id, t.tenant_name
