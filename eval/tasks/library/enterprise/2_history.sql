-- Customers and their history (slowly changing dimension, type 2): the version of the day, the version now, what changed.
-- customer_key names a version, customer_id the customer; facts carry the key of the version of their day.

-- TASK sales-by-tier-then  enterprise  scd, as-of, group-by, join
-- ASK  What was the sales amount of 2025 by loyalty tier, where a sale counts for the tier that the customer had on the
--      day of the sale? All brands. Give tier and amount.
-- GOLD
SELECT c.loyalty_tier, SUM(s.sales_amount) AS sales
FROM fact_sales AS s
JOIN dim_customer AS c ON c.customer_key = s.customer_key
WHERE s.date_key BETWEEN 20250101 AND 20251231
GROUP BY c.loyalty_tier
-- WRONG keeps only sales to versions that still hold
SELECT c.loyalty_tier, SUM(s.sales_amount) AS sales
FROM fact_sales AS s
JOIN dim_customer AS c ON c.customer_key = s.customer_key
WHERE s.date_key BETWEEN 20250101 AND 20251231 AND c.is_current
GROUP BY c.loyalty_tier
-- WRONG the tier of today
SELECT now.loyalty_tier, SUM(s.sales_amount) AS sales
FROM fact_sales AS s
JOIN dim_customer AS c ON c.customer_key = s.customer_key
JOIN dim_customer AS now ON now.customer_id = c.customer_id AND now.is_current
WHERE s.date_key BETWEEN 20250101 AND 20251231
GROUP BY now.loyalty_tier

-- TASK sales-by-tier-now  enterprise  scd, group-by, join, self-join
-- ASK  What was the sales amount of 2025 by the loyalty tier that the customers have now, with all their sales of 2025,
--      also those from before their last change? All brands. Give tier and amount.
-- GOLD
SELECT now.loyalty_tier, SUM(s.sales_amount) AS sales
FROM fact_sales AS s
JOIN dim_customer AS c ON c.customer_key = s.customer_key
JOIN dim_customer AS now ON now.customer_id = c.customer_id AND now.is_current
WHERE s.date_key BETWEEN 20250101 AND 20251231
GROUP BY now.loyalty_tier
-- WRONG the tier of the day of the sale
SELECT c.loyalty_tier, SUM(s.sales_amount) AS sales
FROM fact_sales AS s
JOIN dim_customer AS c ON c.customer_key = s.customer_key
WHERE s.date_key BETWEEN 20250101 AND 20251231
GROUP BY c.loyalty_tier
-- WRONG each sale once for every version of its customer
SELECT v.loyalty_tier, SUM(s.sales_amount) AS sales
FROM fact_sales AS s
JOIN dim_customer AS c ON c.customer_key = s.customer_key
JOIN dim_customer AS v ON v.customer_id = c.customer_id
WHERE s.date_key BETWEEN 20250101 AND 20251231
GROUP BY v.loyalty_tier

-- TASK customers-by-country-as-of  enterprise  scd, as-of, null, group-by
-- ASK  How many customers lived in each country on 30 June 2024, by the versions that held on that day? Both ends of a
--      version's validity belong to it. Give country and number of customers.
-- GOLD
SELECT country, COUNT(*) AS customers
FROM dim_customer
WHERE valid_from <= '2024-06-30' AND (valid_to IS NULL OR valid_to >= '2024-06-30')
GROUP BY country
-- WRONG today's customers who were there by then
SELECT country, COUNT(*) AS customers
FROM dim_customer
WHERE valid_from <= '2024-06-30' AND is_current
GROUP BY country
-- WRONG every version that had begun, ended or not
SELECT country, COUNT(*) AS customers
FROM dim_customer
WHERE valid_from <= '2024-06-30'
GROUP BY country
-- WRONG the current versions are lost: BETWEEN with NULL is not true
SELECT country, COUNT(*) AS customers
FROM dim_customer
WHERE '2024-06-30' BETWEEN valid_from AND valid_to
GROUP BY country

