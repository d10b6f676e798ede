-- The staging table: finding what is wrong with the raw rows, and reading them right.
-- Dates come as 2025-12-03, 03/12/2025 (day first) and 12-03-25 (month first); each question that needs it says so.

-- TASK feed-rows-sent-twice  enterprise  data-quality, dedup, group-by, having
-- ASK  Which order references of the feed (stg_order_feed) came in more than one row? Rows without a reference are left
--      out. Give order reference and number of rows.
-- GOLD
SELECT order_ref, COUNT(*) AS feed_rows
FROM stg_order_feed
WHERE order_ref IS NOT NULL
GROUP BY order_ref
HAVING COUNT(*) > 1
-- WRONG all rows without a reference look like one order sent several times
SELECT order_ref, COUNT(*) AS feed_rows
FROM stg_order_feed
GROUP BY order_ref
HAVING COUNT(*) > 1
-- WRONG only rows that went to different files
SELECT order_ref, COUNT(DISTINCT source_file) AS feed_rows
FROM stg_order_feed
WHERE order_ref IS NOT NULL
GROUP BY order_ref
HAVING COUNT(DISTINCT source_file) > 1

-- TASK feed-unknown-customers  enterprise  data-quality, anti-join, null, correlated, subquery
-- ASK  Which rows of the feed (stg_order_feed) name a customer that the warehouse does not know by customer_id? Rows that
--      name no customer are left out. Give row number and customer reference.
-- GOLD
SELECT f.feed_row_id, f.customer_ref
FROM stg_order_feed AS f
WHERE f.customer_ref IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM dim_customer AS c WHERE c.customer_id = f.customer_ref)
-- WRONG rows without a customer are in the list
SELECT f.feed_row_id, f.customer_ref
FROM stg_order_feed AS f
LEFT JOIN dim_customer AS c ON c.customer_id = f.customer_ref
WHERE c.customer_key IS NULL
-- WRONG customers that do exist, once for each version
SELECT f.feed_row_id, f.customer_ref
FROM stg_order_feed AS f
JOIN dim_customer AS c ON c.customer_id = f.customer_ref

-- TASK feed-defects-pivot  enterprise  data-quality, pivot, null, aggregate, case, subquery
-- ASK  How many rows of the feed (stg_order_feed) have each of these defects? One row with five numbers: no order
--      reference; no customer reference; an amount that is missing, empty or 'n/a' although the status, trimmed and in
--      lower case, is 'ok'; a date that is not of the form 2025-12-31; a tenant code that is not three capital letters
--      as in dim_tenant.
-- GOLD
SELECT
  SUM(CASE WHEN order_ref IS NULL THEN 1 ELSE 0 END) AS no_order,
  SUM(CASE WHEN customer_ref IS NULL THEN 1 ELSE 0 END) AS no_customer,
  SUM(CASE WHEN LOWER(TRIM(status_text)) = 'ok' AND COALESCE(amount_text, '') IN ('', 'n/a') THEN 1 ELSE 0 END)
    AS no_amount,
  SUM(CASE WHEN order_date_text LIKE '____-__-__' THEN 0 ELSE 1 END) AS other_date,
  SUM(CASE WHEN tenant_code IN (SELECT tenant_code FROM dim_tenant) THEN 0 ELSE 1 END) AS odd_tenant
FROM stg_order_feed
-- WRONG cancelled orders have no amount by right, and are counted
SELECT
  SUM(CASE WHEN order_ref IS NULL THEN 1 ELSE 0 END) AS no_order,
  SUM(CASE WHEN customer_ref IS NULL THEN 1 ELSE 0 END) AS no_customer,
  SUM(CASE WHEN COALESCE(amount_text, '') IN ('', 'n/a') THEN 1 ELSE 0 END) AS no_amount,
  SUM(CASE WHEN order_date_text LIKE '____-__-__' THEN 0 ELSE 1 END) AS other_date,
  SUM(CASE WHEN tenant_code IN (SELECT tenant_code FROM dim_tenant) THEN 0 ELSE 1 END) AS odd_tenant
