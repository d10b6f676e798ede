-- Visitors, messages and tickets: funnels, sessions, attribution, times to answer.

-- TASK funnel-by-device  enterprise  funnel, pivot, case, distinct, group-by
-- ASK  How many web sessions of 2025 on each device had at least one view, at least one cart event, a checkout and a
--      purchase? Give device and the four numbers in this order.
-- GOLD
SELECT
  device,
  COUNT(DISTINCT CASE WHEN event_type = 'view' THEN session_id END) AS viewed,
  COUNT(DISTINCT CASE WHEN event_type = 'cart' THEN session_id END) AS filled_cart,
  COUNT(DISTINCT CASE WHEN event_type = 'checkout' THEN session_id END) AS checked_out,
  COUNT(DISTINCT CASE WHEN event_type = 'purchase' THEN session_id END) AS purchased
FROM fact_web_events
WHERE date_key BETWEEN 20250101 AND 20251231
GROUP BY device
-- WRONG counts events: a session with five views is five
SELECT
  device,
  SUM(CASE WHEN event_type = 'view' THEN 1 ELSE 0 END) AS viewed,
  SUM(CASE WHEN event_type = 'cart' THEN 1 ELSE 0 END) AS filled_cart,
  SUM(CASE WHEN event_type = 'checkout' THEN 1 ELSE 0 END) AS checked_out,
  SUM(CASE WHEN event_type = 'purchase' THEN 1 ELSE 0 END) AS purchased
FROM fact_web_events
WHERE date_key BETWEEN 20250101 AND 20251231
GROUP BY device
-- WRONG counts customers; most visitors are not signed in
SELECT
  device,
  COUNT(DISTINCT CASE WHEN event_type = 'view' THEN customer_key END) AS viewed,
  COUNT(DISTINCT CASE WHEN event_type = 'cart' THEN customer_key END) AS filled_cart,
  COUNT(DISTINCT CASE WHEN event_type = 'checkout' THEN customer_key END) AS checked_out,
  COUNT(DISTINCT CASE WHEN event_type = 'purchase' THEN customer_key END) AS purchased
FROM fact_web_events
WHERE date_key BETWEEN 20250101 AND 20251231
GROUP BY device

-- TASK step-conversion-by-brand  enterprise  funnel, ratio, tenant, case, group-by, join, subquery
-- ASK  For each brand, over all web sessions: what percentage of the sessions with a cart event reached the checkout, and
--      what percentage of those with a checkout ended in a purchase? Give brand name and the two percentages, unrounded.
-- GOLD
WITH sessions AS (
  SELECT
    tenant_id,
    session_id,
    MAX(CASE WHEN event_type = 'cart' THEN 1 ELSE 0 END) AS cart,
    MAX(CASE WHEN event_type = 'checkout' THEN 1 ELSE 0 END) AS checkout,
    MAX(CASE WHEN event_type = 'purchase' THEN 1 ELSE 0 END) AS purchase
  FROM fact_web_events
  GROUP BY tenant_id, session_id
)
SELECT
  t.tenant_name,
  100.0 * SUM(s.cart * s.checkout) / SUM(s.cart) AS cart_to_checkout,
  100.0 * SUM(s.checkout * s.purchase) / SUM(s.checkout) AS checkout_to_purchase
FROM sessions AS s
JOIN dim_tenant AS t ON t.tenant_id = s.tenant_id
GROUP BY t.tenant_id, t.tenant_name
-- WRONG a ratio of events: several cart events a session
SELECT
  t.tenant_name,
  100.0 * SUM(CASE WHEN e.event_type = 'checkout' THEN 1 ELSE 0 END)
    / SUM(CASE WHEN e.event_type = 'cart' THEN 1 ELSE 0 END) AS cart_to_checkout,
  100.0 * SUM(CASE WHEN e.event_type = 'purchase' THEN 1 ELSE 0 END)
    / SUM(CASE WHEN e.event_type = 'checkout' THEN 1 ELSE 0 END) AS checkout_to_purchase
