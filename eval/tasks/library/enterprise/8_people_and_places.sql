-- Staff, stores, parcels and brands: states on a day, percentiles, brands kept apart, shares of credit.

-- TASK headcount-as-of  hard  as-of, null, tenant, group-by, join
-- ASK  How many employees did each brand have on 31 December 2024? First and last day of work both count. Give brand name
--      and number.
-- GOLD
SELECT t.tenant_name, COUNT(*) AS employees
FROM dim_employee AS e
JOIN dim_tenant AS t ON t.tenant_id = e.tenant_id
WHERE e.hire_date <= '2024-12-31' AND (e.termination_date IS NULL OR e.termination_date >= '2024-12-31')
GROUP BY t.tenant_id, t.tenant_name
-- WRONG those who are still there today
SELECT t.tenant_name, COUNT(*) AS employees
FROM dim_employee AS e
JOIN dim_tenant AS t ON t.tenant_id = e.tenant_id
WHERE e.hire_date <= '2024-12-31' AND e.termination_date IS NULL
GROUP BY t.tenant_id, t.tenant_name
-- WRONG without brackets: AND before OR keeps everyone who left later, hired or not
SELECT t.tenant_name, COUNT(*) AS employees
FROM dim_employee AS e
JOIN dim_tenant AS t ON t.tenant_id = e.tenant_id
WHERE e.termination_date IS NULL OR e.termination_date >= '2024-12-31' AND e.hire_date <= '2024-12-31'
GROUP BY t.tenant_id, t.tenant_name

-- TASK headcount-by-month  hard  as-of, date, group-by, join, outer-join, subquery
-- ASK  How many employees of all brands were at work on the last day of each month of 2025? First and last day of work
--      both count. Give the day and the number, in order of days.
-- GOLD
WITH month_ends AS (
  SELECT MAX(full_date) AS day
  FROM dim_date
  WHERE year = 2025
  GROUP BY month
)
SELECT m.day, COUNT(e.employee_id) AS employees
FROM month_ends AS m
LEFT JOIN dim_employee AS e
  ON e.hire_date <= m.day AND (e.termination_date IS NULL OR e.termination_date >= m.day)
GROUP BY m.day
ORDER BY m.day
-- WRONG counts who was hired in each month
WITH month_ends AS (
  SELECT MIN(full_date) AS first_day, MAX(full_date) AS day
  FROM dim_date
  WHERE year = 2025
  GROUP BY month
)
SELECT m.day, COUNT(e.employee_id) AS employees
FROM month_ends AS m
LEFT JOIN dim_employee AS e ON e.hire_date BETWEEN m.first_day AND m.day
GROUP BY m.day
ORDER BY m.day
-- WRONG everyone hired by then, also who had left
WITH month_ends AS (
  SELECT MAX(full_date) AS day
  FROM dim_date
  WHERE year = 2025
  GROUP BY month
)
SELECT m.day, COUNT(e.employee_id) AS employees
FROM month_ends AS m
LEFT JOIN dim_employee AS e ON e.hire_date <= m.day
GROUP BY m.day
ORDER BY m.day

-- TASK salary-against-peers  hard  ratio, tenant, subquery, window
-- ASK  Which current employees earn more than 5 percent above the average of the current employees with the same job
--      title at the same brand? Give employee number, salary and that average.
-- GOLD
SELECT employee_id, annual_salary, usual
FROM (
  SELECT employee_id, annual_salary, AVG(annual_salary) OVER (PARTITION BY tenant_id, job_title) AS usual
  FROM dim_employee
  WHERE termination_date IS NULL
) AS compared
WHERE annual_salary > 1.05 * usual
-- WRONG the average over all brands
SELECT employee_id, annual_salary, usual
FROM (
  SELECT employee_id, annual_salary, AVG(annual_salary) OVER (PARTITION BY job_title) AS usual
  FROM dim_employee
  WHERE termination_date IS NULL
) AS compared
WHERE annual_salary > 1.05 * usual
-- WRONG people who have left are in the average
SELECT employee_id, annual_salary, usual
FROM (
  SELECT
    employee_id,
    annual_salary,
    termination_date,
    AVG(annual_salary) OVER (PARTITION BY tenant_id, job_title) AS usual
  FROM dim_employee
) AS compared
WHERE termination_date IS NULL AND annual_salary > 1.05 * usual

