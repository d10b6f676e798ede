-- First steps in the warehouse: which table, which date, which brand, which version of a customer.
-- Days are numbers like 20250301 (date_key), so that ranges need no date functions.

-- TASK current-customers-by-brand  easy  scd, tenant, group-by, join
-- ASK  How many current customers does each brand have? Give brand name and number.
-- GOLD
SELECT t.tenant_name, COUNT(*) AS customers
FROM dim_customer AS c
JOIN dim_tenant AS t ON t.tenant_id = c.tenant_id
WHERE c.is_current
GROUP BY t.tenant_id, t.tenant_name
-- WRONG counts every version of a customer
SELECT t.tenant_name, COUNT(*) AS customers
FROM dim_customer AS c
JOIN dim_tenant AS t ON t.tenant_id = c.tenant_id
GROUP BY t.tenant_id, t.tenant_name
-- WRONG one number for all brands
SELECT 'all', COUNT(*) AS customers
FROM dim_customer
WHERE is_current

-- TASK customers-without-email  easy  scd, aggregate, distinct
-- ASK  How many customers (not versions of customers) are there with a version that has no e-mail address? Give one
--      number.
-- GOLD
SELECT COUNT(DISTINCT customer_id)
FROM dim_customer
WHERE email IS NULL
-- WRONG counts versions
SELECT COUNT(*)
FROM dim_customer
WHERE email IS NULL
-- WRONG counts the customers that have an address
SELECT COUNT(DISTINCT customer_id)
FROM dim_customer
WHERE email IS NOT NULL

-- TASK online-sales-2025  easy  aggregate, join
-- ASK  What was the sales amount of online orders in 2025 over all brands? Give one number.
-- GOLD
SELECT SUM(s.sales_amount)
FROM fact_sales AS s
JOIN fact_orders AS o ON o.order_id = s.order_id
WHERE o.channel = 'online' AND s.date_key BETWEEN 20250101 AND 20251231
-- WRONG the channel is forgotten
SELECT SUM(sales_amount)
FROM fact_sales
WHERE date_key BETWEEN 20250101 AND 20251231
-- WRONG list price without the discounts
SELECT SUM(s.quantity * s.unit_price)
FROM fact_sales AS s
JOIN fact_orders AS o ON o.order_id = s.order_id
WHERE o.channel = 'online' AND s.date_key BETWEEN 20250101 AND 20251231

-- TASK open-stores-mid-2024  easy  as-of, null, date
-- ASK  Which stores were open on 30 June 2024? A store is open from its first to its last day of sale, both included.
--      Give the store names, online stores too.
-- GOLD
SELECT store_name
FROM dim_store
WHERE opened_on <= '2024-06-30' AND (closed_on IS NULL OR closed_on >= '2024-06-30')
-- WRONG stores that closed later were still open then
SELECT store_name
FROM dim_store
WHERE opened_on <= '2024-06-30' AND closed_on IS NULL
-- WRONG leaves out what never closed: a comparison with NULL is not true
SELECT store_name
FROM dim_store
WHERE opened_on <= '2024-06-30' AND closed_on >= '2024-06-30'

-- TASK weekend-holidays  easy  date, filter
-- ASK  Which public holidays of 2022 fell on a Saturday or Sunday? Give date and name.
-- GOLD
SELECT full_date, holiday_name
FROM dim_date
WHERE year = 2022 AND holiday_name IS NOT NULL AND is_weekend
-- WRONG every holiday of the year
SELECT full_date, holiday_name
FROM dim_date
WHERE year = 2022 AND holiday_name IS NOT NULL
-- WRONG the fiscal year 2022 ends in June: Christmas is not in it
SELECT full_date, holiday_name
FROM dim_date
WHERE fiscal_year = 2022 AND holiday_name IS NOT NULL AND is_weekend

-- TASK unanswered-tickets  easy  null, group-by
-- ASK  How many support tickets that nobody has answered yet are there by priority? Give priority and number.
-- GOLD
SELECT priority, COUNT(*) AS tickets
FROM fact_support_tickets
WHERE first_response_at IS NULL
GROUP BY priority
-- WRONG not resolved is not the same as not answered
SELECT priority, COUNT(*) AS tickets
FROM fact_support_tickets
WHERE resolved_at IS NULL
GROUP BY priority
-- WRONG COUNT of a missing value is 0
SELECT priority, COUNT(first_response_at) AS tickets
FROM fact_support_tickets
WHERE first_response_at IS NULL
GROUP BY priority