FROM fact_web_events AS e
JOIN dim_tenant AS t ON t.tenant_id = e.tenant_id
GROUP BY t.tenant_id, t.tenant_name
-- WRONG percentages of all sessions, not of the step before
WITH sessions AS (
  SELECT
    tenant_id,
    session_id,
    MAX(CASE WHEN event_type = 'checkout' THEN 1 ELSE 0 END) AS checkout,
    MAX(CASE WHEN event_type = 'purchase' THEN 1 ELSE 0 END) AS purchase
  FROM fact_web_events
  GROUP BY tenant_id, session_id
)
SELECT
  t.tenant_name,
  100.0 * SUM(s.checkout) / COUNT(*) AS cart_to_checkout,
  100.0 * SUM(s.purchase) / COUNT(*) AS checkout_to_purchase
FROM sessions AS s
JOIN dim_tenant AS t ON t.tenant_id = s.tenant_id
GROUP BY t.tenant_id, t.tenant_name

-- TASK abandoned-carts-by-category  enterprise  funnel, anti-join, correlated, distinct, group-by, join, subquery
-- ASK  In how many web sessions of December 2025 was a product of a category put into the cart while the session had no
--      purchase? Give category and number of sessions; a session counts once for each category in its cart.
-- GOLD
SELECT p.category, COUNT(DISTINCT e.session_id) AS sessions
FROM fact_web_events AS e
JOIN dim_product AS p ON p.product_key = e.product_key
WHERE e.event_type = 'cart'
  AND e.date_key BETWEEN 20251201 AND 20251231
  AND NOT EXISTS (
    SELECT 1
    FROM fact_web_events AS b
    WHERE b.session_id = e.session_id AND b.event_type = 'purchase'
  )
GROUP BY p.category
-- WRONG counts cart events, not sessions
SELECT p.category, COUNT(*) AS sessions
FROM fact_web_events AS e
JOIN dim_product AS p ON p.product_key = e.product_key
WHERE e.event_type = 'cart'
  AND e.date_key BETWEEN 20251201 AND 20251231
  AND NOT EXISTS (
    SELECT 1
    FROM fact_web_events AS b
    WHERE b.session_id = e.session_id AND b.event_type = 'purchase'
  )
GROUP BY p.category
-- WRONG a cart event has no order in any session
SELECT p.category, COUNT(DISTINCT e.session_id) AS sessions
FROM fact_web_events AS e
JOIN dim_product AS p ON p.product_key = e.product_key
WHERE e.event_type = 'cart' AND e.date_key BETWEEN 20251201 AND 20251231 AND e.order_id IS NULL
GROUP BY p.category
-- WRONG sessions without a checkout are only some of those without a purchase
SELECT p.category, COUNT(DISTINCT e.session_id) AS sessions
FROM fact_web_events AS e
JOIN dim_product AS p ON p.product_key = e.product_key
WHERE e.event_type = 'cart'
  AND e.date_key BETWEEN 20251201 AND 20251231
  AND NOT EXISTS (
    SELECT 1
    FROM fact_web_events AS b
    WHERE b.session_id = e.session_id AND b.event_type = 'checkout'
  )
GROUP BY p.category

