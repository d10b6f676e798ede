SELECT count(*) FROM many a, many b, many c, many d WHERE a.n + b.n + c.n + d.n = -1
SELECT a.w FROM many a, many b, many c WHERE a.w || b.w = c.w
SELECT max(abs(a.n - b.n) * c.n) FROM many a, many b, many c
SELECT count(DISTINCT a.n * b.n * c.n) FROM many a, many b, many c
SELECT a.n % 7, b.n % 7, count(*) FROM many a, many b, many c GROUP BY 1, 2
SELECT a.w || b.w || c.w AS t, count(*) FROM many a, many b, many c GROUP BY t ORDER BY 2
SELECT sum(a.n) OVER (ORDER BY b.w, c.w) FROM many a, many b, many c
SELECT row_number() OVER (PARTITION BY a.n % 3 ORDER BY b.w) FROM many a, many b, many c
SELECT * FROM many a, many b, many c ORDER BY a.n * b.n % 1009, c.w
SELECT a.w FROM many a, many b, many c UNION SELECT b.w || c.w FROM many b, many c
SELECT n FROM many a WHERE (SELECT count(*) FROM many b, many c WHERE b.n < a.n AND c.w > b.w) > 0
SELECT n FROM many a WHERE n IN (SELECT b.n * c.n FROM many b, many c WHERE b.n + c.n > a.n)
SELECT count(*) FROM many a, many b, many c WHERE a.w LIKE '%' || b.w || '%' AND b.w LIKE '%' || c.n || '%'
SELECT count(*) FROM many a, many b, many c WHERE regexp_matches(a.w || b.w, '(w?o?r?d?)+ ' || c.n)
SELECT count(*) FROM many a, many b, many c WHERE levenshtein(a.w || b.w, c.w) = 0
SELECT max(jaro_winkler_similarity(a.w || b.w, b.w || c.w)) FROM many a, many b, many c
SELECT median(a.n * b.n + c.n) FROM many a, many b, many c
SELECT quantile_cont(a.n * b.n + c.n, 0.9) FROM many a, many b, many c
SELECT list(a.w || b.w) FROM many a, many b, many c
SELECT string_agg(a.w || b.w, ',') FROM many a, many b, many c
SELECT histogram(a.n * b.n * c.n) FROM many a, many b, many c
SELECT mode(a.w || b.w || c.n) FROM many a, many b, many c
SELECT map_from_entries(list((a.w || b.w || c.w, 1))) FROM many a, many b, many c
SELECT list_sort(list(hash(a.n * b.n * c.n))) FROM many a, many b, many c
SELECT len(list_distinct(list(a.n * b.n * c.n))) FROM many a, many b, many c
SELECT corr(a.n * b.n, c.n), entropy(a.n * b.n) FROM many a, many b, many c
SELECT a.n, lag(b.n) OVER (ORDER BY b.w), ntile(7) OVER (ORDER BY c.w) FROM many a, many b, many c
SELECT max(sha256(a.w || b.w || c.w)) FROM many a, many b, many c
SELECT sum(length(md5(a.w || b.w || c.w))) FROM many a, many b, many c
SELECT count(*) FROM range(1000000) a, range(1000000) b, many c WHERE a.range * b.range = c.n
SELECT unnest(range(1000000)) FROM many
SELECT len(list_transform(range(1000000), lambda x: sqrt(x * 7) * ln(x + 1))) FROM many a, many b
SELECT list_aggregate(list_transform(range(1000000), lambda x: x % 977), 'sum') FROM many a, many b
WITH RECURSIVE c(x, y) AS (SELECT 1, 'a' UNION ALL SELECT x + 1, y || 'b' FROM c) SELECT max(length(y)) FROM c
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT c.x + m.n FROM c, many m) SELECT count(*) FROM c
WITH RECURSIVE c(x) AS (SELECT n FROM many UNION SELECT x * 31 % 1000000007 FROM c) SELECT max(x) FROM c
SELECT repeat('x', 10000) || a.n FROM many a, many b, many c ORDER BY a.w || b.w || c.w
SELECT DISTINCT repeat(a.w, 100) || b.n || c.n FROM many a, many b, many c