FROM stg_order_feed
-- WRONG repairs the tenant codes before looking for odd ones: none is left
SELECT
  SUM(CASE WHEN order_ref IS NULL THEN 1 ELSE 0 END) AS no_order,
  SUM(CASE WHEN customer_ref IS NULL THEN 1 ELSE 0 END) AS no_customer,
  SUM(CASE WHEN LOWER(TRIM(status_text)) = 'ok' AND COALESCE(amount_text, '') IN ('', 'n/a') THEN 1 ELSE 0 END)
    AS no_amount,
  SUM(CASE WHEN order_date_text LIKE '____-__-__' THEN 0 ELSE 1 END) AS other_date,
  SUM(CASE WHEN UPPER(TRIM(tenant_code)) IN (SELECT tenant_code FROM dim_tenant) THEN 0 ELSE 1 END) AS odd_tenant
FROM stg_order_feed

-- TASK feed-orders-by-brand  enterprise  data-quality, dedup, text, distinct, group-by, join
-- ASK  How many different orders (by order reference; rows without one are left out) does the feed (stg_order_feed) hold
--      for each brand, if tenant codes are trimmed and put in capitals? Give brand name and number.
-- GOLD
SELECT t.tenant_name, COUNT(DISTINCT f.order_ref) AS orders
FROM stg_order_feed AS f
JOIN dim_tenant AS t ON t.tenant_code = UPPER(TRIM(f.tenant_code))
GROUP BY t.tenant_id, t.tenant_name
-- WRONG the code as it came: ' ckk ' matches no brand
SELECT t.tenant_name, COUNT(DISTINCT f.order_ref) AS orders
FROM stg_order_feed AS f
JOIN dim_tenant AS t ON t.tenant_code = f.tenant_code
GROUP BY t.tenant_id, t.tenant_name
-- WRONG counts rows: what was sent twice counts twice
SELECT t.tenant_name, COUNT(*) AS orders
FROM stg_order_feed AS f
JOIN dim_tenant AS t ON t.tenant_code = UPPER(TRIM(f.tenant_code))
GROUP BY t.tenant_id, t.tenant_name

-- TASK feed-orders-per-day  enterprise  data-quality, date, case, distinct, group-by, subquery
-- ASK  How many different order references does the feed (stg_order_feed) hold by day of the order? The day comes as
--      2025-12-31, as 31/12/2025 (day first) or as 12-31-25 (month first); rows without an order reference are left
--      out. Give the day as text like 2025-12-31 and the number, in order of days.
-- GOLD
WITH dated AS (
  SELECT
    order_ref,
    CASE
      WHEN order_date_text LIKE '____-__-__' THEN order_date_text
      WHEN order_date_text LIKE '__/__/____' THEN
        SUBSTR(order_date_text, 7, 4) || '-' || SUBSTR(order_date_text, 4, 2) || '-' || SUBSTR(order_date_text, 1, 2)
      ELSE '20' || SUBSTR(order_date_text, 7, 2) || '-' || SUBSTR(order_date_text, 1, 2) || '-'
        || SUBSTR(order_date_text, 4, 2)
    END AS day
  FROM stg_order_feed
  WHERE order_ref IS NOT NULL
)
SELECT day, COUNT(DISTINCT order_ref) AS orders
FROM dated
GROUP BY day
ORDER BY day
-- WRONG reads 03/12/2025 as the 12th of March
WITH dated AS (
  SELECT
    order_ref,
    CASE
      WHEN order_date_text LIKE '____-__-__' THEN order_date_text
      WHEN order_date_text LIKE '__/__/____' THEN
        SUBSTR(order_date_text, 7, 4) || '-' || SUBSTR(order_date_text, 1, 2) || '-' || SUBSTR(order_date_text, 4, 2)
      ELSE '20' || SUBSTR(order_date_text, 7, 2) || '-' || SUBSTR(order_date_text, 1, 2) || '-'
        || SUBSTR(order_date_text, 4, 2)
    END AS day
  FROM stg_order_feed
  WHERE order_ref IS NOT NULL
)
SELECT day, COUNT(DISTINCT order_ref) AS orders
FROM dated
GROUP BY day
ORDER BY day
-- WRONG only the dates that are in order already
SELECT order_date_text AS day, COUNT(DISTINCT order_ref) AS orders
FROM stg_order_feed
WHERE order_ref IS NOT NULL AND order_date_text LIKE '____-__-__'
GROUP BY order_date_text
ORDER BY day
-- WRONG counts rows
WITH dated AS (
  SELECT
    CASE
      WHEN order_date_text LIKE '____-__-__' THEN order_date_text
      WHEN order_date_text LIKE '__/__/____' THEN
        SUBSTR(order_date_text, 7, 4) || '-' || SUBSTR(order_date_text, 4, 2) || '-' || SUBSTR(order_date_text, 1, 2)
      ELSE '20' || SUBSTR(order_date_text, 7, 2) || '-' || SUBSTR(order_date_text, 1, 2) || '-'
        || SUBSTR(order_date_text, 4, 2)
    END AS day
  FROM stg_order_feed
)
SELECT day, COUNT(*) AS orders
FROM dated
GROUP BY day
ORDER BY day

