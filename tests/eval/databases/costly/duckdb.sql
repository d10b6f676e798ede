SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = -1
SELECT levenshtein(repeat('ab', 150000), repeat('ba', 150000))
SELECT damerau_levenshtein(repeat('ab', 150000), repeat('ba', 150000))
SELECT jaccard(repeat('ab', 15000000), repeat('ba', 15000000)) FROM range(1000)
SELECT regexp_matches(repeat('a', 100000), '(a?){1000}a{1000}b')
SELECT regexp_replace(repeat('a', 10000000), '(a|aa)+$', 'b', 'g') FROM range(100)
SELECT nfc_normalize(repeat('é', 30000000)) = 'x'
SELECT list_intersect(range(3000000), range(1, 3000001)) IS NULL
SELECT len(list_distinct(range(30000000)))
SELECT sum(len(repeat('x', 1000000) || range)) FROM range(100000)
SELECT repeat('x', 1000000) || range FROM range(100000)
SELECT repeat('x', 8000000) FROM range(500)
SELECT range, repeat('x', 100) FROM range(100000000) ORDER BY hash(range)
SELECT DISTINCT repeat('x', 50) || range FROM range(100000000)
SELECT hash(range) h, count(*) FROM range(1000000000) GROUP BY h
SELECT string_agg(range, ',') FROM range(100000000)
SELECT list(range) FROM range(500000000)
SELECT sum(a.range) OVER (ORDER BY hash(a.range)) FROM range(50000000) a
SELECT median(hash(range)) FROM range(500000000)
SELECT quantile_cont(sin(range), 0.5) FROM range(500000000)
SELECT mode(hash(range)) FROM range(500000000)
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c
WITH RECURSIVE c(x) AS (SELECT 'a' UNION ALL SELECT x || x FROM c) SELECT sum(length(x)) FROM c
SELECT count(*) FROM many a, many b, many c WHERE a.w < b.w AND b.w < c.w
SELECT a.w, b.w FROM many a, many b, many c ORDER BY a.w, b.w DESC, c.w
SELECT sum(ln(a.range + b.range + 1)) FROM range(1000000) a, range(1000000) b
SELECT len(list_sort(list_transform(range(20000000), lambda x: hash(x))))
SELECT array_to_string(list_transform(range(50000000), lambda x: repeat('y', 10)), '') = ''
SELECT replace(repeat('aa', 50000000), 'a', repeat('b', 1000)) = ''
SELECT translate(repeat('ab', 50000000), 'ab', 'ba') = '' FROM range(100)
SELECT from_json('[]', repeat('[', 20000) || '"INT"' || repeat(']', 20000))
SELECT json_transform('[]', repeat('[', 20000) || '"INT"' || repeat(']', 20000))
SELECT (repeat('[', 20000) || repeat(']', 20000))::JSON
SELECT json_contains(repeat('[', 200000) || repeat(']', 200000), '1')
SELECT reservoir_quantile(range, 0.5, -1) FROM range(1000)
