WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c WHERE x < 0
WITH RECURSIVE c(x) AS (SELECT 1 UNION SELECT (x * 7) % 100000007 FROM c) SELECT count(*) FROM c
WITH RECURSIVE c(x) AS (SELECT 'a' UNION ALL SELECT x || x FROM c) SELECT sum(length(x)) FROM c
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c ORDER BY x DESC
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT randomblob(1000), x FROM c ORDER BY 1
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(DISTINCT randomblob(100)) FROM c
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT group_concat(x) FROM c
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT json_group_array(x) FROM c
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x, count(*) OVER (ORDER BY x) FROM c
SELECT count(*) FROM many a, many b, many c
SELECT count(*) FROM many a JOIN many b ON a.w < b.w JOIN many c ON b.w < c.w
SELECT max(a.w || b.w || c.w) FROM many a, many b, many c
SELECT a.w, b.w FROM many a, many b, many c ORDER BY a.w, b.w DESC, c.w
SELECT sum(length(hex(v))) FROM wide
SELECT sum(length(hex(hex(v)))) FROM wide, many
SELECT count(*) FROM wide WHERE v LIKE '%0%1%2%3%4%5%6%7%8%9%b%'
SELECT count(*) FROM wide WHERE hex(v) LIKE '%1%1%1%1%1%1%1%1%1%1%1%x'
SELECT count(*) FROM wide, many WHERE hex(v) LIKE '%A%B%C%' || n
SELECT count(*) FROM wide, many WHERE hex(v) GLOB '*A*B*C*D*' || n
SELECT sum(instr(hex(a.v), hex(b.v) || '1')) FROM wide a, wide b
SELECT sum(length(replace(hex(a.v), '00', hex(substr(b.v, 1, 20))))) FROM wide a, wide b
SELECT length(replace(hex(zeroblob(8000000)), hex(zeroblob(4000000)) || '1', ''))
SELECT length(trim(hex(zeroblob(8000000)), hex(randomblob(8000000))))
SELECT instr(hex(zeroblob(8000000)), hex(zeroblob(4000000)) || '1')
SELECT ltrim(hex(zeroblob(8000000)), replace(hex(zeroblob(60000)), '0', 'a') || '0') = ''
SELECT length(replace(hex(zeroblob(15000000)), '0', '00'))
SELECT hex(zeroblob(8000000)) LIKE '%' || hex(zeroblob(20)) || '1%'
SELECT json_patch(json_object(hex(zeroblob(3000000)), a.n), json_object(b.w, b.n)) FROM many a, many b
SELECT count(*) FROM json_each('[' || replace(hex(zeroblob(4000000)), '0', '1,') || '1]')
SELECT count(*) FROM json_tree('[' || replace(hex(zeroblob(4000000)), '0', '[1],') || '1]') a, many
SELECT sum(length(printf('%.*c', 16000000, 'x'))) FROM many
SELECT hex(v), hex(v), hex(v), hex(v) FROM wide, many
SELECT v FROM wide, many
SELECT zeroblob(16000000) FROM many
SELECT zeroblob(16000000), zeroblob(16000000), zeroblob(16000000), zeroblob(16000000), zeroblob(16000000) FROM many
SELECT v, n FROM wide, many ORDER BY hex(v), n
SELECT DISTINCT hex(v) || n FROM wide, many
SELECT count(*) FROM (SELECT DISTINCT a.w, b.w, c.w FROM many a, many b, many c)
SELECT a.n FROM many a WHERE NOT EXISTS (SELECT 1 FROM many b, many c WHERE b.n + c.n = -a.n)
SELECT ltrim(hex(zeroblob(60000)), replace(hex(zeroblob(60000)), '0', 'a') || '0')
SELECT ltrim(hex(zeroblob(8000)), replace(hex(zeroblob(8000)), '0', 'a') || '0')
SELECT length(replace(hex(zeroblob(300000000)), '0', '00'))