-- TASK delivery-ninetieth-percentile  enterprise  median, date, group-by, join, self-join, subquery, window
-- ASK  For each carrier, within how many days (delivery day minus shipping day) were 90 percent of the delivered parcels
--      delivered? Take the smallest number of days that at least 90 percent of the carrier's delivered parcels did not
--      exceed (the discrete 90th percentile). Give carrier and days.
-- GOLD
WITH numbered AS (
  SELECT date_key, ROW_NUMBER() OVER (ORDER BY date_key) AS day_number
  FROM dim_date
),
delivered AS (
  SELECT s.carrier, b.day_number - a.day_number AS days
  FROM fact_shipments AS s
  JOIN numbered AS a ON a.date_key = s.shipped_date_key
  JOIN numbered AS b ON b.date_key = s.delivered_date_key
),
shares AS (
  SELECT carrier, days, CUME_DIST() OVER (PARTITION BY carrier ORDER BY days) AS share
  FROM delivered
)
SELECT carrier, MIN(days) AS days
FROM shares
WHERE share >= 0.9
GROUP BY carrier
-- WRONG the difference of two date keys is not a number of days where a month ends between
WITH delivered AS (
  SELECT carrier, delivered_date_key - shipped_date_key AS days
  FROM fact_shipments
  WHERE delivered_date_key IS NOT NULL
),
shares AS (
  SELECT carrier, days, CUME_DIST() OVER (PARTITION BY carrier ORDER BY days) AS share
  FROM delivered
)
SELECT carrier, MIN(days) AS days
FROM shares
WHERE share >= 0.9
GROUP BY carrier
-- WRONG 90 percent of the slowest delivery
WITH numbered AS (
  SELECT date_key, ROW_NUMBER() OVER (ORDER BY date_key) AS day_number
  FROM dim_date
)
SELECT s.carrier, 0.9 * MAX(b.day_number - a.day_number) AS days
FROM fact_shipments AS s
JOIN numbered AS a ON a.date_key = s.shipped_date_key
JOIN numbered AS b ON b.date_key = s.delivered_date_key
GROUP BY s.carrier

-- TASK brand-category-against-own-brand  hard  tenant, ratio, group-by, join, subquery, window
-- ASK  Which categories brought less than 10 percent of their own brand's sales amount in 2025? Give brand name, category
--      and percentage, unrounded.
-- GOLD
WITH sold AS (
  SELECT s.tenant_id, p.category, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_product AS p ON p.product_key = s.product_key
  WHERE s.date_key BETWEEN 20250101 AND 20251231
  GROUP BY s.tenant_id, p.category
),
shares AS (
  SELECT tenant_id, category, 100.0 * sales / SUM(sales) OVER (PARTITION BY tenant_id) AS percent
  FROM sold
)
SELECT t.tenant_name, s.category, s.percent
FROM shares AS s
JOIN dim_tenant AS t ON t.tenant_id = s.tenant_id
WHERE s.percent < 10
-- WRONG percent of all brands together
WITH sold AS (
  SELECT s.tenant_id, p.category, SUM(s.sales_amount) AS sales
  FROM fact_sales AS s
  JOIN dim_product AS p ON p.product_key = s.product_key
  WHERE s.date_key BETWEEN 20250101 AND 20251231
  GROUP BY s.tenant_id, p.category
),
shares AS (
  SELECT tenant_id, category, 100.0 * sales / SUM(sales) OVER () AS percent
  FROM sold
)
SELECT t.tenant_name, s.category, s.percent
FROM shares AS s
JOIN dim_tenant AS t ON t.tenant_id = s.tenant_id
WHERE s.percent < 10
-- WRONG percent of pieces
WITH sold AS (
  SELECT s.tenant_id, p.category, SUM(s.quantity) AS sales
  FROM fact_sales AS s
  JOIN dim_product AS p ON p.product_key = s.product_key
  WHERE s.date_key BETWEEN 20250101 AND 20251231
  GROUP BY s.tenant_id, p.category
),
shares AS (
  SELECT tenant_id, category, 100.0 * sales / SUM(sales) OVER (PARTITION BY tenant_id) AS percent
  FROM sold
)
SELECT t.tenant_name, s.category, s.percent
FROM shares AS s
JOIN dim_tenant AS t ON t.tenant_id = s.tenant_id
WHERE s.percent < 10