-- TASK sessions-by-pauses  enterprise  sessionisation, date, aggregate, case, group-by, subquery, window
-- ASK  The session numbers are not trusted. Take the web events of customers who were signed in, in November 2025, and
--      cut each customer's events anew (customer_key, in order of time): a session begins with the customer's first event
--      of the month and with every event more than 30 minutes after the one before. How many sessions are there, and how
--      many of them have only one event? Give the two numbers in one row.
-- GOLD
WITH steps AS (
  SELECT
    customer_key,
    event_id,
    occurred_at,
    LAG(occurred_at) OVER (PARTITION BY customer_key ORDER BY occurred_at, event_id) AS before
  FROM fact_web_events
  WHERE customer_key IS NOT NULL AND date_key BETWEEN 20251101 AND 20251130
),
numbered AS (
  SELECT
    customer_key,
    SUM(CASE WHEN before IS NULL OR STRFTIME('%s', occurred_at) - STRFTIME('%s', before) > 1800 THEN 1 ELSE 0 END)
      OVER (PARTITION BY customer_key ORDER BY occurred_at, event_id ROWS UNBOUNDED PRECEDING) AS visit
  FROM steps
),
visits AS (
  SELECT customer_key, visit, COUNT(*) AS events
  FROM numbered
  GROUP BY customer_key, visit
)
SELECT COUNT(*) AS sessions, SUM(CASE WHEN events = 1 THEN 1 ELSE 0 END) AS single_events
FROM visits
-- ON duckdb, postgres
WITH steps AS (
  SELECT
    customer_key,
    event_id,
    occurred_at,
    LAG(occurred_at) OVER (PARTITION BY customer_key ORDER BY occurred_at, event_id) AS before
  FROM fact_web_events
  WHERE customer_key IS NOT NULL AND date_key BETWEEN 20251101 AND 20251130
),
numbered AS (
  SELECT
    customer_key,
    SUM(CASE WHEN before IS NULL OR occurred_at - before > INTERVAL '30 minutes' THEN 1 ELSE 0 END)
      OVER (PARTITION BY customer_key ORDER BY occurred_at, event_id ROWS UNBOUNDED PRECEDING) AS visit
  FROM steps
),
visits AS (
  SELECT customer_key, visit, COUNT(*) AS events
  FROM numbered
  GROUP BY customer_key, visit
)
SELECT COUNT(*) AS sessions, SUM(CASE WHEN events = 1 THEN 1 ELSE 0 END) AS single_events
FROM visits
-- WRONG without a partition one customer's event follows another's
WITH steps AS (
  SELECT
    customer_key,
    event_id,
    occurred_at,
    LAG(occurred_at) OVER (ORDER BY occurred_at, event_id) AS before
  FROM fact_web_events
  WHERE customer_key IS NOT NULL AND date_key BETWEEN 20251101 AND 20251130
),
numbered AS (
  SELECT
    customer_key,
    SUM(CASE WHEN before IS NULL OR STRFTIME('%s', occurred_at) - STRFTIME('%s', before) > 1800 THEN 1 ELSE 0 END)
      OVER (PARTITION BY customer_key ORDER BY occurred_at, event_id ROWS UNBOUNDED PRECEDING) AS visit
  FROM steps
),
visits AS (
  SELECT customer_key, visit, COUNT(*) AS events
  FROM numbered
  GROUP BY customer_key, visit
)
SELECT COUNT(*) AS sessions, SUM(CASE WHEN events = 1 THEN 1 ELSE 0 END) AS single_events
FROM visits
-- ON duckdb, postgres
WITH steps AS (
  SELECT
    customer_key,
    event_id,
    occurred_at,
    LAG(occurred_at) OVER (ORDER BY occurred_at, event_id) AS before
  FROM fact_web_events
  WHERE customer_key IS NOT NULL AND date_key BETWEEN 20251101 AND 20251130
),
numbered AS (
  SELECT
    customer_key,
    SUM(CASE WHEN before IS NULL OR occurred_at - before > INTERVAL '30 minutes' THEN 1 ELSE 0 END)
      OVER (PARTITION BY customer_key ORDER BY occurred_at, event_id ROWS UNBOUNDED PRECEDING) AS visit
  FROM steps
),
visits AS (
  SELECT customer_key, visit, COUNT(*) AS events
  FROM numbered
  GROUP BY customer_key, visit
)
SELECT COUNT(*) AS sessions, SUM(CASE WHEN events = 1 THEN 1 ELSE 0 END) AS single_events
FROM visits
-- WRONG one session a customer and day
WITH visits AS (
  SELECT customer_key, date_key, COUNT(*) AS events
  FROM fact_web_events
  WHERE customer_key IS NOT NULL AND date_key BETWEEN 20251101 AND 20251130
  GROUP BY customer_key, date_key
)
SELECT COUNT(*) AS sessions, SUM(CASE WHEN events = 1 THEN 1 ELSE 0 END) AS single_events
FROM visits
-- WRONG visitors who are not signed in make one more customer
WITH visits AS (
  SELECT customer_key, session_id, COUNT(*) AS events
  FROM fact_web_events
  WHERE date_key BETWEEN 20251101 AND 20251130
  GROUP BY customer_key, session_id
)
SELECT COUNT(*) AS sessions, SUM(CASE WHEN events = 1 THEN 1 ELSE 0 END) AS single_events
FROM visits