-- TASK returns-without-reason  easy  null, ratio, aggregate
-- ASK  What percentage of the returns has no reason on record? Give one unrounded number.
-- GOLD
SELECT 100.0 * (COUNT(*) - COUNT(reason)) / COUNT(*)
FROM fact_returns
-- WRONG whole-number division
SELECT (COUNT(*) - COUNT(reason)) / COUNT(*) * 100
FROM fact_returns
-- ON duckdb
SELECT (COUNT(*) - COUNT(reason)) // COUNT(*) * 100
FROM fact_returns
-- WRONG the percentage that has one
SELECT 100.0 * COUNT(reason) / COUNT(*)
FROM fact_returns

-- TASK managers-of-people  easy  aggregate, distinct
-- ASK  How many employees have at least one person reporting to them? Count people who have left as well, on both
--      sides. Give one number.
-- GOLD
SELECT COUNT(DISTINCT manager_id)
FROM dim_employee
-- WRONG counts those who report to someone
SELECT COUNT(manager_id)
FROM dim_employee
-- WRONG titles are not lines of reporting
SELECT COUNT(*)
FROM dim_employee
WHERE job_title LIKE '%Manager%'

-- TASK individual-contributors  medium  anti-join, null, aggregate, correlated, subquery
-- ASK  How many employees have nobody reporting to them? Count people who have left as well, on both sides. Give one
--      number.
-- GOLD
SELECT COUNT(*)
FROM dim_employee AS e
WHERE NOT EXISTS (SELECT 1 FROM dim_employee AS r WHERE r.manager_id = e.employee_id)
-- WRONG NOT IN over a list that holds NULL is never true
SELECT COUNT(*)
FROM dim_employee
WHERE employee_id NOT IN (SELECT manager_id FROM dim_employee)
-- WRONG employees without a manager
SELECT COUNT(*)
FROM dim_employee
WHERE manager_id IS NULL

-- TASK sales-by-fiscal-quarter  medium  fiscal, group-by, join
-- ASK  What was the sales amount of each quarter of the fiscal year 2025, over all brands? Give fiscal quarter and
--      amount, in order of quarters.
-- GOLD
SELECT d.fiscal_quarter, SUM(s.sales_amount) AS sales
FROM fact_sales AS s
JOIN dim_date AS d ON d.date_key = s.date_key
WHERE d.fiscal_year = 2025
GROUP BY d.fiscal_quarter
ORDER BY d.fiscal_quarter
-- WRONG calendar quarters of the calendar year
SELECT d.quarter, SUM(s.sales_amount) AS sales
FROM fact_sales AS s
JOIN dim_date AS d ON d.date_key = s.date_key
WHERE d.year = 2025
GROUP BY d.quarter
ORDER BY d.quarter
-- WRONG fiscal quarters of the calendar year: halves of two fiscal years
SELECT d.fiscal_quarter, SUM(s.sales_amount) AS sales
FROM fact_sales AS s
JOIN dim_date AS d ON d.date_key = s.date_key
WHERE d.year = 2025
GROUP BY d.fiscal_quarter
ORDER BY d.fiscal_quarter

-- TASK far-below-the-manager  medium  join, self-join
-- ASK  Which current employees earn less than 60 percent of what their manager earns? Give employee number and the manager's employee number.
-- GOLD
SELECT e.employee_id, m.employee_id AS manager_id
FROM dim_employee AS e
JOIN dim_employee AS m ON m.employee_id = e.manager_id
WHERE e.termination_date IS NULL AND e.annual_salary < 0.6 * m.annual_salary
-- WRONG the other way round
SELECT e.employee_id, m.employee_id AS manager_id
FROM dim_employee AS e
JOIN dim_employee AS m ON m.employee_id = e.manager_id
WHERE e.termination_date IS NULL AND m.annual_salary < 0.6 * e.annual_salary
-- WRONG people who have left come too
SELECT e.employee_id, m.employee_id AS manager_id
FROM dim_employee AS e
JOIN dim_employee AS m ON m.employee_id = e.manager_id
WHERE e.annual_salary < 0.6 * m.annual_salary

-- TASK unpaid-balance-by-brand  medium  fan-out, tenant, group-by, join, outer-join, subquery
-- ASK  How much is still to be paid on orders that were not cancelled, by brand? Give brand name and the open amount:
--      the sum of order totals less the sum of payments for these orders.
-- GOLD
WITH paid AS (
  SELECT order_id, SUM(amount) AS amount
  FROM fact_payments
  GROUP BY order_id
)
SELECT t.tenant_name, SUM(o.total_amount) - COALESCE(SUM(p.amount), 0) AS open_amount
FROM fact_orders AS o
JOIN dim_tenant AS t ON t.tenant_id = o.tenant_id
LEFT JOIN paid AS p ON p.order_id = o.order_id
WHERE o.status <> 'cancelled'
GROUP BY t.tenant_id, t.tenant_name
-- WRONG an order paid in three parts is added three times
SELECT t.tenant_name, SUM(o.total_amount) - COALESCE(SUM(p.amount), 0) AS open_amount
FROM fact_orders AS o
JOIN dim_tenant AS t ON t.tenant_id = o.tenant_id
LEFT JOIN fact_payments AS p ON p.order_id = o.order_id
WHERE o.status <> 'cancelled'
GROUP BY t.tenant_id, t.tenant_name
-- WRONG orders without any payment are dropped
WITH paid AS (
  SELECT order_id, SUM(amount) AS amount
  FROM fact_payments
  GROUP BY order_id
)
SELECT t.tenant_name, SUM(o.total_amount) - SUM(p.amount) AS open_amount
FROM fact_orders AS o
JOIN dim_tenant AS t ON t.tenant_id = o.tenant_id
JOIN paid AS p ON p.order_id = o.order_id
WHERE o.status <> 'cancelled'
GROUP BY t.tenant_id, t.tenant_name

