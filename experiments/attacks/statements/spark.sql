SELECT count(*) FROM many a, many b, many c WHERE a.n * b.n = c.n + 1
SELECT count(DISTINCT a.w || b.w || c.w) FROM many a, many b, many c
SELECT collect_list(a.w || b.w) FROM many a, many b, few c
SELECT a.w || b.w || c.w AS t FROM many a, many b, many c ORDER BY t DESC
SELECT collect_set(a.w || b.w || c.w) FROM many a, many b, many c
SELECT sum(sqrt(a.id) * ln(a.id + 1)) FROM range(1000000) a, many b
SELECT count(*) FROM range(1000000) a, many b, many c WHERE a.id * b.n = -c.n
SELECT collect_list(repeat('x', 10000)) FROM range(1000000)
SELECT explode(sequence(1, 1000000)) FROM many
SELECT sum(levenshtein(a.w || b.w, c.w)) FROM many a, many b, many c
SELECT max(sha2(a.w || b.w || c.w, 512)) FROM many a, many b, many c
SELECT percentile(a.n * b.n, 0.5) FROM many a, many b, many c
SELECT sum(a.n) OVER (ORDER BY b.w, c.w) FROM many a, many b, many c
SELECT row_number() OVER (PARTITION BY a.n % 3 ORDER BY b.w) FROM many a, many b, many c
SELECT max(regexp_replace(repeat(a.w, 1000), '(w|o|r|d)+', 'x')) FROM many a, many b
SELECT count(*) FROM many a, many b WHERE repeat(a.w, 1000) RLIKE concat('(w|o|r|d| )*', b.n, 'x')
SELECT a.n % 7, b.n % 7, count(*) FROM many a, many b, many c GROUP BY 1, 2
SELECT a.w FROM many a, many b UNION SELECT b.w || c.w FROM many b, many c
SELECT n FROM many a WHERE (SELECT count(*) FROM many b, many c WHERE b.n < a.n AND c.w > b.w) > 0
SELECT aggregate(sequence(1, 1000000), 0L, (s, x) -> s + x) FROM many a, many b
SELECT max(array_join(sort_array(split(repeat(a.w, 1000), ' ')), ',')) FROM many a, many b