-- TASK tier-changes  enterprise  scd, group-by, subquery, window
-- ASK  How often did customers change from one loyalty tier to another with a version that began in 2024? A version that
--      changes only the city is no change of tier. Give old tier, new tier and number of changes.
-- GOLD
WITH versions AS (
  SELECT
    valid_from,
    loyalty_tier,
    LAG(loyalty_tier) OVER (PARTITION BY customer_id ORDER BY valid_from) AS tier_before
  FROM dim_customer
)
SELECT tier_before, loyalty_tier, COUNT(*) AS changes
FROM versions
WHERE tier_before <> loyalty_tier AND valid_from >= '2024-01-01' AND valid_from < '2025-01-01'
GROUP BY tier_before, loyalty_tier
-- WRONG pairs all earlier versions with all later ones
SELECT a.loyalty_tier AS tier_before, b.loyalty_tier, COUNT(*) AS changes
FROM dim_customer AS a
JOIN dim_customer AS b ON b.customer_id = a.customer_id AND b.valid_from > a.valid_from
WHERE a.loyalty_tier <> b.loyalty_tier
GROUP BY a.loyalty_tier, b.loyalty_tier
-- WRONG moves to another city count as changes
WITH versions AS (
  SELECT
    valid_from,
    loyalty_tier,
    LAG(loyalty_tier) OVER (PARTITION BY customer_id ORDER BY valid_from) AS tier_before
  FROM dim_customer
)
SELECT tier_before, loyalty_tier, COUNT(*) AS changes
FROM versions
WHERE tier_before IS NOT NULL AND valid_from >= '2024-01-01' AND valid_from < '2025-01-01'
GROUP BY tier_before, loyalty_tier
-- WRONG the versions of 2023 are cut off before the comparison
WITH versions AS (
  SELECT
    loyalty_tier,
    LAG(loyalty_tier) OVER (PARTITION BY customer_id ORDER BY valid_from) AS tier_before
  FROM dim_customer
  WHERE valid_from >= '2024-01-01' AND valid_from < '2025-01-01'
)
SELECT tier_before, loyalty_tier, COUNT(*) AS changes
FROM versions
WHERE tier_before <> loyalty_tier
GROUP BY tier_before, loyalty_tier

-- TASK movers-of-one-tier  enterprise  scd, distinct, group-by, having
-- ASK  Which customers have lived in at least two different cities, by all their versions, without ever changing their
--      loyalty tier? Give customer id and number of cities.
-- GOLD
SELECT customer_id, COUNT(DISTINCT city) AS cities
FROM dim_customer
GROUP BY customer_id
HAVING COUNT(DISTINCT city) >= 2 AND COUNT(DISTINCT loyalty_tier) = 1
-- WRONG two versions need not be two cities
SELECT customer_id, COUNT(*) AS cities
FROM dim_customer
GROUP BY customer_id
HAVING COUNT(*) >= 2 AND COUNT(DISTINCT loyalty_tier) = 1
-- WRONG the change of tier is allowed
SELECT customer_id, COUNT(DISTINCT city) AS cities
FROM dim_customer
GROUP BY customer_id
HAVING COUNT(DISTINCT city) >= 2

-- TASK days-until-gold  enterprise  scd, date, aggregate, case, group-by, subquery
-- ASK  How many days after a customer's very first version began did the first gold version begin, on average over the
--      customers who were not gold from the start and reached gold? One unrounded number.
-- GOLD
WITH reached AS (
  SELECT
    customer_id,
    MIN(valid_from) AS started,
    MIN(CASE WHEN loyalty_tier = 'gold' THEN valid_from END) AS gold_from
  FROM dim_customer
  GROUP BY customer_id
)
SELECT AVG(JULIANDAY(gold_from) - JULIANDAY(started)) AS days
FROM reached
WHERE gold_from > started
-- ON duckdb, postgres
WITH reached AS (
  SELECT
    customer_id,
    MIN(valid_from) AS started,
    MIN(CASE WHEN loyalty_tier = 'gold' THEN valid_from END) AS gold_from
  FROM dim_customer
  GROUP BY customer_id
)
SELECT AVG(gold_from - started) AS days
FROM reached
WHERE gold_from > started
-- WRONG counts from the version just before, and once more for a gold customer who moves
WITH versions AS (
  SELECT
    loyalty_tier,
    valid_from,
    LAG(valid_from) OVER (PARTITION BY customer_id ORDER BY valid_from) AS started
  FROM dim_customer
)
SELECT AVG(JULIANDAY(valid_from) - JULIANDAY(started)) AS days
FROM versions
WHERE loyalty_tier = 'gold' AND started IS NOT NULL
-- ON duckdb, postgres
WITH versions AS (
  SELECT
    loyalty_tier,
    valid_from,
    LAG(valid_from) OVER (PARTITION BY customer_id ORDER BY valid_from) AS started
  FROM dim_customer
)
SELECT AVG(valid_from - started) AS days
FROM versions
WHERE loyalty_tier = 'gold' AND started IS NOT NULL
-- WRONG only those who are gold now
WITH reached AS (
  SELECT g.customer_id, MIN(a.valid_from) AS started, g.valid_from AS gold_from
  FROM dim_customer AS g
  JOIN dim_customer AS a ON a.customer_id = g.customer_id
  WHERE g.loyalty_tier = 'gold' AND g.is_current
  GROUP BY g.customer_id, g.valid_from
)
SELECT AVG(JULIANDAY(gold_from) - JULIANDAY(started)) AS days
FROM reached
WHERE gold_from > started
-- ON duckdb, postgres
WITH reached AS (
  SELECT g.customer_id, MIN(a.valid_from) AS started, g.valid_from AS gold_from
  FROM dim_customer AS g
  JOIN dim_customer AS a ON a.customer_id = g.customer_id
  WHERE g.loyalty_tier = 'gold' AND g.is_current
  GROUP BY g.customer_id, g.valid_from
)
SELECT AVG(gold_from - started) AS days
FROM reached
WHERE gold_from > started

