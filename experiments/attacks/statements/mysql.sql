SELECT count(*) FROM many a, many b, many c
SELECT count(*) FROM many a, many b, many c, many d WHERE a.n + b.n + c.n + d.n = -1
SELECT a.w FROM many a, many b, many c WHERE concat(a.w, b.w) = c.w
SELECT max(abs(a.n - b.n) * c.n) FROM many a, many b, many c
SELECT count(DISTINCT a.n * b.n * c.n) FROM many a, many b, many c
SELECT a.n % 7, b.n % 7, count(*) FROM many a, many b, many c GROUP BY 1, 2
SELECT concat(a.w, b.w, c.w) AS t, count(*) FROM many a, many b, many c GROUP BY t ORDER BY 2
SELECT sum(a.n) OVER (ORDER BY b.w, c.w) FROM many a, many b, many c
SELECT row_number() OVER (PARTITION BY a.n % 3 ORDER BY b.w) FROM many a, many b, many c
SELECT * FROM many a, many b, many c ORDER BY a.n * b.n % 1009, c.w
SELECT concat(a.w, b.w) FROM many a, many b UNION SELECT concat(b.w, c.w) FROM many b, many c
SELECT a.n * b.n FROM many a, many b EXCEPT SELECT b.n + c.n FROM many b, many c
SELECT n FROM many a WHERE (SELECT count(*) FROM many b, many c WHERE b.n < a.n AND c.w > b.w) > 0
SELECT n FROM many a WHERE n IN (SELECT b.n * c.n FROM many b, many c WHERE b.n + c.n > a.n)
SELECT (SELECT max(b.n + c.n) FROM many b, many c WHERE b.n > a.n) FROM many a
SELECT count(*) FROM many a, many b, many c WHERE a.w LIKE concat('%', b.w, '%') AND b.w LIKE concat('%', c.n, '%')
SELECT count(*) FROM many a, many b, many c WHERE concat(a.w, b.w) REGEXP concat('(w?o?r?d?)+ ', c.n)
SELECT count(*) FROM many a, many b, many c WHERE regexp_replace(concat(a.w, b.w), '(o|r)+', 'x') = c.w
SELECT group_concat(a.w, b.w) FROM many a, many b, many c
SELECT json_arrayagg(a.w) FROM many a, many b, many c
SELECT json_objectagg(concat(a.w, b.w), c.n) FROM many a, many b, many c
SELECT max(md5(concat(a.w, b.w, c.w))) FROM many a, many b, many c
SELECT max(sha2(concat(a.w, b.w, c.w), 512)) FROM many a, many b, many c
SELECT sum(length(upper(lower(concat(a.w, b.w, c.w))))) FROM many a, many b, many c
SELECT sum(crc32(concat(a.w, b.w, c.w))) FROM many a, many b, many c
SELECT lag(a.n) OVER (ORDER BY b.w, c.w), ntile(7) OVER (ORDER BY c.w, b.w) FROM many a, many b, many c
SELECT std(a.n * b.n), variance(c.n + a.n) FROM many a, many b, many c
SELECT sum(soundex(a.w) = soundex(concat(b.w, c.w))) FROM many a, many b, many c
SELECT concat(repeat('x', 10000), a.n) FROM many a, many b, many c ORDER BY concat(a.w, b.w, c.w)
SELECT DISTINCT concat(repeat(a.w, 100), b.n, c.n) FROM many a, many b, many c
SELECT a.n, lpad(b.w, 10000, a.w) FROM many a, many b, many c
SELECT group_concat(repeat(a.w, 1000)) FROM many a, many b
SELECT v FROM wide, many
SELECT concat(v, v), concat(v, v), concat(v, v) FROM wide, many
SELECT DISTINCT concat(v, n) FROM wide, many
SELECT v, n FROM wide, many ORDER BY concat(v, n) DESC
SELECT length(group_concat(v)) FROM wide, many
SELECT count(*) FROM wide, many WHERE v LIKE concat('%0%1%2%3%4%5%6%7%8%9%b%', n)
SELECT count(*) FROM wide, many WHERE v REGEXP concat('(0|1|2)*', n, 'x')
SELECT count(*) FROM wide, many WHERE v RLIKE concat('(a?){30}a{30}', n)
SELECT sum(instr(v, w)) FROM wide, many
SELECT sum(locate(w, v)) FROM wide, many
SELECT sum(length(replace(v, '0', 'xyz'))) FROM wide, many
SELECT sum(length(reverse(v))) FROM wide, many
SELECT sum(length(hex(v))) FROM wide, many
SELECT sum(length(trim(BOTH '0' FROM v))) FROM wide, many
SELECT max(md5(concat(v, n))) FROM wide, many
SELECT sum(length(to_base64(v))) FROM wide, many
SELECT sum(crc32(concat(v, n))) FROM wide, many
SELECT sum(length(substring_index(v, '0', n))) FROM wide, many
SELECT count(*) FROM wide a, wide b, many WHERE concat(a.v, n) = b.v
SELECT length(regexp_replace(v, '(.)(.)', '\\2\\1')) FROM wide, many
SELECT length(regexp_substr(v, '(a|b|c|0)+x')) FROM wide, many
SELECT regexp_instr(v, concat('([0-4]+[a-f]*)+', n, 'x')) FROM wide, many
SELECT ascii(substr(v, n + 1)) FROM wide, many ORDER BY 1
SELECT sum(length(quote(v))) FROM wide, many
SELECT sum(length(concat_ws(v, w, w, w))) FROM wide, many
SELECT sum(field(v, concat(v, 'x'), v)) FROM wide, many
SELECT sum(find_in_set(w, v)) FROM wide, many
SELECT sum(length(insert(v, n, 3, w))) FROM wide, many
SELECT sum(strcmp(v, concat(v, n))) FROM wide, many
SELECT sum(length(json_quote(v))) FROM wide, many
SELECT sum(length(format(a.n * b.n * c.n, 30))) FROM many a, many b, many c
SELECT sum(pow(a.n, 3) * sqrt(b.n) * ln(c.n + 1)) FROM many a, many b, many c
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 1000000000) SELECT count(*) FROM c
WITH RECURSIVE c(x) AS (SELECT 1 UNION SELECT x * 7 % 100000007 FROM c) SELECT count(*) FROM c
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT c.x + m.n FROM c, many m) SELECT count(*) FROM c
WITH RECURSIVE c(x, y) AS (SELECT 1, CAST('a' AS CHAR(10000)) UNION ALL SELECT x + 1, concat(y, 'b') FROM c WHERE x < 100000000) SELECT max(length(y)) FROM c
SELECT * FROM many a LEFT JOIN many b ON a.n = -b.n LEFT JOIN many c ON c.n = a.n + b.n CROSS JOIN many d ORDER BY a.w, d.w
SELECT max(date_format(from_unixtime(a.n * b.n + c.n), '%W %M %Y %j %U %X %p')) FROM many a, many b, many c
SELECT max(str_to_date(concat(a.n, '-', b.n, '-', c.n), '%Y-%m-%d')) FROM many a, many b, many c
SELECT sum(json_length(json_array(a.n, b.w, c.w))) FROM many a, many b, many c
SELECT max(json_extract(json_object('a', json_array(a.n, b.n)), concat('$.a[', c.n % 2, ']'))) FROM many a, many b, many c
SELECT max(json_search(json_array(a.w, b.w, c.w), 'all', '%9%')) FROM many a, many b, many c
SELECT count(*) FROM many a, many b, json_table(json_array(a.n, b.n, b.w), '$[*]' COLUMNS (x VARCHAR(20) PATH '$')) j
SELECT json_merge_patch(x, json_object(w, n)) FROM (SELECT json_objectagg(w, n) AS x FROM many) j, many
SELECT json_contains(x, cast(n AS CHAR)) FROM (SELECT json_arrayagg(n) AS x FROM many) j, many a
SELECT max(export_set(a.n * b.n, 'yes', 'no', ',', 64)), max(make_set(c.n, a.w, b.w, c.w)) FROM many a, many b, many c
SELECT max(conv(hex(a.n * b.n * c.n), 16, 36)) FROM many a, many b, many c
SELECT median(a.n * b.n) OVER (PARTITION BY c.n % 3) FROM many a, many b, few c
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a.n * b.n) OVER (PARTITION BY c.n) FROM many a, many b, few c
SELECT first_value(a.w) OVER (PARTITION BY b.n ORDER BY c.w, a.w ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM many a, many b, many c
SELECT sum(weight_string(concat(a.w, b.w)) = weight_string(c.w)) FROM many a, many b, many c
SELECT count(*) FROM wide, many WHERE v LIKE concat('%', n, '%x') COLLATE utf8mb4_unicode_ci
SELECT count(*) FROM wide a, wide b WHERE a.v SOUNDS LIKE b.v
SELECT max(length(rand(a.n))) FROM many a, many b, many c
SELECT sum(json_valid(concat('[', v, ']'))) FROM wide, many
SELECT sum(length(from_base64(to_base64(v)))) FROM wide, many
SELECT sum(char_length(convert(concat(v, n) USING latin1))) FROM wide, many
