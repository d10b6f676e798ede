SELECT count(*) FROM many a, many b, many c
SELECT count(*) FROM many a, many b, many c, many d WHERE a.n + b.n + c.n + d.n = -1
SELECT a.w FROM many a, many b, many c WHERE a.w || b.w = c.w
SELECT max(abs(a.n - b.n) * c.n) FROM many a, many b, many c
SELECT count(DISTINCT a.n::bigint * b.n * c.n) FROM many a, many b, many c
SELECT a.n % 7, b.n % 7, count(*) FROM many a, many b, many c GROUP BY 1, 2
SELECT a.w || b.w || c.w AS t, count(*) FROM many a, many b, many c GROUP BY t ORDER BY 2
SELECT sum(a.n) OVER (ORDER BY b.w, c.w) FROM many a, many b, many c
SELECT row_number() OVER (PARTITION BY a.n % 3 ORDER BY b.w) FROM many a, many b, many c
SELECT * FROM many a, many b, many c ORDER BY a.n::bigint * b.n % 1009, c.w
SELECT a.w || b.w FROM many a, many b UNION SELECT b.w || c.w FROM many b, many c
SELECT a.n::bigint * b.n FROM many a, many b EXCEPT SELECT b.n + c.n FROM many b, many c
SELECT n FROM many a WHERE (SELECT count(*) FROM many b, many c WHERE b.n < a.n AND c.w > b.w) > 0
SELECT n FROM many a WHERE n IN (SELECT b.n::bigint * c.n FROM many b, many c WHERE b.n + c.n > a.n)
SELECT (SELECT max(b.n + c.n) FROM many b, many c WHERE b.n > a.n) FROM many a
SELECT count(*) FROM many a, many b, many c WHERE a.w LIKE '%' || b.w || '%' AND b.w LIKE '%' || c.n || '%'
SELECT count(*) FROM many a, many b, many c WHERE a.w || b.w ~ ('(w?o?r?d?)+ ' || c.n)
SELECT count(*) FROM many a, many b, many c WHERE a.w SIMILAR TO '(w|o|r|d| |[0-9])*' || b.n || c.n
SELECT count(*) FROM many a, many b, many c WHERE regexp_replace(a.w || b.w, '(o|r)+', 'x', 'g') = c.w
SELECT string_agg(a.w || b.w, ',') FROM many a, many b, many c
SELECT array_agg(a.n + b.n) FROM many a, many b, many c
SELECT json_agg(a.w) FROM many a, many b, many c
SELECT jsonb_object_agg(a.w || b.w, c.n) FROM many a, many b, many c
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a.n::bigint * b.n) FROM many a, many b, many c
SELECT mode() WITHIN GROUP (ORDER BY a.w || b.w) FROM many a, many b, many c
SELECT max(md5(a.w || b.w || c.w)) FROM many a, many b, many c
SELECT sum(length(upper(lower(a.w || b.w || c.w)))) FROM many a, many b, many c
SELECT lag(a.n) OVER (ORDER BY b.w, c.w), ntile(7) OVER (ORDER BY c.w, b.w) FROM many a, many b, many c
SELECT count(*) FROM generate_series(1, 1000000) a, many b, many c WHERE a = -b.n * c.n
SELECT count(*) FROM many, generate_series(1, many.n * 1000000) g
SELECT sum(sqrt(a) * ln(a)) FROM generate_series(1, 1000000) a, many b
SELECT generate_series(1, 1000000) FROM many a, many b
SELECT repeat('x', 10000) || a.n FROM many a, many b, many c ORDER BY a.w || b.w || c.w
SELECT DISTINCT repeat(a.w, 100) || b.n || c.n FROM many a, many b, many c
SELECT a.n, lpad(b.w, 10000, a.w) FROM many a, many b, many c
SELECT string_agg(repeat(a.w, 1000), ',') FROM many a, many b
SELECT array_to_string(array_agg(repeat(a.w, 1000)), ',') FROM many a, many b
SELECT length(string_agg(v, '')) FROM wide, many
SELECT v FROM wide, many
SELECT v || v, v || v, v || v FROM wide, many
SELECT DISTINCT v || n FROM wide, many
SELECT v, n FROM wide, many ORDER BY v || n DESC
SELECT count(*) FROM wide, many WHERE v LIKE '%0%1%2%3%4%5%6%7%8%9%b%' || n
SELECT count(*) FROM wide, many WHERE v ~ ('(a?){30}(0|1|2)*' || n || 'x')
SELECT count(*) FROM wide, many WHERE v ILIKE '%A%B%C%x' || n
SELECT sum(strpos(v, w)) FROM wide, many
SELECT sum(length(replace(v, '0', 'xyz'))) FROM wide, many
SELECT sum(length(translate(v, '0123456789', 'abcdefghij'))) FROM wide, many
SELECT sum(length(btrim(v, '0123456789abcde'))) FROM wide, many
SELECT sum(length(reverse(v))) FROM wide, many
SELECT max(md5(v || n)) FROM wide, many
SELECT count(*) FROM wide a, wide b, many WHERE a.v || n = b.v
SELECT count(*) FROM wide, regexp_split_to_table(v, '[0-4]')
SELECT count(*) FROM wide, many, string_to_table(v, '0')
SELECT count(*) FROM wide, regexp_matches(v, '(a|b|c)+', 'g')
SELECT sum(array_length(string_to_array(v, '0'), 1)) FROM wide, many
SELECT length(regexp_replace(v, '(.)(.)', '\2\1', 'g')) FROM wide, many
SELECT ascii(substr(v, n + 1)) FROM wide, many ORDER BY 1
SELECT levenshtein(a.w, b.w) FROM many a, many b
SELECT to_tsvector('english', v) FROM wide
SELECT to_tsvector('english', v) @@ plainto_tsquery('english', w) FROM wide, many
SELECT 9::numeric ^ (a.n * 10) FROM many a, many b
SELECT factorial(a.n) FROM many a
SELECT sum(exp((a.n % 5000)::numeric)) FROM many a, many b
SELECT round(ln(a.n::numeric + 2), 900) FROM many a, many b
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c
WITH RECURSIVE c(x) AS (SELECT 1 UNION SELECT (x * 7::bigint % 100000007)::int FROM c) SELECT count(*) FROM c
WITH RECURSIVE c(x, y) AS (SELECT 1, 'a'::text UNION ALL SELECT x + 1, y || 'b' FROM c) SELECT max(length(y)) FROM c
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT c.x + m.n FROM c, many m) SELECT count(*) FROM c
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c ORDER BY x DESC
WITH RECURSIVE c(x, y) AS (SELECT 1, ARRAY[1] UNION ALL SELECT x + 1, y || x FROM c) SELECT max(array_length(y, 1)) FROM c
SELECT * FROM many a FULL JOIN many b ON a.n = -b.n FULL JOIN many c ON c.n = b.n ORDER BY a.w
SELECT max(to_char(timestamp '2000-01-01' + make_interval(secs => a.n::float * b.n + c.n), 'Day Month DDth YYYY J Q WW')) FROM many a, many b, many c
SELECT count(*) FROM generate_series('0001-01-01'::timestamp, '9999-01-01', '1 second') g, many
SELECT generate_series(1, 10::bigint * 100000000) FROM many
SELECT jsonb_path_query(jsonb_agg(a.n * b.n), '$[*] ? (@ > 5)') FROM many a, few b GROUP BY b.n
SELECT jsonb_path_exists(to_jsonb(repeat(a.w, 1000)), '$ ? (@ like_regex "(w|o|r|d| |[0-9])*x$")') FROM many a, many b
SELECT count(*) FROM many a, jsonb_each(jsonb_build_object('a', a.n, 'b', a.w)) x, many b, jsonb_array_elements(jsonb_build_array(b.n, b.w)) y, many c
SELECT jsonb_set(x, ARRAY[(n % 3000)::text], '"y"') FROM (SELECT jsonb_agg(n) AS x FROM many) j, many a
SELECT max(array_length(array_replace(x, a.n, a.n + 1), 1)) FROM (SELECT array_agg(n) AS x FROM many) j, many a, few b
SELECT count(*) FROM (SELECT array_agg(a.n) AS x FROM many a) j, many b, many c WHERE b.n * c.n = ANY (x)
SELECT array_positions(x, n) FROM (SELECT array_agg(a.n % 7) AS x FROM many a, few b) j, many
SELECT count(*) FROM many a, many b WHERE to_tsvector('simple', a.w || ' ' || b.w) @@ to_tsquery('simple', 'word & ' || a.n)
SELECT ts_headline('english', repeat(a.w || ' ', 1000), plainto_tsquery('word')) FROM many a
SELECT ts_rank_cd(to_tsvector('simple', repeat(a.w || ' ', 1000)), to_tsquery('simple', 'word & 1 & 2 | word')) FROM many a, few b
SELECT repeat('a', 10000) ~ '^(a|aa)+(b|\1)*$' FROM many
SELECT regexp_count(repeat(a.w, 1000), '(w?o?r?d? ?[0-9]*){1,60}x') FROM many a
SELECT max(power(a.n::numeric + 2, 4000) % (b.n + 3)) FROM many a, many b
SELECT sum(sqrt(power(a.n::numeric + 2, 9000))) FROM many a
SELECT first_value(a.w) OVER (PARTITION BY b.n ORDER BY c.w, a.w ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM many a, many b, many c
SELECT max(quote_literal(quote_ident(quote_nullable(v)))) FROM wide, many
SELECT encode(sha512(convert_to(v || n, 'UTF8')), 'base64') FROM wide, many ORDER BY 1