-- TASK feed-amount-by-brand  enterprise  data-quality, dedup, text, case, group-by, join, subquery, window
-- ASK  What do the amounts of the feed (stg_order_feed) add up to by brand? Of several rows with the same order reference
--      only the one with the smallest row number counts; rows without a reference are left out. 'EUR ' in front goes, a
--      decimal comma is a point; amounts that are missing, empty, 'n/a' or negative are left out. Tenant codes are
--      trimmed and put in capitals. Give brand name and sum.
-- GOLD
WITH firsts AS (
  SELECT tenant_code, amount_text
  FROM (
    SELECT tenant_code, amount_text, ROW_NUMBER() OVER (PARTITION BY order_ref ORDER BY feed_row_id) AS place
    FROM stg_order_feed
    WHERE order_ref IS NOT NULL
  ) AS placed
  WHERE place = 1
),
amounts AS (
  SELECT
    UPPER(TRIM(tenant_code)) AS tenant_code,
    CASE WHEN amount_text NOT IN ('', 'n/a')
      THEN CAST(REPLACE(REPLACE(amount_text, 'EUR ', ''), ',', '.') AS DECIMAL(12, 2)) END AS amount
  FROM firsts
)
SELECT t.tenant_name, SUM(a.amount) AS amount
FROM amounts AS a
JOIN dim_tenant AS t ON t.tenant_code = a.tenant_code
WHERE a.amount >= 0
GROUP BY t.tenant_id, t.tenant_name
-- WRONG rows that were sent twice count twice
WITH amounts AS (
  SELECT
    UPPER(TRIM(tenant_code)) AS tenant_code,
    CASE WHEN amount_text NOT IN ('', 'n/a')
      THEN CAST(REPLACE(REPLACE(amount_text, 'EUR ', ''), ',', '.') AS DECIMAL(12, 2)) END AS amount
  FROM stg_order_feed
  WHERE order_ref IS NOT NULL
)
SELECT t.tenant_name, SUM(a.amount) AS amount
FROM amounts AS a
JOIN dim_tenant AS t ON t.tenant_code = a.tenant_code
WHERE a.amount >= 0
GROUP BY t.tenant_id, t.tenant_name
-- WRONG dropping the comma instead of turning it into a point makes 147,00 into 14700
WITH firsts AS (
  SELECT tenant_code, amount_text
  FROM (
    SELECT tenant_code, amount_text, ROW_NUMBER() OVER (PARTITION BY order_ref ORDER BY feed_row_id) AS place
    FROM stg_order_feed
    WHERE order_ref IS NOT NULL
  ) AS placed
  WHERE place = 1
),
amounts AS (
  SELECT
    UPPER(TRIM(tenant_code)) AS tenant_code,
    CASE WHEN amount_text NOT IN ('', 'n/a')
      THEN CAST(REPLACE(REPLACE(amount_text, 'EUR ', ''), ',', '') AS DECIMAL(12, 2)) END AS amount
  FROM firsts
)
SELECT t.tenant_name, SUM(a.amount) AS amount
FROM amounts AS a
JOIN dim_tenant AS t ON t.tenant_code = a.tenant_code
WHERE a.amount >= 0
GROUP BY t.tenant_id, t.tenant_name
-- WRONG negative amounts are taken off
WITH firsts AS (
  SELECT tenant_code, amount_text
  FROM (
    SELECT tenant_code, amount_text, ROW_NUMBER() OVER (PARTITION BY order_ref ORDER BY feed_row_id) AS place
    FROM stg_order_feed
    WHERE order_ref IS NOT NULL
  ) AS placed
  WHERE place = 1
),
amounts AS (
  SELECT
    UPPER(TRIM(tenant_code)) AS tenant_code,
    CASE WHEN amount_text NOT IN ('', 'n/a')
      THEN CAST(REPLACE(REPLACE(amount_text, 'EUR ', ''), ',', '.') AS DECIMAL(12, 2)) END AS amount
  FROM firsts
)
SELECT t.tenant_name, SUM(a.amount) AS amount
FROM amounts AS a
JOIN dim_tenant AS t ON t.tenant_code = a.tenant_code
GROUP BY t.tenant_id, t.tenant_name

