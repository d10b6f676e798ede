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
SELECT max(strftime('%Y-%j-%W-%s', a.n * 86400 + b.n + c.n, 'unixepoch')) FROM many a, many b, many c
SELECT sum(julianday(date(a.n * 100 + b.n, 'start of month', '+' || c.n || ' days'))) FROM many a, many b, many c
SELECT sum(json_array_length(json_array(a.n, b.n, c.w))) FROM many a, many b, many c
SELECT max(json_extract(json_object('a', json_array(a.n, b.n)), '$.a[' || (c.n % 2) || ']')) FROM many a, many b, many c
SELECT json_set('{}', '$.' || a.w, json_array(b.w, c.w)) FROM many a, many b, many c ORDER BY 1
SELECT count(*) FROM many a, json_each('[' || (SELECT group_concat(n) FROM many) || ']') j, json_each('[' || (SELECT group_concat(n) FROM many) || ']') k WHERE j.value * k.value = a.n
SELECT json_valid((SELECT '[' || group_concat(a.n * b.n) || ']' FROM many a, many b))
SELECT json_tree.fullkey FROM many a, many b, json_tree(json_array(a.n, json_array(b.n, json_object('k', a.w)))) ORDER BY 1 DESC
SELECT json_patch((SELECT json_group_object(a.w || b.n, a.n) FROM many a, few b), (SELECT json_group_object(a.w || b.n, b.n) FROM many a, few b))
SELECT sum(soundex_n) FROM (SELECT length(trim(a.w || b.w || c.w, 'word 0123456789')) AS soundex_n FROM many a, many b, many c)
SELECT first_value(a.w) OVER (PARTITION BY b.n ORDER BY c.w ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM many a, many b, many c
SELECT sum(a.n) OVER (ORDER BY a.n * b.n RANGE BETWEEN 1000000 PRECEDING AND 1000000 FOLLOWING) FROM many a, many b
SELECT group_concat(a.w) OVER (ORDER BY a.n, b.n) FROM many a, many b
SELECT max(a.w) OVER (ORDER BY a.n ROWS BETWEEN 2999 PRECEDING AND 2999 FOLLOWING EXCLUDE TIES) FROM many a, many b
SELECT a.w FROM many a WHERE a.w > (SELECT avg(b.n) FROM many b WHERE b.w < a.w AND EXISTS (SELECT 1 FROM many c WHERE c.w > b.w AND c.n * b.n = a.n + 1))
WITH RECURSIVE c(x, p) AS (SELECT n, w FROM many UNION ALL SELECT m.n, c.p || m.w FROM c, many m WHERE m.n > c.x) SELECT max(length(p)) FROM c
WITH RECURSIVE queens(k, s) AS (SELECT 0, '' UNION ALL SELECT k + 1, s || char(65 + n % 20) FROM queens, many WHERE k < 20 AND instr(s, char(65 + n % 20)) = 0) SELECT count(*) FROM queens
SELECT count(*) FROM many a, many b, many c, many d, many e, many f WHERE a.n < b.n AND b.n < c.n AND c.n < d.n AND d.n < e.n AND e.n < f.n
SELECT printf('%998.99f|%-998s|%998d', a.n / 7.0, b.w, c.n) FROM many a, many b, many c
SELECT count(DISTINCT hex(substr(v, n, 100000))) FROM wide, many
