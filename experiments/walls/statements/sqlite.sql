SELECT count(*) FROM many a, many b, many c, many d WHERE a.n + b.n + c.n + d.n = -1
SELECT a.w FROM many a, many b, many c WHERE a.w || b.w = c.w
SELECT a.n, b.n, c.n FROM many a CROSS JOIN many b CROSS JOIN many c WHERE a.n > 1e9
SELECT max(abs(a.n - b.n) * c.n) FROM many a, many b, many c
SELECT count(DISTINCT a.n * b.n * c.n) FROM many a, many b, many c
SELECT a.n % 7, b.n % 7, count(*) FROM many a, many b, many c GROUP BY 1, 2
SELECT a.w || b.w || c.w AS t, count(*) FROM many a, many b, many c GROUP BY t ORDER BY 2
SELECT sum(a.n) OVER (ORDER BY b.w, c.w) FROM many a, many b, many c
SELECT row_number() OVER (PARTITION BY a.n % 3 ORDER BY b.w) FROM many a, many b, many c
SELECT * FROM many a, many b, many c ORDER BY a.n * b.n % 1009, c.w
SELECT a.w FROM many a, many b UNION SELECT b.w || c.w FROM many b, many c
SELECT a.n * b.n FROM many a, many b EXCEPT SELECT b.n + c.n FROM many b, many c
SELECT a.n * b.n FROM many a, many b INTERSECT SELECT b.n + c.n FROM many b, many c
SELECT n FROM many a WHERE (SELECT count(*) FROM many b, many c WHERE b.n < a.n AND c.w > b.w) > 0
SELECT n FROM many a WHERE n IN (SELECT b.n * c.n FROM many b, many c WHERE b.n + c.n > a.n)
SELECT (SELECT max(b.n + c.n) FROM many b, many c WHERE b.n > a.n) FROM many a
SELECT count(*) FROM many a LEFT JOIN many b ON a.w LIKE b.w || '%' LEFT JOIN many c ON c.w LIKE '%' || b.w
SELECT count(*) FROM many a, many b WHERE a.w LIKE '%' || b.w || '%' AND b.w LIKE '%' || a.n || '%'
SELECT count(*) FROM wide a, wide b WHERE hex(a.v) = hex(b.v)
SELECT count(*) FROM wide, many WHERE lower(hex(v)) LIKE '%abc%def%' || w
SELECT count(*) FROM wide, many WHERE upper(hex(v)) GLOB '*[0-4]*[5-9]*x' || n
SELECT max(length(upper(lower(hex(v))))) FROM wide, many
SELECT sum(unicode(substr(hex(v), n + 1))) FROM wide, many
SELECT length(group_concat(hex(v))) FROM wide, many
SELECT length(group_concat(a.w || b.w)) FROM many a, many b, many c
SELECT json_group_array(a.w) FROM many a, many b, many c
SELECT json_group_object(a.w || b.n, c.w) FROM many a, many b, many c
SELECT quote(v) FROM wide, many
SELECT DISTINCT v FROM wide, many ORDER BY v DESC
WITH RECURSIVE c(x, y) AS (SELECT 1, 'a' UNION ALL SELECT x + 1, y || 'b' FROM c) SELECT max(length(y)) FROM c
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT c.x + m.n FROM c, many m) SELECT count(*) FROM c
WITH RECURSIVE c(x) AS (SELECT n FROM many UNION SELECT x * 31 % 1000000007 FROM c) SELECT max(x) FROM c
WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a), b(y) AS (SELECT 1 UNION ALL SELECT y + 1 FROM b) SELECT count(*) FROM a, b
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(sqrt(x) * ln(x + 1)) FROM c
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100000000) SELECT DISTINCT x % 1000003 FROM c
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT printf('%0999d', x) FROM c ORDER BY 1 DESC