-- TASK feed-against-warehouse  enterprise  data-quality, scd, join
-- ASK  Which rows of the feed (stg_order_feed) name another customer than the warehouse has for the order? The order
--      reference is the order number as text, the customer reference a customer_id; rows without the one or the other,
--      and references to orders that the warehouse does not have, are left out. Give row number, customer reference of
--      the feed and customer_id of the warehouse.
-- GOLD
SELECT f.feed_row_id, f.customer_ref, c.customer_id
FROM stg_order_feed AS f
JOIN fact_orders AS o ON CAST(o.order_id AS TEXT) = f.order_ref
JOIN dim_customer AS c ON c.customer_key = o.customer_key
WHERE f.customer_ref <> c.customer_id
-- WRONG rows without a customer count as different
SELECT f.feed_row_id, f.customer_ref, c.customer_id
FROM stg_order_feed AS f
JOIN fact_orders AS o ON CAST(o.order_id AS TEXT) = f.order_ref
JOIN dim_customer AS c ON c.customer_key = o.customer_key
WHERE f.customer_ref IS NULL OR f.customer_ref <> c.customer_id
-- WRONG compares the customer's id with the number of a version: all rows differ
SELECT f.feed_row_id, f.customer_ref, c.customer_id
FROM stg_order_feed AS f
JOIN fact_orders AS o ON CAST(o.order_id AS TEXT) = f.order_ref
JOIN dim_customer AS c ON c.customer_key = o.customer_key
WHERE f.customer_ref <> CAST(o.customer_key AS TEXT)

-- TASK feed-late-rows  enterprise  data-quality, date, text
-- ASK  Which rows of the feed (stg_order_feed) with an order date of the form 2025-12-31 were loaded more than two days
--      after it: on the third calendar day after the order's day or later? Give row number, order date as it came, and
--      the number of days between.
-- GOLD
SELECT
  feed_row_id,
  order_date_text,
  CAST(JULIANDAY(DATE(loaded_at)) - JULIANDAY(order_date_text) AS INTEGER) AS days
FROM stg_order_feed
WHERE order_date_text LIKE '____-__-__' AND JULIANDAY(DATE(loaded_at)) - JULIANDAY(order_date_text) > 2
-- ON duckdb, postgres
WITH dated AS (
  SELECT
    feed_row_id,
    order_date_text,
    CAST(loaded_at AS DATE)
      - CASE WHEN order_date_text LIKE '____-__-__' THEN CAST(order_date_text AS DATE) END AS days
  FROM stg_order_feed
)
SELECT feed_row_id, order_date_text, days
FROM dated
WHERE days > 2
-- WRONG the second day is late too
SELECT
  feed_row_id,
  order_date_text,
  CAST(JULIANDAY(DATE(loaded_at)) - JULIANDAY(order_date_text) AS INTEGER) AS days
FROM stg_order_feed
WHERE order_date_text LIKE '____-__-__' AND JULIANDAY(DATE(loaded_at)) - JULIANDAY(order_date_text) >= 1
-- ON duckdb, postgres
WITH dated AS (
  SELECT
    feed_row_id,
    order_date_text,
    CAST(loaded_at AS DATE)
      - CASE WHEN order_date_text LIKE '____-__-__' THEN CAST(order_date_text AS DATE) END AS days
  FROM stg_order_feed
)
SELECT feed_row_id, order_date_text, days
FROM dated
WHERE days >= 1
-- WRONG the day of processing instead of loading
SELECT
  feed_row_id,
  order_date_text,
  CAST(JULIANDAY(processed_on) - JULIANDAY(order_date_text) AS INTEGER) AS days
