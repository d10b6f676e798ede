-- Trees: the bill of materials over all its levels, and who reports to whom.

-- TASK tent-parts-list  enterprise  bom, group-by, join, recursive, subquery
-- ASK  Which components (product type component, not assemblies) are needed to make one Basecamp 5 Tent, over all levels
--      of the bill of materials, and how many of each? A component that is used in several places comes once with the
--      sum. Give component name and quantity.
-- GOLD
WITH RECURSIVE parts(product_key, quantity) AS (
  SELECT b.component_product_key, b.quantity
  FROM bill_of_materials AS b
  JOIN dim_product AS p ON p.product_key = b.parent_product_key
  WHERE p.product_name = 'Basecamp 5 Tent'
  UNION ALL
  SELECT b.component_product_key, parts.quantity * b.quantity
  FROM parts
  JOIN bill_of_materials AS b ON b.parent_product_key = parts.product_key
)
SELECT p.product_name, SUM(parts.quantity) AS quantity
FROM parts
JOIN dim_product AS p ON p.product_key = parts.product_key
WHERE p.product_type = 'component'
GROUP BY p.product_key, p.product_name
-- WRONG the quantity of the last step only: two inner tents need twice the zips
WITH RECURSIVE parts(product_key, quantity) AS (
  SELECT b.component_product_key, b.quantity
  FROM bill_of_materials AS b
  JOIN dim_product AS p ON p.product_key = b.parent_product_key
  WHERE p.product_name = 'Basecamp 5 Tent'
  UNION ALL
  SELECT b.component_product_key, b.quantity
  FROM parts
  JOIN bill_of_materials AS b ON b.parent_product_key = parts.product_key
)
SELECT p.product_name, SUM(parts.quantity) AS quantity
FROM parts
JOIN dim_product AS p ON p.product_key = parts.product_key
WHERE p.product_type = 'component'
GROUP BY p.product_key, p.product_name
-- WRONG assemblies are in the list beside what they are made of
WITH RECURSIVE parts(product_key, quantity) AS (
  SELECT b.component_product_key, b.quantity
  FROM bill_of_materials AS b
  JOIN dim_product AS p ON p.product_key = b.parent_product_key
  WHERE p.product_name = 'Basecamp 5 Tent'
  UNION ALL
  SELECT b.component_product_key, parts.quantity * b.quantity
  FROM parts
  JOIN bill_of_materials AS b ON b.parent_product_key = parts.product_key
)
SELECT p.product_name, SUM(parts.quantity) AS quantity
FROM parts
JOIN dim_product AS p ON p.product_key = parts.product_key
GROUP BY p.product_key, p.product_name
-- WRONG the first level alone
SELECT c.product_name, b.quantity
FROM bill_of_materials AS b
JOIN dim_product AS p ON p.product_key = b.parent_product_key
JOIN dim_product AS c ON c.product_key = b.component_product_key
WHERE p.product_name = 'Basecamp 5 Tent' AND c.product_type = 'component'