-- TASK minutes-to-purchase  enterprise  funnel, date, case, group-by, subquery
-- ASK  How many minutes pass on average from the first view to the purchase in web sessions of 2025 with a purchase, on
--      each device? Give device and minutes, unrounded.
-- GOLD
WITH sessions AS (
  SELECT
    session_id,
    device,
    MIN(CASE WHEN event_type = 'view' THEN occurred_at END) AS first_view,
    MIN(CASE WHEN event_type = 'purchase' THEN occurred_at END) AS purchased
  FROM fact_web_events
  WHERE date_key BETWEEN 20250101 AND 20251231
  GROUP BY session_id, device
)
SELECT device, AVG(STRFTIME('%s', purchased) - STRFTIME('%s', first_view)) / 60.0 AS minutes
FROM sessions
WHERE purchased IS NOT NULL
GROUP BY device
-- ON duckdb, postgres
WITH sessions AS (
  SELECT
    session_id,
    device,
    MIN(CASE WHEN event_type = 'view' THEN occurred_at END) AS first_view,
    MIN(CASE WHEN event_type = 'purchase' THEN occurred_at END) AS purchased
  FROM fact_web_events
  WHERE date_key BETWEEN 20250101 AND 20251231
  GROUP BY session_id, device
)
SELECT device, AVG(EXTRACT(EPOCH FROM (purchased - first_view))) / 60.0 AS minutes
FROM sessions
WHERE purchased IS NOT NULL
GROUP BY device
-- WRONG the length of every session, purchase or not
WITH sessions AS (
  SELECT session_id, device, MIN(occurred_at) AS first_view, MAX(occurred_at) AS purchased
  FROM fact_web_events
  WHERE date_key BETWEEN 20250101 AND 20251231
  GROUP BY session_id, device
)
SELECT device, AVG(STRFTIME('%s', purchased) - STRFTIME('%s', first_view)) / 60.0 AS minutes
FROM sessions
GROUP BY device
-- ON duckdb, postgres
WITH sessions AS (
  SELECT session_id, device, MIN(occurred_at) AS first_view, MAX(occurred_at) AS purchased
  FROM fact_web_events
  WHERE date_key BETWEEN 20250101 AND 20251231
  GROUP BY session_id, device
)
SELECT device, AVG(EXTRACT(EPOCH FROM (purchased - first_view))) / 60.0 AS minutes
FROM sessions
GROUP BY device
-- WRONG averages over all views of a session, so that busy sessions weigh more
SELECT v.device, AVG(STRFTIME('%s', b.occurred_at) - STRFTIME('%s', v.occurred_at)) / 60.0 AS minutes
FROM fact_web_events AS v
JOIN fact_web_events AS b ON b.session_id = v.session_id AND b.event_type = 'purchase'
WHERE v.event_type = 'view' AND v.date_key BETWEEN 20250101 AND 20251231
GROUP BY v.device
-- ON duckdb, postgres
SELECT v.device, AVG(EXTRACT(EPOCH FROM (b.occurred_at - v.occurred_at))) / 60.0 AS minutes
FROM fact_web_events AS v
JOIN fact_web_events AS b ON b.session_id = v.session_id AND b.event_type = 'purchase'
WHERE v.event_type = 'view' AND v.date_key BETWEEN 20250101 AND 20251231
GROUP BY v.device