FROM stg_order_feed
WHERE order_date_text LIKE '____-__-__' AND JULIANDAY(processed_on) - JULIANDAY(order_date_text) > 2
-- ON duckdb, postgres
WITH dated AS (
  SELECT
    feed_row_id,
    order_date_text,
    processed_on - CASE WHEN order_date_text LIKE '____-__-__' THEN CAST(order_date_text AS DATE) END AS days
  FROM stg_order_feed
)
SELECT feed_row_id, order_date_text, days
FROM dated
WHERE days > 2

-- TASK engagement-reconciled  enterprise  data-quality, empty, distinct, group-by, join, outer-join, set-operation,
--      subquery
-- ASK  Do the monthly figures agree with the events? List every customer version and month of 2025 for which web_sessions
--      in fact_customer_engagement differs from the number of different sessions of that version in fact_web_events in
--      that month (none counting as 0). Give customer_key, month number, recorded and counted sessions.
-- GOLD
WITH counted AS (
  SELECT e.customer_key, d.month, COUNT(DISTINCT e.session_id) AS sessions
  FROM fact_web_events AS e
  JOIN dim_date AS d ON d.date_key = e.date_key
  WHERE d.year = 2025 AND e.customer_key IS NOT NULL
  GROUP BY e.customer_key, d.month
),
recorded AS (
  SELECT g.customer_key, d.month, g.web_sessions
  FROM fact_customer_engagement AS g
  JOIN dim_date AS d ON d.date_key = g.date_key
  WHERE d.year = 2025
)
SELECT r.customer_key, r.month, r.web_sessions AS recorded, COALESCE(c.sessions, 0) AS counted
FROM recorded AS r
LEFT JOIN counted AS c ON c.customer_key = r.customer_key AND c.month = r.month
WHERE r.web_sessions <> COALESCE(c.sessions, 0)
UNION ALL
SELECT c.customer_key, c.month, 0 AS recorded, c.sessions AS counted
FROM counted AS c
LEFT JOIN recorded AS r ON r.customer_key = c.customer_key AND r.month = c.month
WHERE r.customer_key IS NULL
-- WRONG compares sessions with events
WITH counted AS (
  SELECT e.customer_key, d.month, COUNT(*) AS sessions
  FROM fact_web_events AS e
  JOIN dim_date AS d ON d.date_key = e.date_key
  WHERE d.year = 2025 AND e.customer_key IS NOT NULL
  GROUP BY e.customer_key, d.month
),
recorded AS (
  SELECT g.customer_key, d.month, g.web_sessions
  FROM fact_customer_engagement AS g
  JOIN dim_date AS d ON d.date_key = g.date_key
  WHERE d.year = 2025
)
SELECT r.customer_key, r.month, r.web_sessions AS recorded, COALESCE(c.sessions, 0) AS counted
FROM recorded AS r
LEFT JOIN counted AS c ON c.customer_key = r.customer_key AND c.month = r.month
WHERE r.web_sessions <> COALESCE(c.sessions, 0)
-- WRONG months of all years against months of 2025
WITH counted AS (
  SELECT e.customer_key, d.month, COUNT(DISTINCT e.session_id) AS sessions
  FROM fact_web_events AS e
  JOIN dim_date AS d ON d.date_key = e.date_key
  WHERE e.customer_key IS NOT NULL
  GROUP BY e.customer_key, d.month
),
recorded AS (
  SELECT g.customer_key, d.month, g.web_sessions
  FROM fact_customer_engagement AS g
  JOIN dim_date AS d ON d.date_key = g.date_key
  WHERE d.year = 2025
)
SELECT r.customer_key, r.month, r.web_sessions AS recorded, COALESCE(c.sessions, 0) AS counted
FROM recorded AS r
LEFT JOIN counted AS c ON c.customer_key = r.customer_key AND c.month = r.month
WHERE r.web_sessions <> COALESCE(c.sessions, 0)