-- TASK frequent-buyers  enterprise  scd, group-by, having, join
-- ASK  Which customers of the brand Lumen & Loom placed at least 15 orders that were not cancelled, over all their
--      versions? Give customer id and number of orders.
-- GOLD
SELECT c.customer_id, COUNT(*) AS orders
FROM fact_orders AS o
JOIN dim_customer AS c ON c.customer_key = o.customer_key
JOIN dim_tenant AS t ON t.tenant_id = o.tenant_id
WHERE t.tenant_name = 'Lumen & Loom' AND o.status <> 'cancelled'
GROUP BY c.customer_id
HAVING COUNT(*) >= 15
-- WRONG groups by version: whoever moved starts from zero
SELECT c.customer_id, COUNT(*) AS orders
FROM fact_orders AS o
JOIN dim_customer AS c ON c.customer_key = o.customer_key
JOIN dim_tenant AS t ON t.tenant_id = o.tenant_id
WHERE t.tenant_name = 'Lumen & Loom' AND o.status <> 'cancelled'
GROUP BY c.customer_key, c.customer_id
HAVING COUNT(*) >= 15
-- WRONG orders under the current version only
SELECT c.customer_id, COUNT(*) AS orders
FROM fact_orders AS o
JOIN dim_customer AS c ON c.customer_key = o.customer_key AND c.is_current
JOIN dim_tenant AS t ON t.tenant_id = o.tenant_id
WHERE t.tenant_name = 'Lumen & Loom' AND o.status <> 'cancelled'
GROUP BY c.customer_id
HAVING COUNT(*) >= 15

-- TASK lapsed-customers  enterprise  scd, tenant, group-by, join, set-operation, subquery
-- ASK  For each brand, how many customers had an order that was not cancelled in 2024 but none in 2025? A customer with
--      several versions is one customer. Give brand name and number.
-- GOLD
WITH bought AS (
  SELECT c.tenant_id, c.customer_id, d.year
  FROM fact_orders AS o
  JOIN dim_customer AS c ON c.customer_key = o.customer_key
  JOIN dim_date AS d ON d.date_key = o.date_key
  WHERE o.status <> 'cancelled'
),
lapsed AS (
  SELECT tenant_id, customer_id FROM bought WHERE year = 2024
  EXCEPT
  SELECT tenant_id, customer_id FROM bought WHERE year = 2025
)
SELECT t.tenant_name, COUNT(*) AS customers
FROM lapsed AS l
JOIN dim_tenant AS t ON t.tenant_id = l.tenant_id
GROUP BY t.tenant_id, t.tenant_name
-- WRONG compares versions: whoever moved in between looks lapsed
WITH bought AS (
  SELECT o.tenant_id, o.customer_key, d.year
  FROM fact_orders AS o
  JOIN dim_date AS d ON d.date_key = o.date_key
  WHERE o.status <> 'cancelled'
),
lapsed AS (
  SELECT tenant_id, customer_key FROM bought WHERE year = 2024
  EXCEPT
  SELECT tenant_id, customer_key FROM bought WHERE year = 2025
)
SELECT t.tenant_name, COUNT(*) AS customers
FROM lapsed AS l
JOIN dim_tenant AS t ON t.tenant_id = l.tenant_id
GROUP BY t.tenant_id, t.tenant_name
-- WRONG orders of 2024 by customers whose last order was then, counted as customers
SELECT t.tenant_name, COUNT(*) AS customers
FROM fact_orders AS o
JOIN dim_customer AS c ON c.customer_key = o.customer_key
JOIN dim_tenant AS t ON t.tenant_id = o.tenant_id
WHERE o.status <> 'cancelled'
  AND o.date_key BETWEEN 20240101 AND 20241231
  AND c.customer_id NOT IN (
    SELECT c2.customer_id
    FROM fact_orders AS o2
    JOIN dim_customer AS c2 ON c2.customer_key = o2.customer_key
    WHERE o2.status <> 'cancelled' AND o2.date_key BETWEEN 20250101 AND 20251231
  )