-- TASK production-order  enterprise  bom, case, group-by, join, recursive, subquery
-- ASK  A production order asks for 40 Stand Mixer Classic and 25 Electric Kettle Copper. How many pieces of each
--      component (product type component) does it need in all, over all levels? Give component name and quantity, the
--      largest quantity first, of equal ones the smaller product number first.
-- GOLD
WITH RECURSIVE parts(product_key, quantity) AS (
  SELECT product_key, CASE WHEN product_name = 'Stand Mixer Classic' THEN 40 ELSE 25 END
  FROM dim_product
  WHERE product_name IN ('Stand Mixer Classic', 'Electric Kettle Copper')
  UNION ALL
  SELECT b.component_product_key, parts.quantity * b.quantity
  FROM parts
  JOIN bill_of_materials AS b ON b.parent_product_key = parts.product_key
)
SELECT p.product_name, SUM(parts.quantity) AS quantity
FROM parts
JOIN dim_product AS p ON p.product_key = parts.product_key
WHERE p.product_type = 'component'
GROUP BY p.product_key, p.product_name
ORDER BY SUM(parts.quantity) DESC, p.product_key
-- WRONG 40 of both
WITH RECURSIVE parts(product_key, quantity) AS (
  SELECT product_key, 40
  FROM dim_product
  WHERE product_name IN ('Stand Mixer Classic', 'Electric Kettle Copper')
  UNION ALL
  SELECT b.component_product_key, parts.quantity * b.quantity
  FROM parts
  JOIN bill_of_materials AS b ON b.parent_product_key = parts.product_key
)
SELECT p.product_name, SUM(parts.quantity) AS quantity
FROM parts
JOIN dim_product AS p ON p.product_key = parts.product_key
WHERE p.product_type = 'component'
GROUP BY p.product_key, p.product_name
ORDER BY SUM(parts.quantity) DESC, p.product_key
-- WRONG the largest need of one place instead of the sum over all
WITH RECURSIVE parts(product_key, quantity) AS (
  SELECT product_key, CASE WHEN product_name = 'Stand Mixer Classic' THEN 40 ELSE 25 END
  FROM dim_product
  WHERE product_name IN ('Stand Mixer Classic', 'Electric Kettle Copper')
  UNION ALL
  SELECT b.component_product_key, parts.quantity * b.quantity
  FROM parts
  JOIN bill_of_materials AS b ON b.parent_product_key = parts.product_key
)
SELECT p.product_name, MAX(parts.quantity) AS quantity
FROM parts
JOIN dim_product AS p ON p.product_key = parts.product_key
WHERE p.product_type = 'component'
GROUP BY p.product_key, p.product_name
ORDER BY MAX(parts.quantity) DESC, p.product_key

-- TASK where-used  enterprise  bom, join, recursive, subquery
-- ASK  A defect was found in the component 'Ripstop Nylon, Metre'. Which finished products contain it, at any level?
--      Give product name, each once.
-- GOLD
WITH RECURSIVE uses(product_key) AS (
  SELECT b.parent_product_key
  FROM bill_of_materials AS b
  JOIN dim_product AS p ON p.product_key = b.component_product_key
  WHERE p.product_name = 'Ripstop Nylon, Metre'
  UNION
  SELECT b.parent_product_key
  FROM uses
  JOIN bill_of_materials AS b ON b.component_product_key = uses.product_key
)
SELECT p.product_name
FROM uses
JOIN dim_product AS p ON p.product_key = uses.product_key
WHERE p.product_type = 'finished'
-- WRONG direct parents only: tents get it through their flysheet
SELECT p.product_name
FROM bill_of_materials AS b
JOIN dim_product AS c ON c.product_key = b.component_product_key
JOIN dim_product AS p ON p.product_key = b.parent_product_key
WHERE c.product_name = 'Ripstop Nylon, Metre' AND p.product_type = 'finished'
-- WRONG a tent comes once for each way the nylon gets into it
WITH RECURSIVE uses(product_key) AS (
  SELECT b.parent_product_key
  FROM bill_of_materials AS b
  JOIN dim_product AS p ON p.product_key = b.component_product_key
  WHERE p.product_name = 'Ripstop Nylon, Metre'
  UNION ALL
  SELECT b.parent_product_key
  FROM uses
  JOIN bill_of_materials AS b ON b.component_product_key = uses.product_key
)
SELECT p.product_name
FROM uses
JOIN dim_product AS p ON p.product_key = uses.product_key
WHERE p.product_type = 'finished'
-- WRONG assemblies are not sold
WITH RECURSIVE uses(product_key) AS (
  SELECT b.parent_product_key
  FROM bill_of_materials AS b
  JOIN dim_product AS p ON p.product_key = b.component_product_key
  WHERE p.product_name = 'Ripstop Nylon, Metre'
  UNION
  SELECT b.parent_product_key
  FROM uses
  JOIN bill_of_materials AS b ON b.component_product_key = uses.product_key
)
SELECT p.product_name
FROM uses
JOIN dim_product AS p ON p.product_key = uses.product_key

