-- Stock at the end of each month: a level, which may be added up over stores and products but never over months.

-- TASK stock-value-year-end  enterprise  inventory, tenant, group-by, join
-- ASK  What was the stock worth at the end of December 2025, at unit cost, by brand? Give brand name and value.
-- GOLD
SELECT t.tenant_name, SUM(i.closing_quantity * p.unit_cost) AS stock_value
FROM fact_inventory AS i
JOIN dim_product AS p ON p.product_key = i.product_key
JOIN dim_tenant AS t ON t.tenant_id = i.tenant_id
WHERE i.date_key = 20251231
GROUP BY t.tenant_id, t.tenant_name
-- WRONG adds up the stock of every month
SELECT t.tenant_name, SUM(i.closing_quantity * p.unit_cost) AS stock_value
FROM fact_inventory AS i
JOIN dim_product AS p ON p.product_key = i.product_key
JOIN dim_tenant AS t ON t.tenant_id = i.tenant_id
GROUP BY t.tenant_id, t.tenant_name
-- WRONG worth at list price
SELECT t.tenant_name, SUM(i.closing_quantity * p.list_price) AS stock_value
FROM fact_inventory AS i
JOIN dim_product AS p ON p.product_key = i.product_key
JOIN dim_tenant AS t ON t.tenant_id = i.tenant_id
WHERE i.date_key = 20251231
GROUP BY t.tenant_id, t.tenant_name

-- TASK average-stock-2025  enterprise  inventory, group-by, join, subquery
-- ASK  What was each store's average stock over the twelve month ends of 2025, where a month end's stock is the sum of the
--      closing quantities of all its products, and a month end without stock rows counts as 0? Give store name and
--      average pieces, only for stores with stock rows in 2025.
-- GOLD
WITH levels AS (
  SELECT store_key, date_key, SUM(closing_quantity) AS pieces
  FROM fact_inventory
  WHERE date_key BETWEEN 20250101 AND 20251231
  GROUP BY store_key, date_key
)
SELECT st.store_name, SUM(l.pieces) / 12.0 AS average_pieces
FROM levels AS l
JOIN dim_store AS st ON st.store_key = l.store_key
GROUP BY st.store_key, st.store_name
-- WRONG the average over single products
SELECT st.store_name, AVG(1.0 * i.closing_quantity) AS average_pieces
FROM fact_inventory AS i
JOIN dim_store AS st ON st.store_key = i.store_key
WHERE i.date_key BETWEEN 20250101 AND 20251231
GROUP BY st.store_key, st.store_name
-- WRONG a store that closed in June is averaged over its open months
WITH levels AS (
  SELECT store_key, date_key, SUM(closing_quantity) AS pieces
  FROM fact_inventory
  WHERE date_key BETWEEN 20250101 AND 20251231
  GROUP BY store_key, date_key
)
SELECT st.store_name, AVG(1.0 * l.pieces) AS average_pieces
FROM levels AS l
JOIN dim_store AS st ON st.store_key = l.store_key
GROUP BY st.store_key, st.store_name

-- TASK repeated-stockouts  enterprise  inventory, gaps-islands, group-by, having, subquery, window
-- ASK  Which products were out of stock in a store (closing quantity 0) at two or more month ends in a row? Rows of the
--      same store and product that follow each other in time count as months in a row. Give store number, product
--      number and the length of the longest such run.
-- GOLD
WITH numbered AS (
  SELECT
    store_key,
    product_key,
    date_key,
    closing_quantity,
    ROW_NUMBER() OVER (PARTITION BY store_key, product_key ORDER BY date_key) AS month_number
  FROM fact_inventory
),
islands AS (
  SELECT
    store_key,
    product_key,
    month_number - ROW_NUMBER() OVER (PARTITION BY store_key, product_key ORDER BY month_number) AS island
  FROM numbered
  WHERE closing_quantity = 0
),
runs AS (
  SELECT store_key, product_key, COUNT(*) AS months
  FROM islands
  GROUP BY store_key, product_key, island
)
SELECT store_key, product_key, MAX(months) AS longest
FROM runs
GROUP BY store_key, product_key
HAVING MAX(months) >= 2
-- WRONG all months without stock, in a row or not
SELECT store_key, product_key, COUNT(*) AS longest
FROM fact_inventory
WHERE closing_quantity = 0
GROUP BY store_key, product_key
HAVING COUNT(*) >= 2
-- WRONG every stockout, single ones too
WITH numbered AS (
  SELECT
    store_key,
    product_key,
    date_key,
    closing_quantity,
    ROW_NUMBER() OVER (PARTITION BY store_key, product_key ORDER BY date_key) AS month_number
  FROM fact_inventory
),
islands AS (
  SELECT
    store_key,
    product_key,
    month_number - ROW_NUMBER() OVER (PARTITION BY store_key, product_key ORDER BY month_number) AS island
  FROM numbered
  WHERE closing_quantity = 0
)
SELECT store_key, product_key, COUNT(*) AS longest
FROM islands
GROUP BY store_key, product_key, island

-- TASK stock-turnover  enterprise  inventory, ratio, tenant, group-by, join, subquery
-- ASK  Stock turnover of the brand Copper Kettle Kitchens in 2025 by category: the pieces sold in the year according to the
--      stock rows, divided by the average stock, which is the mean over the twelve month ends of the category's summed
--      closing quantity. Give category and turnover, unrounded.
-- GOLD
WITH levels AS (
  SELECT p.category, i.date_key, SUM(i.sold_quantity) AS sold, SUM(i.closing_quantity) AS stock
  FROM fact_inventory AS i
  JOIN dim_product AS p ON p.product_key = i.product_key
  JOIN dim_tenant AS t ON t.tenant_id = i.tenant_id
  WHERE t.tenant_name = 'Copper Kettle Kitchens' AND i.date_key BETWEEN 20250101 AND 20251231
  GROUP BY p.category, i.date_key
)
SELECT category, 1.0 * SUM(sold) / AVG(1.0 * stock) AS turnover
FROM levels
GROUP BY category
-- WRONG divides by the stock of all months together
WITH levels AS (
  SELECT p.category, i.date_key, SUM(i.sold_quantity) AS sold, SUM(i.closing_quantity) AS stock
  FROM fact_inventory AS i
  JOIN dim_product AS p ON p.product_key = i.product_key
  JOIN dim_tenant AS t ON t.tenant_id = i.tenant_id
  WHERE t.tenant_name = 'Copper Kettle Kitchens' AND i.date_key BETWEEN 20250101 AND 20251231
  GROUP BY p.category, i.date_key
)
SELECT category, 1.0 * SUM(sold) / SUM(stock) AS turnover
FROM levels
GROUP BY category
-- WRONG divides by the average stock of one product in one store
SELECT p.category, 1.0 * SUM(i.sold_quantity) / AVG(1.0 * i.closing_quantity) AS turnover
FROM fact_inventory AS i
JOIN dim_product AS p ON p.product_key = i.product_key
JOIN dim_tenant AS t ON t.tenant_id = i.tenant_id
WHERE t.tenant_name = 'Copper Kettle Kitchens' AND i.date_key BETWEEN 20250101 AND 20251231
GROUP BY p.category