-- TASK days-without-an-order  hard  gaps-islands, anti-join, date, correlated, join, subquery
-- ASK  On which days of December 2025 did the store Copper Kettle Lyon take no order? Cancelled orders are orders too.
--      Give the dates.
-- GOLD
SELECT d.full_date
FROM dim_date AS d
WHERE d.date_key BETWEEN 20251201 AND 20251231
  AND NOT EXISTS (
    SELECT 1
    FROM fact_orders AS o
    JOIN dim_store AS st ON st.store_key = o.store_key
    WHERE st.store_name = 'Copper Kettle Lyon' AND o.date_key = d.date_key
  )
-- WRONG days on which no store of any brand took an order
SELECT d.full_date
FROM dim_date AS d
LEFT JOIN fact_orders AS o ON o.date_key = d.date_key
WHERE d.date_key BETWEEN 20251201 AND 20251231 AND o.order_id IS NULL
-- WRONG an order with a sales line: days with nothing but cancelled orders come too
SELECT d.full_date
FROM dim_date AS d
WHERE d.date_key BETWEEN 20251201 AND 20251231
  AND NOT EXISTS (
    SELECT 1
    FROM fact_sales AS s
    JOIN dim_store AS st ON st.store_key = s.store_key
    WHERE st.store_name = 'Copper Kettle Lyon' AND s.date_key = d.date_key
  )

-- TASK linear-attribution  enterprise  attribution, scd, ratio, group-by, join, self-join, subquery, window
-- ASK  Linear attribution: share the total of each order of December 2025 that was not cancelled equally among all clicked
--      marketing touches that the customer (whatever the version) had from 1 November 2025 to the moment of the order.
--      Orders without such a touch are left out. Give channel and amount, unrounded.
-- GOLD
WITH paths AS (
  SELECT
    o.total_amount,
    m.channel,
    COUNT(*) OVER (PARTITION BY o.order_id) AS touches
  FROM fact_orders AS o
  JOIN dim_customer AS oc ON oc.customer_key = o.customer_key
  JOIN dim_customer AS mc ON mc.customer_id = oc.customer_id
  JOIN fact_marketing_touches AS m ON m.customer_key = mc.customer_key
  WHERE o.status <> 'cancelled'
    AND o.date_key BETWEEN 20251201 AND 20251231
    AND m.was_clicked
    AND m.date_key >= 20251101
    AND m.touched_at < o.ordered_at
)
SELECT channel, SUM(1.0 * total_amount / touches) AS amount
FROM paths
GROUP BY channel
-- WRONG every touch gets the whole order
SELECT m.channel, SUM(o.total_amount) AS amount
FROM fact_orders AS o
JOIN dim_customer AS oc ON oc.customer_key = o.customer_key
JOIN dim_customer AS mc ON mc.customer_id = oc.customer_id
JOIN fact_marketing_touches AS m ON m.customer_key = mc.customer_key
WHERE o.status <> 'cancelled'
  AND o.date_key BETWEEN 20251201 AND 20251231
  AND m.was_clicked
  AND m.date_key >= 20251101
  AND m.touched_at < o.ordered_at
GROUP BY m.channel
-- WRONG touches after the order share in it
WITH paths AS (
  SELECT
    o.total_amount,
    m.channel,
    COUNT(*) OVER (PARTITION BY o.order_id) AS touches
  FROM fact_orders AS o
  JOIN dim_customer AS oc ON oc.customer_key = o.customer_key
  JOIN dim_customer AS mc ON mc.customer_id = oc.customer_id
  JOIN fact_marketing_touches AS m ON m.customer_key = mc.customer_key
  WHERE o.status <> 'cancelled'
    AND o.date_key BETWEEN 20251201 AND 20251231
    AND m.was_clicked
    AND m.date_key >= 20251101
)
SELECT channel, SUM(1.0 * total_amount / touches) AS amount
FROM paths
GROUP BY channel