-- TASK levels-of-products  enterprise  bom, group-by, join, recursive, subquery
-- ASK  How many levels deep is the bill of materials of each finished product that has one? A product made only of parts
--      that are not made of anything has one level. Give product name and levels.
-- GOLD
WITH RECURSIVE tree(root_key, product_key, level) AS (
  SELECT p.product_key, b.component_product_key, 1
  FROM dim_product AS p
  JOIN bill_of_materials AS b ON b.parent_product_key = p.product_key
  WHERE p.product_type = 'finished'
  UNION ALL
  SELECT tree.root_key, b.component_product_key, tree.level + 1
  FROM tree
  JOIN bill_of_materials AS b ON b.parent_product_key = tree.product_key
)
SELECT p.product_name, MAX(tree.level) AS levels
FROM tree
JOIN dim_product AS p ON p.product_key = tree.root_key
GROUP BY p.product_key, p.product_name
-- WRONG counts the parts, not the levels
WITH RECURSIVE tree(root_key, product_key, level) AS (
  SELECT p.product_key, b.component_product_key, 1
  FROM dim_product AS p
  JOIN bill_of_materials AS b ON b.parent_product_key = p.product_key
  WHERE p.product_type = 'finished'
  UNION ALL
  SELECT tree.root_key, b.component_product_key, tree.level + 1
  FROM tree
  JOIN bill_of_materials AS b ON b.parent_product_key = tree.product_key
)
SELECT p.product_name, COUNT(tree.level) AS levels
FROM tree
JOIN dim_product AS p ON p.product_key = tree.root_key
GROUP BY p.product_key, p.product_name
-- WRONG the product itself is counted as a level
WITH RECURSIVE tree(root_key, product_key, level) AS (
  SELECT product_key, product_key, 1
  FROM dim_product
  WHERE product_type = 'finished'
  UNION ALL
  SELECT tree.root_key, b.component_product_key, tree.level + 1
  FROM tree
  JOIN bill_of_materials AS b ON b.parent_product_key = tree.product_key
)
SELECT p.product_name, MAX(tree.level) AS levels
FROM tree
JOIN dim_product AS p ON p.product_key = tree.root_key
GROUP BY p.product_key, p.product_name
HAVING MAX(tree.level) > 1

-- TASK common-components  enterprise  bom, distinct, group-by, having, join, recursive, subquery
-- ASK  Which components (product type component) go into at least three different finished products, at any level? Give
--      component name and number of finished products.
-- GOLD
WITH RECURSIVE tree(root_key, product_key) AS (
  SELECT p.product_key, b.component_product_key
  FROM dim_product AS p
  JOIN bill_of_materials AS b ON b.parent_product_key = p.product_key
  WHERE p.product_type = 'finished'
  UNION ALL
  SELECT tree.root_key, b.component_product_key
  FROM tree
  JOIN bill_of_materials AS b ON b.parent_product_key = tree.product_key
)
SELECT c.product_name, COUNT(DISTINCT tree.root_key) AS products
FROM tree
JOIN dim_product AS c ON c.product_key = tree.product_key
WHERE c.product_type = 'component'
GROUP BY c.product_key, c.product_name
HAVING COUNT(DISTINCT tree.root_key) >= 3
-- WRONG two places in one product count as two products
WITH RECURSIVE tree(root_key, product_key) AS (
  SELECT p.product_key, b.component_product_key
  FROM dim_product AS p
  JOIN bill_of_materials AS b ON b.parent_product_key = p.product_key
  WHERE p.product_type = 'finished'
  UNION ALL
  SELECT tree.root_key, b.component_product_key
  FROM tree
  JOIN bill_of_materials AS b ON b.parent_product_key = tree.product_key
)
SELECT c.product_name, COUNT(*) AS products
FROM tree
JOIN dim_product AS c ON c.product_key = tree.product_key
WHERE c.product_type = 'component'
GROUP BY c.product_key, c.product_name
HAVING COUNT(*) >= 3
-- WRONG direct parents, assemblies among them
SELECT c.product_name, COUNT(*) AS products
FROM bill_of_materials AS b
JOIN dim_product AS c ON c.product_key = b.component_product_key
WHERE c.product_type = 'component'
GROUP BY c.product_key, c.product_name
HAVING COUNT(*) >= 3