GROUP BY t.tenant_id, t.tenant_name
-- WRONG a cancelled order of 2025 saves a customer
WITH bought AS (
  SELECT c.tenant_id, c.customer_id, d.year
  FROM fact_orders AS o
  JOIN dim_customer AS c ON c.customer_key = o.customer_key
  JOIN dim_date AS d ON d.date_key = o.date_key
),
lapsed AS (
  SELECT tenant_id, customer_id FROM bought WHERE year = 2024
  EXCEPT
  SELECT tenant_id, customer_id FROM bought WHERE year = 2025
)
SELECT t.tenant_name, COUNT(*) AS customers
FROM lapsed AS l
JOIN dim_tenant AS t ON t.tenant_id = l.tenant_id
GROUP BY t.tenant_id, t.tenant_name

-- TASK moved-away-from-hamburg  enterprise  scd, semi-join, correlated, subquery
-- ASK  Which customers lived in Hamburg in an earlier version and do not live there now? Give customer id and the city
--      where they live now.
-- GOLD
SELECT now.customer_id, now.city
FROM dim_customer AS now
WHERE now.is_current
  AND now.city <> 'Hamburg'
  AND EXISTS (
    SELECT 1
    FROM dim_customer AS earlier
    WHERE earlier.customer_id = now.customer_id AND NOT earlier.is_current AND earlier.city = 'Hamburg'
  )
-- WRONG shows the old city, also of those who only changed their tier
SELECT customer_id, city
FROM dim_customer
WHERE NOT is_current AND city = 'Hamburg'
-- WRONG everyone who lives elsewhere and once had another version
SELECT now.customer_id, now.city
FROM dim_customer AS now
WHERE now.is_current
  AND now.city <> 'Hamburg'
  AND EXISTS (
    SELECT 1
    FROM dim_customer AS earlier
    WHERE earlier.customer_id = now.customer_id AND NOT earlier.is_current
  )

-- TASK first-and-present-city  enterprise  scd, join, self-join, subquery, window
-- ASK  For the customers of Northfell Outdoor with exactly three versions: in which city did they live first, and where
--      do they live now? Only those for whom the two differ. Give customer id, first city and present city.
-- GOLD
WITH versions AS (
  SELECT
    c.customer_id,
    c.city,
    c.is_current,
    ROW_NUMBER() OVER (PARTITION BY c.customer_id ORDER BY c.valid_from) AS version,
    COUNT(*) OVER (PARTITION BY c.customer_id) AS versions
  FROM dim_customer AS c
  JOIN dim_tenant AS t ON t.tenant_id = c.tenant_id
  WHERE t.tenant_name = 'Northfell Outdoor'
)
SELECT a.customer_id, a.city AS first_city, b.city AS present_city
FROM versions AS a
JOIN versions AS b ON b.customer_id = a.customer_id AND b.is_current
WHERE a.version = 1 AND a.versions = 3 AND a.city <> b.city
-- WRONG the alphabet is not time
SELECT c.customer_id, MIN(c.city) AS first_city, MAX(c.city) AS present_city
FROM dim_customer AS c
JOIN dim_tenant AS t ON t.tenant_id = c.tenant_id
WHERE t.tenant_name = 'Northfell Outdoor'
GROUP BY c.customer_id
HAVING COUNT(*) = 3 AND MIN(c.city) <> MAX(c.city)
-- WRONG customers with two versions come too
WITH versions AS (
  SELECT
    c.customer_id,
    c.city,
    c.is_current,
    ROW_NUMBER() OVER (PARTITION BY c.customer_id ORDER BY c.valid_from) AS version
  FROM dim_customer AS c
  JOIN dim_tenant AS t ON t.tenant_id = c.tenant_id
  WHERE t.tenant_name = 'Northfell Outdoor'
)
SELECT a.customer_id, a.city AS first_city, b.city AS present_city
FROM versions AS a
JOIN versions AS b ON b.customer_id = a.customer_id AND b.is_current
WHERE a.version = 1 AND a.city <> b.city
