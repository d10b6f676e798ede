-- One or two tables of the shop: filters, missing values, dates, counting things and not rows.
-- Day ranges are written as "from ... to before ...", which holds for dates and for moments.

-- TASK newsletter-germany  easy  filter, aggregate
-- ASK  How many customers in Germany receive the newsletter? Give one number.
-- GOLD
SELECT COUNT(*)
FROM customers
WHERE country = 'Germany' AND newsletter
-- WRONG counts every German customer, with or without the newsletter
SELECT COUNT(*)
FROM customers
WHERE country = 'Germany'
-- WRONG OR for AND
SELECT COUNT(*)
FROM customers
WHERE country = 'Germany' OR newsletter

-- TASK cheap-teas-and-sweets  easy  filter, logic, join
-- ASK  Which products of the categories Tea and Sweets & Snacks cost less than 8 euros? Give the product's name and
--      its price.
-- GOLD
SELECT p.name, p.price
FROM products AS p
JOIN categories AS c ON c.category_id = p.category_id
WHERE c.name IN ('Tea', 'Sweets & Snacks') AND p.price < 8
-- WRONG AND binds closer than OR: teas of any price come too
SELECT p.name, p.price
FROM products AS p
JOIN categories AS c ON c.category_id = p.category_id
WHERE c.name = 'Tea' OR c.name = 'Sweets & Snacks' AND p.price < 8
-- WRONG a product is in one category only: nothing is both
SELECT p.name, p.price
FROM products AS p
JOIN categories AS c ON c.category_id = p.category_id
WHERE c.name = 'Tea' AND c.name = 'Sweets & Snacks' AND p.price < 8

-- TASK tea-in-name  easy  filter, text, aggregate
-- ASK  How many products have the word Tea, in any case and also inside longer words, somewhere in their name?
--      Give one number.
-- GOLD
SELECT COUNT(*)
FROM products
WHERE LOWER(name) LIKE '%tea%'
-- WRONG only names that begin with it
SELECT COUNT(*)
FROM products
WHERE LOWER(name) LIKE 'tea%'
-- WRONG asks the category and not the name
SELECT COUNT(*)
FROM products AS p
JOIN categories AS c ON c.category_id = p.category_id
WHERE c.name = 'Tea'

-- TASK unknown-weight  easy  null, aggregate
-- ASK  How many products have no shipping weight on record? Give one number.
-- GOLD
SELECT COUNT(*)
FROM products
WHERE weight_grams IS NULL
-- WRONG a comparison with NULL is never true
SELECT COUNT(*)
FROM products
WHERE weight_grams = NULL
-- WRONG counts the products whose weight is known
SELECT COUNT(weight_grams)
FROM products

-- TASK not-heavy  easy  null, logic, aggregate
-- ASK  How many products are not known to weigh more than 500 grams? Products without a weight on record count too.
--      Give one number.
-- GOLD
SELECT COUNT(*)
FROM products
WHERE weight_grams <= 500 OR weight_grams IS NULL
-- WRONG missing weights fall out of the comparison
SELECT COUNT(*)
FROM products
WHERE weight_grams <= 500
-- WRONG NOT does not bring missing weights back
SELECT COUNT(*)
FROM products
WHERE NOT weight_grams > 500

-- TASK orders-second-quarter-2024  easy  date, filter, aggregate
-- ASK  How many orders were placed from 1 April to 30 June 2024, both days included? Give one number.
-- GOLD
SELECT COUNT(*)
FROM orders
WHERE order_date >= '2024-04-01' AND order_date < '2024-07-01'
-- WRONG the last day is left out
SELECT COUNT(*)
FROM orders
WHERE order_date >= '2024-04-01' AND order_date < '2024-06-30'
-- WRONG takes the day on which the orders were shipped
SELECT COUNT(*)
FROM orders
WHERE shipped_date >= '2024-04-01' AND shipped_date < '2024-07-01'

-- TASK buyers-2024  easy  date, aggregate, distinct
-- ASK  How many different customers placed at least one order in 2024? Cancelled orders count. Give one number.
-- GOLD
SELECT COUNT(DISTINCT customer_id)
FROM orders
WHERE order_date >= '2024-01-01' AND order_date < '2025-01-01'
-- WRONG counts orders, not customers
SELECT COUNT(customer_id)
FROM orders
WHERE order_date >= '2024-01-01' AND order_date < '2025-01-01'
-- WRONG all years
SELECT COUNT(DISTINCT customer_id)
FROM orders

-- TASK supplier-countries  easy  distinct
-- ASK  In which countries does the shop have suppliers? List each country once.
-- GOLD
SELECT DISTINCT country
FROM suppliers
-- WRONG a country with two suppliers comes twice
SELECT country
FROM suppliers
-- WRONG the customers' countries; none supplies from Spain
SELECT DISTINCT country
FROM customers

-- TASK average-catalogue-margin  easy  ratio, aggregate
-- ASK  What is the average margin of the products that are not discontinued, where the margin of a product is its
--      price minus its cost? Give one number in euros.
-- GOLD
SELECT AVG(price - cost)
FROM products
WHERE NOT is_discontinued
-- WRONG discontinued products count too
SELECT AVG(price - cost)
FROM products
-- WRONG weights each product by its stock
SELECT SUM((price - cost) * stock_quantity) / SUM(stock_quantity)
FROM products
WHERE NOT is_discontinued