-- TASK people-under-each-head  enterprise  hierarchy, tenant, group-by, join, recursive, subquery
-- ASK  How many current employees work under each Head of Retail, directly or through others, and what do they earn in a
--      year together? People who have left pass on the line of reporting but are not counted. Give brand name, number
--      and sum of annual salaries.
-- GOLD
WITH RECURSIVE team(head_id, tenant_id, employee_id) AS (
  SELECT employee_id, tenant_id, employee_id
  FROM dim_employee
  WHERE job_title = 'Head of Retail'
  UNION ALL
  SELECT team.head_id, team.tenant_id, e.employee_id
  FROM team
  JOIN dim_employee AS e ON e.manager_id = team.employee_id
)
SELECT t.tenant_name, COUNT(*) AS people, SUM(e.annual_salary) AS salaries
FROM team
JOIN dim_employee AS e ON e.employee_id = team.employee_id
JOIN dim_tenant AS t ON t.tenant_id = team.tenant_id
WHERE e.employee_id <> team.head_id AND e.termination_date IS NULL
GROUP BY t.tenant_id, t.tenant_name
-- WRONG direct reports only
SELECT t.tenant_name, COUNT(*) AS people, SUM(e.annual_salary) AS salaries
FROM dim_employee AS h
JOIN dim_employee AS e ON e.manager_id = h.employee_id
JOIN dim_tenant AS t ON t.tenant_id = h.tenant_id
WHERE h.job_title = 'Head of Retail' AND e.termination_date IS NULL
GROUP BY t.tenant_id, t.tenant_name
-- WRONG the head belongs to the own team
WITH RECURSIVE team(head_id, tenant_id, employee_id) AS (
  SELECT employee_id, tenant_id, employee_id
  FROM dim_employee
  WHERE job_title = 'Head of Retail'
  UNION ALL
  SELECT team.head_id, team.tenant_id, e.employee_id
  FROM team
  JOIN dim_employee AS e ON e.manager_id = team.employee_id
)
SELECT t.tenant_name, COUNT(*) AS people, SUM(e.annual_salary) AS salaries
FROM team
JOIN dim_employee AS e ON e.employee_id = team.employee_id
JOIN dim_tenant AS t ON t.tenant_id = team.tenant_id
WHERE e.termination_date IS NULL
GROUP BY t.tenant_id, t.tenant_name
-- WRONG people who have left are counted
WITH RECURSIVE team(head_id, tenant_id, employee_id) AS (
  SELECT employee_id, tenant_id, employee_id
  FROM dim_employee
  WHERE job_title = 'Head of Retail'
  UNION ALL
  SELECT team.head_id, team.tenant_id, e.employee_id
  FROM team
  JOIN dim_employee AS e ON e.manager_id = team.employee_id
)
SELECT t.tenant_name, COUNT(*) AS people, SUM(e.annual_salary) AS salaries
FROM team
JOIN dim_employee AS e ON e.employee_id = team.employee_id
JOIN dim_tenant AS t ON t.tenant_id = team.tenant_id
WHERE e.employee_id <> team.head_id
GROUP BY t.tenant_id, t.tenant_name