-- TASK last-click-attribution  enterprise  attribution, scd, group-by, join, self-join, subquery, window
-- ASK  Last-click attribution: credit the total of each order of December 2025 that was not cancelled to the channel of
--      the customer's latest clicked marketing touch before the order and within the 30 days (30 times 24 hours) before
--      it. Touches and orders belong to the customer, whatever the version. Orders without such a touch are left out; of
--      touches at the same moment the one with the higher number counts. Give channel, number of orders and amount.
-- GOLD
WITH ranked AS (
  SELECT
    o.order_id,
    o.total_amount,
    m.channel,
    ROW_NUMBER() OVER (PARTITION BY o.order_id ORDER BY m.touched_at DESC, m.touch_id DESC) AS place
  FROM fact_orders AS o
  JOIN dim_customer AS oc ON oc.customer_key = o.customer_key
  JOIN dim_customer AS mc ON mc.customer_id = oc.customer_id
  JOIN fact_marketing_touches AS m ON m.customer_key = mc.customer_key
  WHERE o.status <> 'cancelled'
    AND o.date_key BETWEEN 20251201 AND 20251231
    AND m.was_clicked
    AND m.touched_at < o.ordered_at
    AND m.touched_at >= DATETIME(o.ordered_at, '-30 days')
)
SELECT channel, COUNT(*) AS orders, SUM(total_amount) AS amount
FROM ranked
WHERE place = 1
GROUP BY channel
-- ON duckdb, postgres
WITH ranked AS (
  SELECT
    o.order_id,
    o.total_amount,
    m.channel,
    ROW_NUMBER() OVER (PARTITION BY o.order_id ORDER BY m.touched_at DESC, m.touch_id DESC) AS place
  FROM fact_orders AS o
  JOIN dim_customer AS oc ON oc.customer_key = o.customer_key
  JOIN dim_customer AS mc ON mc.customer_id = oc.customer_id
  JOIN fact_marketing_touches AS m ON m.customer_key = mc.customer_key
  WHERE o.status <> 'cancelled'
    AND o.date_key BETWEEN 20251201 AND 20251231
    AND m.was_clicked
    AND m.touched_at < o.ordered_at
    AND m.touched_at >= o.ordered_at - INTERVAL '30 days'
)
SELECT channel, COUNT(*) AS orders, SUM(total_amount) AS amount
FROM ranked
WHERE place = 1
GROUP BY channel
-- WRONG every clicked touch gets the whole order
SELECT m.channel, COUNT(*) AS orders, SUM(o.total_amount) AS amount
FROM fact_orders AS o
JOIN dim_customer AS oc ON oc.customer_key = o.customer_key
JOIN dim_customer AS mc ON mc.customer_id = oc.customer_id
JOIN fact_marketing_touches AS m ON m.customer_key = mc.customer_key
WHERE o.status <> 'cancelled'
  AND o.date_key BETWEEN 20251201 AND 20251231
  AND m.was_clicked
  AND m.touched_at < o.ordered_at
  AND m.touched_at >= DATETIME(o.ordered_at, '-30 days')
GROUP BY m.channel
-- ON duckdb, postgres
SELECT m.channel, COUNT(*) AS orders, SUM(o.total_amount) AS amount
FROM fact_orders AS o
JOIN dim_customer AS oc ON oc.customer_key = o.customer_key
JOIN dim_customer AS mc ON mc.customer_id = oc.customer_id
JOIN fact_marketing_touches AS m ON m.customer_key = mc.customer_key
WHERE o.status <> 'cancelled'
  AND o.date_key BETWEEN 20251201 AND 20251231
  AND m.was_clicked
  AND m.touched_at < o.ordered_at
  AND m.touched_at >= o.ordered_at - INTERVAL '30 days'