-- TASK promotion-lift  enterprise  period-over-period, ratio, case, group-by, join, self-join, subquery, window
-- ASK  Did Black Week 2024 pay? For each brand with a promotion named 'Black Week 2024': the average sales amount per
--      calendar day in the days of that promotion, and in the 14 calendar days just before it, over all sales of the brand.
--      Give brand name and the two averages, unrounded.
-- GOLD
WITH numbered AS (
  SELECT date_key, full_date, ROW_NUMBER() OVER (ORDER BY date_key) AS day_number
  FROM dim_date
),
windows AS (
  SELECT p.tenant_id, a.day_number AS first_day, b.day_number AS last_day
  FROM dim_promotion AS p
  JOIN numbered AS a ON a.full_date = p.start_date
  JOIN numbered AS b ON b.full_date = p.end_date
  WHERE p.promotion_name = 'Black Week 2024'
)
SELECT
  t.tenant_name,
  1.0 * SUM(CASE WHEN n.day_number >= w.first_day THEN s.sales_amount ELSE 0 END)
    / (w.last_day - w.first_day + 1) AS during,
  SUM(CASE WHEN n.day_number < w.first_day THEN s.sales_amount ELSE 0 END) / 14.0 AS before
FROM windows AS w
JOIN dim_tenant AS t ON t.tenant_id = w.tenant_id
JOIN numbered AS n ON n.day_number BETWEEN w.first_day - 14 AND w.last_day
JOIN fact_sales AS s ON s.date_key = n.date_key AND s.tenant_id = w.tenant_id
GROUP BY t.tenant_id, t.tenant_name, w.first_day, w.last_day
-- WRONG the sales of all brands on these days
WITH numbered AS (
  SELECT date_key, full_date, ROW_NUMBER() OVER (ORDER BY date_key) AS day_number
  FROM dim_date
),
windows AS (
  SELECT p.tenant_id, a.day_number AS first_day, b.day_number AS last_day
  FROM dim_promotion AS p
  JOIN numbered AS a ON a.full_date = p.start_date
  JOIN numbered AS b ON b.full_date = p.end_date
  WHERE p.promotion_name = 'Black Week 2024'
)
SELECT
  t.tenant_name,
  1.0 * SUM(CASE WHEN n.day_number >= w.first_day THEN s.sales_amount ELSE 0 END)
    / (w.last_day - w.first_day + 1) AS during,
  SUM(CASE WHEN n.day_number < w.first_day THEN s.sales_amount ELSE 0 END) / 14.0 AS before
FROM windows AS w
JOIN dim_tenant AS t ON t.tenant_id = w.tenant_id
JOIN numbered AS n ON n.day_number BETWEEN w.first_day - 14 AND w.last_day
JOIN fact_sales AS s ON s.date_key = n.date_key
GROUP BY t.tenant_id, t.tenant_name, w.first_day, w.last_day
-- WRONG averages over sales lines instead of days
WITH numbered AS (
  SELECT date_key, full_date, ROW_NUMBER() OVER (ORDER BY date_key) AS day_number
  FROM dim_date
),
windows AS (
  SELECT p.tenant_id, a.day_number AS first_day, b.day_number AS last_day
  FROM dim_promotion AS p
  JOIN numbered AS a ON a.full_date = p.start_date
  JOIN numbered AS b ON b.full_date = p.end_date
  WHERE p.promotion_name = 'Black Week 2024'
)
SELECT
  t.tenant_name,
  AVG(CASE WHEN n.day_number >= w.first_day THEN s.sales_amount END) AS during,
  AVG(CASE WHEN n.day_number < w.first_day THEN s.sales_amount END) AS before
FROM windows AS w
JOIN dim_tenant AS t ON t.tenant_id = w.tenant_id
JOIN numbered AS n ON n.day_number BETWEEN w.first_day - 14 AND w.last_day
JOIN fact_sales AS s ON s.date_key = n.date_key AND s.tenant_id = w.tenant_id
GROUP BY t.tenant_id, t.tenant_name
-- WRONG the last day of the promotion is missing
WITH numbered AS (
  SELECT date_key, full_date, ROW_NUMBER() OVER (ORDER BY date_key) AS day_number
  FROM dim_date
),
windows AS (
  SELECT p.tenant_id, a.day_number AS first_day, b.day_number AS last_day
  FROM dim_promotion AS p
  JOIN numbered AS a ON a.full_date = p.start_date
  JOIN numbered AS b ON b.full_date = p.end_date
  WHERE p.promotion_name = 'Black Week 2024'
)
SELECT
  t.tenant_name,
  1.0 * SUM(CASE WHEN n.day_number >= w.first_day THEN s.sales_amount ELSE 0 END)
    / (w.last_day - w.first_day) AS during,
  SUM(CASE WHEN n.day_number < w.first_day THEN s.sales_amount ELSE 0 END) / 14.0 AS before