-- TASK net-sales-by-category  medium  fan-out, tenant, group-by, join, outer-join
-- ASK  For the brand Copper Kettle Kitchens, what are the sales less the refunds of each category in 2024? Take the
--      sales lines of 2024 and whatever was refunded for these lines, at any time. Give category and net amount.
-- GOLD
SELECT p.category, SUM(s.sales_amount) - SUM(COALESCE(r.refund_amount, 0)) AS net_sales
FROM fact_sales AS s
JOIN dim_product AS p ON p.product_key = s.product_key
JOIN dim_tenant AS t ON t.tenant_id = s.tenant_id
LEFT JOIN fact_returns AS r ON r.sale_id = s.sale_id
WHERE t.tenant_name = 'Copper Kettle Kitchens' AND s.date_key BETWEEN 20240101 AND 20241231
GROUP BY p.category
-- WRONG only lines that were returned
SELECT p.category, SUM(s.sales_amount) - SUM(r.refund_amount) AS net_sales
FROM fact_sales AS s
JOIN dim_product AS p ON p.product_key = s.product_key
JOIN dim_tenant AS t ON t.tenant_id = s.tenant_id
JOIN fact_returns AS r ON r.sale_id = s.sale_id
WHERE t.tenant_name = 'Copper Kettle Kitchens' AND s.date_key BETWEEN 20240101 AND 20241231
GROUP BY p.category
-- WRONG without COALESCE: SUM over a difference with NULL forgets every line that was kept
SELECT p.category, SUM(s.sales_amount - r.refund_amount) AS net_sales
FROM fact_sales AS s
JOIN dim_product AS p ON p.product_key = s.product_key
JOIN dim_tenant AS t ON t.tenant_id = s.tenant_id
LEFT JOIN fact_returns AS r ON r.sale_id = s.sale_id
WHERE t.tenant_name = 'Copper Kettle Kitchens' AND s.date_key BETWEEN 20240101 AND 20241231
GROUP BY p.category
-- WRONG refunds by the day of the return
SELECT p.category, SUM(s.sales_amount) - SUM(COALESCE(r.refund_amount, 0)) AS net_sales
FROM fact_sales AS s
JOIN dim_product AS p ON p.product_key = s.product_key
JOIN dim_tenant AS t ON t.tenant_id = s.tenant_id
LEFT JOIN fact_returns AS r ON r.sale_id = s.sale_id AND r.date_key BETWEEN 20240101 AND 20241231
WHERE t.tenant_name = 'Copper Kettle Kitchens' AND s.date_key BETWEEN 20240101 AND 20241231
GROUP BY p.category

-- TASK carrier-quality  medium  ratio, case, group-by
-- ASK  For each carrier, give the number of parcels, the percentage of them that was lost (unrounded) and the average
--      shipping cost of those that were delivered.
-- GOLD
SELECT
  carrier,
  COUNT(*) AS parcels,
  100.0 * SUM(CASE WHEN status = 'lost' THEN 1 ELSE 0 END) / COUNT(*) AS lost_percent,
  AVG(CASE WHEN status = 'delivered' THEN shipping_cost END) AS average_cost
FROM fact_shipments
GROUP BY carrier
-- WRONG not delivered is not lost: parcels may be on their way
SELECT
  carrier,
  COUNT(*) AS parcels,
  100.0 * SUM(CASE WHEN delivered_at IS NULL THEN 1 ELSE 0 END) / COUNT(*) AS lost_percent,
  AVG(CASE WHEN status = 'delivered' THEN shipping_cost END) AS average_cost
FROM fact_shipments
GROUP BY carrier
-- WRONG ELSE 0 draws lost parcels into the average
SELECT
  carrier,
  COUNT(*) AS parcels,
  100.0 * SUM(CASE WHEN status = 'lost' THEN 1 ELSE 0 END) / COUNT(*) AS lost_percent,
  AVG(CASE WHEN status = 'delivered' THEN shipping_cost ELSE 0 END) AS average_cost