GROUP BY m.channel
-- WRONG touches that nobody clicked take the credit
WITH ranked AS (
  SELECT
    o.order_id,
    o.total_amount,
    m.channel,
    ROW_NUMBER() OVER (PARTITION BY o.order_id ORDER BY m.touched_at DESC, m.touch_id DESC) AS place
  FROM fact_orders AS o
  JOIN dim_customer AS oc ON oc.customer_key = o.customer_key
  JOIN dim_customer AS mc ON mc.customer_id = oc.customer_id
  JOIN fact_marketing_touches AS m ON m.customer_key = mc.customer_key
  WHERE o.status <> 'cancelled'
    AND o.date_key BETWEEN 20251201 AND 20251231
    AND m.touched_at < o.ordered_at
    AND m.touched_at >= DATETIME(o.ordered_at, '-30 days')
)
SELECT channel, COUNT(*) AS orders, SUM(total_amount) AS amount
FROM ranked
WHERE place = 1
GROUP BY channel
-- ON duckdb, postgres
WITH ranked AS (
  SELECT
    o.order_id,
    o.total_amount,
    m.channel,
    ROW_NUMBER() OVER (PARTITION BY o.order_id ORDER BY m.touched_at DESC, m.touch_id DESC) AS place
  FROM fact_orders AS o
  JOIN dim_customer AS oc ON oc.customer_key = o.customer_key
  JOIN dim_customer AS mc ON mc.customer_id = oc.customer_id
  JOIN fact_marketing_touches AS m ON m.customer_key = mc.customer_key
  WHERE o.status <> 'cancelled'
    AND o.date_key BETWEEN 20251201 AND 20251231
    AND m.touched_at < o.ordered_at
    AND m.touched_at >= o.ordered_at - INTERVAL '30 days'
)
SELECT channel, COUNT(*) AS orders, SUM(total_amount) AS amount
FROM ranked
WHERE place = 1
GROUP BY channel

-- TASK first-touch-attribution  enterprise  attribution, scd, group-by, join, subquery, window
-- ASK  First-touch attribution: credit all orders of 2025 that were not cancelled to the channel of the very first
--      marketing touch that the customer (whatever the version) ever received, clicked or not, if that was before the
--      order. Of touches at the same moment the lower number is first. Give channel, number of orders and amount.
-- GOLD
WITH firsts AS (
  SELECT customer_id, channel, touched_at
  FROM (
    SELECT
      c.customer_id,
      m.channel,
      m.touched_at,
      ROW_NUMBER() OVER (PARTITION BY c.customer_id ORDER BY m.touched_at, m.touch_id) AS place
    FROM fact_marketing_touches AS m
    JOIN dim_customer AS c ON c.customer_key = m.customer_key
  ) AS placed
  WHERE place = 1
)
SELECT f.channel, COUNT(*) AS orders, SUM(o.total_amount) AS amount
FROM fact_orders AS o
JOIN dim_customer AS c ON c.customer_key = o.customer_key
JOIN firsts AS f ON f.customer_id = c.customer_id AND f.touched_at < o.ordered_at
WHERE o.status <> 'cancelled' AND o.date_key BETWEEN 20250101 AND 20251231
GROUP BY f.channel
-- WRONG the first touch of 2025
WITH firsts AS (
  SELECT customer_id, channel, touched_at
  FROM (
    SELECT
      c.customer_id,
      m.channel,
      m.touched_at,
      ROW_NUMBER() OVER (PARTITION BY c.customer_id ORDER BY m.touched_at, m.touch_id) AS place
    FROM fact_marketing_touches AS m
    JOIN dim_customer AS c ON c.customer_key = m.customer_key
    WHERE m.date_key BETWEEN 20250101 AND 20251231
  ) AS placed
  WHERE place = 1
)
SELECT f.channel, COUNT(*) AS orders, SUM(o.total_amount) AS amount
FROM fact_orders AS o
JOIN dim_customer AS c ON c.customer_key = o.customer_key
JOIN firsts AS f ON f.customer_id = c.customer_id AND f.touched_at < o.ordered_at
WHERE o.status <> 'cancelled' AND o.date_key BETWEEN 20250101 AND 20251231
GROUP BY f.channel
-- WRONG only orders that the touch itself names
SELECT m.channel, COUNT(*) AS orders, SUM(o.total_amount) AS amount
FROM fact_marketing_touches AS m
JOIN fact_orders AS o ON o.order_id = m.order_id
WHERE o.status <> 'cancelled' AND o.date_key BETWEEN 20250101 AND 20251231
GROUP BY m.channel
-- WRONG the first touch of a version
WITH firsts AS (
  SELECT customer_key, channel, touched_at
  FROM (
    SELECT
      customer_key,
      channel,
      touched_at,
      ROW_NUMBER() OVER (PARTITION BY customer_key ORDER BY touched_at, touch_id) AS place
    FROM fact_marketing_touches
  ) AS placed
  WHERE place = 1
)
SELECT f.channel, COUNT(*) AS orders, SUM(o.total_amount) AS amount
FROM fact_orders AS o
JOIN firsts AS f ON f.customer_key = o.customer_key AND f.touched_at < o.ordered_at
WHERE o.status <> 'cancelled' AND o.date_key BETWEEN 20250101 AND 20251231
GROUP BY f.channel