-- TASK oldest-customers  easy  top-n, null
-- ASK  Who are the five oldest customers whose date of birth is known? Give customer number and date of birth, the
--      oldest first.
-- GOLD
SELECT customer_id, birth_date
FROM customers
WHERE birth_date IS NOT NULL
ORDER BY birth_date, customer_id
LIMIT 5
-- WRONG the youngest
SELECT customer_id, birth_date
FROM customers
WHERE birth_date IS NOT NULL
ORDER BY birth_date DESC, customer_id
LIMIT 5
-- WRONG the accounts that are oldest
SELECT customer_id, birth_date
FROM customers
WHERE birth_date IS NOT NULL
ORDER BY registered_on, customer_id
LIMIT 5

-- TASK payments-by-method-2025  easy  date, group-by
-- ASK  How much money came in by each payment method in 2025, by the day of the payment? Give the method and the
--      amount.
-- GOLD
SELECT method, SUM(amount) AS received
FROM payments
WHERE payment_date >= '2025-01-01' AND payment_date < '2026-01-01'
GROUP BY method
-- WRONG the year of the order instead of the payment's
SELECT p.method, SUM(p.amount) AS received
FROM payments AS p
JOIN orders AS o ON o.order_id = p.order_id
WHERE o.order_date >= '2025-01-01' AND o.order_date < '2026-01-01'
GROUP BY p.method
-- WRONG counts payments instead of adding them up
SELECT method, COUNT(*) AS received
FROM payments
WHERE payment_date >= '2025-01-01' AND payment_date < '2026-01-01'
GROUP BY method

-- TASK cities-with-many-customers  easy  group-by, having
-- ASK  Which cities have at least 14 customers? Give city, country and number of customers.
-- GOLD
SELECT city, country, COUNT(*) AS customers
FROM customers
GROUP BY city, country
HAVING COUNT(*) >= 14
-- WRONG counts only customers who gave a phone number
SELECT city, country, COUNT(phone) AS customers
FROM customers
GROUP BY city, country
HAVING COUNT(phone) >= 14
-- WRONG more than 14
SELECT city, country, COUNT(*) AS customers
FROM customers
GROUP BY city, country
HAVING COUNT(*) > 14

-- TASK dearest-sold-price  easy  aggregate, join
-- ASK  What is the highest price that was ever paid for one piece of a coffee (category Coffee), over all orders
--      that were not cancelled? Give one number.
-- GOLD
SELECT MAX(i.unit_price)
FROM order_items AS i
JOIN orders AS o ON o.order_id = i.order_id
JOIN products AS p ON p.product_id = i.product_id
JOIN categories AS c ON c.category_id = p.category_id
WHERE c.name = 'Coffee' AND o.status <> 'cancelled'
-- WRONG the total of a line is not the price of one piece
SELECT MAX(i.line_total)
FROM order_items AS i
JOIN orders AS o ON o.order_id = i.order_id
JOIN products AS p ON p.product_id = i.product_id
JOIN categories AS c ON c.category_id = p.category_id
WHERE c.name = 'Coffee' AND o.status <> 'cancelled'
-- WRONG the category is forgotten
SELECT MAX(i.unit_price)
FROM order_items AS i
JOIN orders AS o ON o.order_id = i.order_id
WHERE o.status <> 'cancelled'

-- TASK returned-value  easy  filter, aggregate
-- ASK  What is the total amount of the orders of 2024 that were returned, and how many are they? Give the amount,
--      then the number.
-- GOLD
SELECT SUM(total_amount), COUNT(*)
FROM orders
WHERE status = 'returned' AND order_date >= '2024-01-01' AND order_date < '2025-01-01'
-- WRONG cancelled orders were never sent, so they were not returned
SELECT SUM(total_amount), COUNT(*)
FROM orders
WHERE status IN ('returned', 'cancelled') AND order_date >= '2024-01-01' AND order_date < '2025-01-01'
-- WRONG all years
SELECT SUM(total_amount), COUNT(*)
FROM orders
WHERE status = 'returned'

-- TASK namesakes  easy  group-by, having
-- ASK  Which full names do several customers share? Give first name, last name and how many customers have them.
-- GOLD
SELECT first_name, last_name, COUNT(*) AS customers
FROM customers
GROUP BY first_name, last_name
HAVING COUNT(*) > 1
-- WRONG groups by the last name alone
SELECT MIN(first_name) AS first_name, last_name, COUNT(*) AS customers
FROM customers
GROUP BY last_name
HAVING COUNT(*) > 1
-- WRONG groups by a key that nobody shares
SELECT first_name, last_name, COUNT(*) AS customers
FROM customers
GROUP BY first_name, last_name, email
HAVING COUNT(*) > 1

-- TASK contact-coverage  easy  null, aggregate
-- ASK  How many customers are there, how many of them gave a phone number, and how many gave a date of birth?
--      Give the three numbers in one row, in this order.
-- GOLD
SELECT COUNT(*), COUNT(phone), COUNT(birth_date)
FROM customers
-- WRONG COUNT counts rows here, so all three are the same
SELECT COUNT(*), COUNT(phone IS NOT NULL), COUNT(birth_date IS NOT NULL)
FROM customers
-- WRONG numbers shared by two people would count once, days certainly do
SELECT COUNT(*), COUNT(DISTINCT phone), COUNT(DISTINCT birth_date)
FROM customers

-- TASK payments-of-nothing  easy  filter, empty
-- ASK  Which payments are of zero or less? Give payment number and amount.
-- GOLD
SELECT payment_id, amount
FROM payments
WHERE amount <= 0
-- WRONG takes small for none
SELECT payment_id, amount
FROM payments
WHERE amount <= 5
-- WRONG counts them: one row with 0 is not an empty list
SELECT COUNT(*), SUM(amount)
FROM payments
WHERE amount <= 0