FROM fact_shipments
GROUP BY carrier

-- TASK unused-promotions-by-brand  medium  anti-join, tenant, correlated, join, subquery
-- ASK  Which promotions that ended before 1 January 2026 were never applied to any sales line of their brand? Give
--      promotion name and brand name.
-- GOLD
SELECT p.promotion_name, t.tenant_name
FROM dim_promotion AS p
JOIN dim_tenant AS t ON t.tenant_id = p.tenant_id
WHERE p.end_date < '2026-01-01'
  AND NOT EXISTS (SELECT 1 FROM fact_sales AS s WHERE s.promotion_key = p.promotion_key)
-- WRONG promotions that have not run yet are in the list
SELECT p.promotion_name, t.tenant_name
FROM dim_promotion AS p
JOIN dim_tenant AS t ON t.tenant_id = p.tenant_id
WHERE NOT EXISTS (SELECT 1 FROM fact_sales AS s WHERE s.promotion_key = p.promotion_key)
-- WRONG NOT IN over lines without a promotion (NULL) finds nothing
SELECT p.promotion_name, t.tenant_name
FROM dim_promotion AS p
JOIN dim_tenant AS t ON t.tenant_id = p.tenant_id
WHERE p.end_date < '2026-01-01' AND p.promotion_key NOT IN (SELECT promotion_key FROM fact_sales)

-- TASK device-conversion  medium  ratio, case, distinct, group-by
-- ASK  What percentage of the web sessions of 2025 on each device ended in a purchase? A session belongs to the day of
--      its events and has one device. Give device and percentage, unrounded.
-- GOLD
SELECT
  device,
  100.0 * COUNT(DISTINCT CASE WHEN event_type = 'purchase' THEN session_id END) / COUNT(DISTINCT session_id) AS percent
FROM fact_web_events
WHERE date_key BETWEEN 20250101 AND 20251231
GROUP BY device
-- WRONG a share of events, not of sessions
SELECT device, 100.0 * SUM(CASE WHEN event_type = 'purchase' THEN 1 ELSE 0 END) / COUNT(*) AS percent
FROM fact_web_events
WHERE date_key BETWEEN 20250101 AND 20251231
GROUP BY device
-- WRONG ELSE 0 makes one more session of all the others
SELECT
  device,
  100.0 * COUNT(DISTINCT CASE WHEN event_type = 'purchase' THEN session_id ELSE 0 END) / COUNT(DISTINCT session_id)
    AS percent
FROM fact_web_events
WHERE date_key BETWEEN 20250101 AND 20251231
GROUP BY device

-- TASK top-sellers-at-each-store  medium  top-n, group-by, join, subquery, window
-- ASK  Who sold most in each store in 2025, by sales amount? Of equal amounts, the smaller employee number. Give store
--      name, employee number and amount; online sales have no seller and are left out.
-- GOLD
WITH sold AS (
  SELECT store_key, employee_id, SUM(sales_amount) AS sales
  FROM fact_sales
  WHERE date_key BETWEEN 20250101 AND 20251231 AND employee_id IS NOT NULL
  GROUP BY store_key, employee_id
),
placed AS (
  SELECT
    store_key,
    employee_id,
    sales,
    ROW_NUMBER() OVER (PARTITION BY store_key ORDER BY sales DESC, employee_id) AS place
  FROM sold
)
SELECT st.store_name, p.employee_id, p.sales
FROM placed AS p
JOIN dim_store AS st ON st.store_key = p.store_key
WHERE p.place = 1
-- WRONG online sales make a seller without a name
WITH sold AS (
  SELECT store_key, employee_id, SUM(sales_amount) AS sales
  FROM fact_sales
  WHERE date_key BETWEEN 20250101 AND 20251231
  GROUP BY store_key, employee_id
),
placed AS (
  SELECT
    store_key,
    employee_id,
    sales,
    ROW_NUMBER() OVER (PARTITION BY store_key ORDER BY sales DESC, employee_id) AS place
  FROM sold
)
SELECT st.store_name, p.employee_id, p.sales
FROM placed AS p
JOIN dim_store AS st ON st.store_key = p.store_key
WHERE p.place = 1
-- WRONG the largest single line of each store
WITH placed AS (
  SELECT
    store_key,
    employee_id,
    sales_amount,
    ROW_NUMBER() OVER (PARTITION BY store_key ORDER BY sales_amount DESC, employee_id) AS place
  FROM fact_sales
  WHERE date_key BETWEEN 20250101 AND 20251231 AND employee_id IS NOT NULL
)
SELECT st.store_name, p.employee_id, p.sales_amount
FROM placed AS p
JOIN dim_store AS st ON st.store_key = p.store_key
WHERE p.place = 1