-- TASK return-on-marketing  enterprise  attribution, fan-out, ratio, group-by, join, outer-join
-- ASK  For each marketing channel in 2025 (by the day of the touch): the cost of all touches, the total of the orders that
--      touches name as theirs (cancelled orders have no total and add nothing), and the total per euro of cost. Give
--      channel, cost, order total and ratio (unrounded).
-- GOLD
SELECT
  m.channel,
  SUM(m.cost) AS cost,
  SUM(o.total_amount) AS order_total,
  SUM(o.total_amount) / SUM(m.cost) AS ratio
FROM fact_marketing_touches AS m
LEFT JOIN fact_orders AS o ON o.order_id = m.order_id
WHERE m.date_key BETWEEN 20250101 AND 20251231
GROUP BY m.channel
-- WRONG only touches that led to an order cost something here
SELECT
  m.channel,
  SUM(m.cost) AS cost,
  SUM(o.total_amount) AS order_total,
  SUM(o.total_amount) / SUM(m.cost) AS ratio
FROM fact_marketing_touches AS m
JOIN fact_orders AS o ON o.order_id = m.order_id
WHERE m.date_key BETWEEN 20250101 AND 20251231
GROUP BY m.channel
-- WRONG joined with the sales lines, a touch costs once for each line
SELECT
  m.channel,
  SUM(m.cost) AS cost,
  SUM(s.sales_amount) AS order_total,
  SUM(s.sales_amount) / SUM(m.cost) AS ratio
FROM fact_marketing_touches AS m
LEFT JOIN fact_sales AS s ON s.order_id = m.order_id
WHERE m.date_key BETWEEN 20250101 AND 20251231
GROUP BY m.channel

-- TASK slow-first-answers  enterprise  date, ratio, null, case, group-by
-- ASK  What percentage of the support tickets opened in 2025 got their first answer more than 24 hours after they were
--      opened, or none at all, by priority? Give priority and percentage, unrounded.
-- GOLD
SELECT
  priority,
  100.0 * SUM(CASE
    WHEN first_response_at IS NULL THEN 1
    WHEN STRFTIME('%s', first_response_at) - STRFTIME('%s', opened_at) > 24 * 3600 THEN 1
    ELSE 0
  END) / COUNT(*) AS percent
FROM fact_support_tickets
WHERE date_key BETWEEN 20250101 AND 20251231
GROUP BY priority
-- ON duckdb, postgres
SELECT
  priority,
  100.0 * SUM(CASE
    WHEN first_response_at IS NULL THEN 1
    WHEN first_response_at - opened_at > INTERVAL '24 hours' THEN 1
    ELSE 0
  END) / COUNT(*) AS percent