FROM windows AS w
JOIN dim_tenant AS t ON t.tenant_id = w.tenant_id
JOIN numbered AS n ON n.day_number >= w.first_day - 14 AND n.day_number < w.last_day
JOIN fact_sales AS s ON s.date_key = n.date_key AND s.tenant_id = w.tenant_id
GROUP BY t.tenant_id, t.tenant_name, w.first_day, w.last_day

-- TASK rfm-cells  enterprise  rfm, scd, tenant, case, group-by, join, subquery
-- ASK  RFM cells for the customers of Lumen & Loom with an order in 2025 that was not cancelled, from these orders, all
--      versions of a customer together. R: 2 if the last order was on or after 1 October 2025, else 1; F: 2 with at least
--      three orders, else 1; M: 2 with at least 500 euros in total, else 1. Give R, F, M and the number of customers in
--      each cell that has any.
-- GOLD
WITH profile AS (
  SELECT
    c.customer_id,
    CASE WHEN MAX(o.date_key) >= 20251001 THEN 2 ELSE 1 END AS r,
    CASE WHEN COUNT(*) >= 3 THEN 2 ELSE 1 END AS f,
    CASE WHEN SUM(o.total_amount) >= 500 THEN 2 ELSE 1 END AS m
  FROM fact_orders AS o
  JOIN dim_customer AS c ON c.customer_key = o.customer_key
  JOIN dim_tenant AS t ON t.tenant_id = o.tenant_id
  WHERE t.tenant_name = 'Lumen & Loom'
    AND o.status <> 'cancelled'
    AND o.date_key BETWEEN 20250101 AND 20251231
  GROUP BY c.customer_id
)
SELECT r, f, m, COUNT(*) AS customers
FROM profile
GROUP BY r, f, m
-- WRONG a cell for each version
WITH profile AS (
  SELECT
    o.customer_key,
    CASE WHEN MAX(o.date_key) >= 20251001 THEN 2 ELSE 1 END AS r,
    CASE WHEN COUNT(*) >= 3 THEN 2 ELSE 1 END AS f,
    CASE WHEN SUM(o.total_amount) >= 500 THEN 2 ELSE 1 END AS m
  FROM fact_orders AS o
  JOIN dim_tenant AS t ON t.tenant_id = o.tenant_id
  WHERE t.tenant_name = 'Lumen & Loom'
    AND o.status <> 'cancelled'
    AND o.date_key BETWEEN 20250101 AND 20251231
  GROUP BY o.customer_key
)
SELECT r, f, m, COUNT(*) AS customers
FROM profile
GROUP BY r, f, m
-- WRONG counts the lines of an order as orders
WITH profile AS (
  SELECT
    c.customer_id,
    CASE WHEN MAX(s.date_key) >= 20251001 THEN 2 ELSE 1 END AS r,
    CASE WHEN COUNT(*) >= 3 THEN 2 ELSE 1 END AS f,
    CASE WHEN SUM(s.sales_amount) >= 500 THEN 2 ELSE 1 END AS m
  FROM fact_sales AS s
  JOIN dim_customer AS c ON c.customer_key = s.customer_key
  JOIN dim_tenant AS t ON t.tenant_id = s.tenant_id
  WHERE t.tenant_name = 'Lumen & Loom' AND s.date_key BETWEEN 20250101 AND 20251231
  GROUP BY c.customer_id
)
SELECT r, f, m, COUNT(*) AS customers
FROM profile
GROUP BY r, f, m
-- WRONG the highest single order in place of the sum
WITH profile AS (
  SELECT
    c.customer_id,
    CASE WHEN MAX(o.date_key) >= 20251001 THEN 2 ELSE 1 END AS r,
    CASE WHEN COUNT(*) >= 3 THEN 2 ELSE 1 END AS f,
    CASE WHEN MAX(o.total_amount) >= 500 THEN 2 ELSE 1 END AS m
  FROM fact_orders AS o
  JOIN dim_customer AS c ON c.customer_key = o.customer_key
  JOIN dim_tenant AS t ON t.tenant_id = o.tenant_id
  WHERE t.tenant_name = 'Lumen & Loom'
    AND o.status <> 'cancelled'
    AND o.date_key BETWEEN 20250101 AND 20251231
  GROUP BY c.customer_id
)
SELECT r, f, m, COUNT(*) AS customers
FROM profile
GROUP BY r, f, m