-- TASK levels-of-reporting  enterprise  hierarchy, group-by, join, recursive, subquery
-- ASK  How many current employees are there on each level of the organisation of Northfell Outdoor? Who reports to nobody
--      is on level 1. Give level and number, in order of levels.
-- GOLD
WITH RECURSIVE levels(employee_id, level) AS (
  SELECT e.employee_id, 1
  FROM dim_employee AS e
  JOIN dim_tenant AS t ON t.tenant_id = e.tenant_id
  WHERE e.manager_id IS NULL AND t.tenant_name = 'Northfell Outdoor'
  UNION ALL
  SELECT e.employee_id, levels.level + 1
  FROM levels
  JOIN dim_employee AS e ON e.manager_id = levels.employee_id
)
SELECT levels.level, COUNT(*) AS employees
FROM levels
JOIN dim_employee AS e ON e.employee_id = levels.employee_id
WHERE e.termination_date IS NULL
GROUP BY levels.level
ORDER BY levels.level
-- WRONG all brands together
WITH RECURSIVE levels(employee_id, level) AS (
  SELECT employee_id, 1
  FROM dim_employee
  WHERE manager_id IS NULL
  UNION ALL
  SELECT e.employee_id, levels.level + 1
  FROM levels
  JOIN dim_employee AS e ON e.manager_id = levels.employee_id
)
SELECT levels.level, COUNT(*) AS employees
FROM levels
JOIN dim_employee AS e ON e.employee_id = levels.employee_id
WHERE e.termination_date IS NULL
GROUP BY levels.level
ORDER BY levels.level
-- WRONG levels begin at 0
WITH RECURSIVE levels(employee_id, level) AS (
  SELECT e.employee_id, 0
  FROM dim_employee AS e
  JOIN dim_tenant AS t ON t.tenant_id = e.tenant_id
  WHERE e.manager_id IS NULL AND t.tenant_name = 'Northfell Outdoor'
  UNION ALL
  SELECT e.employee_id, levels.level + 1
  FROM levels
  JOIN dim_employee AS e ON e.manager_id = levels.employee_id
)
SELECT levels.level, COUNT(*) AS employees
FROM levels
JOIN dim_employee AS e ON e.employee_id = levels.employee_id
WHERE e.termination_date IS NULL
GROUP BY levels.level
ORDER BY levels.level
-- WRONG everyone who ever worked there
WITH RECURSIVE levels(employee_id, level) AS (
  SELECT e.employee_id, 1
  FROM dim_employee AS e
  JOIN dim_tenant AS t ON t.tenant_id = e.tenant_id
  WHERE e.manager_id IS NULL AND t.tenant_name = 'Northfell Outdoor'
  UNION ALL
  SELECT e.employee_id, levels.level + 1
  FROM levels
  JOIN dim_employee AS e ON e.manager_id = levels.employee_id
)
SELECT level, COUNT(*) AS employees
FROM levels
GROUP BY level
ORDER BY level

-- TASK chain-of-command  enterprise  hierarchy, group-by, join, recursive, subquery
-- ASK  Who stands above the employee who sold the most in 2025 by sales amount (of equal amounts the smaller employee
--      number), from the direct manager up to the head of the brand? Give step (1 for the direct manager), employee
--      number and job title, in order of steps.
-- GOLD
WITH RECURSIVE best AS (
  SELECT employee_id
  FROM fact_sales
  WHERE employee_id IS NOT NULL AND date_key BETWEEN 20250101 AND 20251231
  GROUP BY employee_id
  ORDER BY SUM(sales_amount) DESC, employee_id
  LIMIT 1
),
chain(step, employee_id) AS (
  SELECT 1, e.manager_id
  FROM dim_employee AS e
  JOIN best ON best.employee_id = e.employee_id
  UNION ALL
  SELECT chain.step + 1, e.manager_id
  FROM chain
  JOIN dim_employee AS e ON e.employee_id = chain.employee_id
  WHERE e.manager_id IS NOT NULL
)
SELECT chain.step, e.employee_id, e.job_title
FROM chain
JOIN dim_employee AS e ON e.employee_id = chain.employee_id
ORDER BY chain.step
-- WRONG the direct manager alone
WITH best AS (
  SELECT employee_id
  FROM fact_sales
  WHERE employee_id IS NOT NULL AND date_key BETWEEN 20250101 AND 20251231
  GROUP BY employee_id
  ORDER BY SUM(sales_amount) DESC, employee_id
  LIMIT 1
)
SELECT 1 AS step, m.employee_id, m.job_title
FROM best
JOIN dim_employee AS e ON e.employee_id = best.employee_id
JOIN dim_employee AS m ON m.employee_id = e.manager_id
ORDER BY step
-- WRONG the seller of most lines, and the chain begins with the seller
WITH RECURSIVE best AS (
  SELECT employee_id
  FROM fact_sales
  WHERE employee_id IS NOT NULL AND date_key BETWEEN 20250101 AND 20251231
  GROUP BY employee_id
  ORDER BY COUNT(*) DESC, employee_id
  LIMIT 1
),
chain(step, employee_id) AS (
  SELECT 1, employee_id
  FROM best
  UNION ALL
  SELECT chain.step + 1, e.manager_id
  FROM chain
  JOIN dim_employee AS e ON e.employee_id = chain.employee_id
  WHERE e.manager_id IS NOT NULL
)
SELECT chain.step, e.employee_id, e.job_title
FROM chain
JOIN dim_employee AS e ON e.employee_id = chain.employee_id
ORDER BY chain.step