FROM fact_support_tickets
WHERE date_key BETWEEN 20250101 AND 20251231
GROUP BY priority
-- WRONG tickets without an answer count as quick
SELECT
  priority,
  100.0 * SUM(CASE WHEN STRFTIME('%s', first_response_at) - STRFTIME('%s', opened_at) > 24 * 3600 THEN 1 ELSE 0 END)
    / COUNT(*) AS percent
FROM fact_support_tickets
WHERE date_key BETWEEN 20250101 AND 20251231
GROUP BY priority
-- ON duckdb, postgres
SELECT
  priority,
  100.0 * SUM(CASE WHEN first_response_at - opened_at > INTERVAL '24 hours' THEN 1 ELSE 0 END) / COUNT(*) AS percent
FROM fact_support_tickets
WHERE date_key BETWEEN 20250101 AND 20251231
GROUP BY priority
-- WRONG the time to the solution
SELECT
  priority,
  100.0 * SUM(CASE
    WHEN resolved_at IS NULL THEN 1
    WHEN STRFTIME('%s', resolved_at) - STRFTIME('%s', opened_at) > 24 * 3600 THEN 1
    ELSE 0
  END) / COUNT(*) AS percent
FROM fact_support_tickets
WHERE date_key BETWEEN 20250101 AND 20251231
GROUP BY priority
-- ON duckdb, postgres
SELECT
  priority,
  100.0 * SUM(CASE
    WHEN resolved_at IS NULL THEN 1
    WHEN resolved_at - opened_at > INTERVAL '24 hours' THEN 1
    ELSE 0
  END) / COUNT(*) AS percent
FROM fact_support_tickets
WHERE date_key BETWEEN 20250101 AND 20251231
GROUP BY priority

-- TASK tickets-per-hundred-orders  enterprise  fan-out, ratio, tenant, group-by, join, subquery
-- ASK  For each brand in 2025: how many support tickets were opened per 100 orders placed (cancelled orders count)? Give
--      brand name and ratio, unrounded.
-- GOLD
WITH tickets AS (
  SELECT tenant_id, COUNT(*) AS tickets
  FROM fact_support_tickets
  WHERE date_key BETWEEN 20250101 AND 20251231
  GROUP BY tenant_id
),
placed AS (
  SELECT tenant_id, COUNT(*) AS orders
  FROM fact_orders
  WHERE date_key BETWEEN 20250101 AND 20251231
  GROUP BY tenant_id
)
SELECT t.tenant_name, 100.0 * k.tickets / p.orders AS per_hundred
FROM dim_tenant AS t
JOIN tickets AS k ON k.tenant_id = t.tenant_id
JOIN placed AS p ON p.tenant_id = t.tenant_id
-- WRONG only tickets that name an order
SELECT t.tenant_name, 100.0 * COUNT(k.ticket_id) / COUNT(DISTINCT o.order_id) AS per_hundred
FROM fact_orders AS o
JOIN dim_tenant AS t ON t.tenant_id = o.tenant_id
LEFT JOIN fact_support_tickets AS k ON k.order_id = o.order_id
WHERE o.date_key BETWEEN 20250101 AND 20251231
GROUP BY t.tenant_id, t.tenant_name
-- WRONG divides by the orders of all brands
WITH tickets AS (
  SELECT tenant_id, COUNT(*) AS tickets
  FROM fact_support_tickets
  WHERE date_key BETWEEN 20250101 AND 20251231
  GROUP BY tenant_id
)
SELECT
  t.tenant_name,
  100.0 * k.tickets / (SELECT COUNT(*) FROM fact_orders WHERE date_key BETWEEN 20250101 AND 20251231) AS per_hundred
FROM dim_tenant AS t
JOIN tickets AS k ON k.tenant_id = t.tenant_id
