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
SELECT max(strftime(TIMESTAMP '2000-01-01' + INTERVAL (a.n * b.n) SECOND, '%A %B %d %j %U %p')) FROM many a, many b, many c
SELECT count(*) FROM (SELECT unnest(generate_series(DATE '0001-01-01', DATE '9999-01-01', INTERVAL 1 DAY)) FROM many a, many b)
SELECT max(len(generate_series(TIMESTAMP '0001-01-01', TIMESTAMP '9999-01-01', INTERVAL 1 SECOND)))
SELECT count(*) FROM range(TIMESTAMP '0001-01-01', TIMESTAMP '9999-01-01', INTERVAL 1 MILLISECOND)
SELECT bitstring('1', 2000000000) = bitstring('0', 2000000000)
SELECT bar(a.n, 0, 1, 1000000000) FROM many a
SELECT len(equi_width_bins(0, 1000000000000, 100000000, false))
SELECT approx_top_k(a.w || b.w || c.w, 1000000) FROM many a, many b, many c
SELECT arg_max(a.w || b.w, a.n * b.n * c.n, 1000000) FROM many a, many b, many c
SELECT map_concat(a, a, a) FROM (SELECT map_from_entries(list((n, w))) AS a FROM many), many b, many c
SELECT max(len(regexp_split_to_array(repeat(a.w || b.w, 1000), 'o?r?'))) FROM many a, many b
SELECT max(len(regexp_extract_all(repeat(a.w, 1000), '((w|o|r|d)*?)*( |$)'))) FROM many a, many b
SELECT max(levenshtein(repeat(a.w, 1000), b.w)) FROM many a, many b
SELECT json_merge_patch(to_json(list(a.w)), to_json(list(b.w || c.w))) FROM many a, many b, many c
SELECT max(json_structure(to_json({'a': a.w, 'b': [b.n, c.n]}))) FROM many a, many b, many c
SELECT list_aggregate(list_transform(range(a.n * 300), lambda x: list_sum(range(x % 3000))), 'sum') FROM many a
SELECT max(list_cosine_similarity(list_transform(range(999), lambda x: x + a.n), list_transform(range(999), lambda x: x * b.n + 1))) FROM many a, many b
SELECT a.n, quantile_cont(b.n * a.n, [0.1, 0.5, 0.9]) OVER (ORDER BY b.n ROWS BETWEEN 2999 PRECEDING AND 2999 FOLLOWING) FROM many a, many b
SELECT count(*) FROM many a ASOF JOIN (SELECT x.n * y.n AS n FROM many x, many y) b ON a.n >= b.n, many c, many d
WITH RECURSIVE c(x, p) AS (SELECT n, [n] FROM many UNION ALL SELECT m.n, list_append(c.p, m.n) FROM c, many m WHERE m.n > c.x) SELECT max(len(p)) FROM c
