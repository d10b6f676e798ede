SELECT count() FROM many AS a, many AS b, many AS c WHERE a.n * b.n = c.n + 1
SELECT count(DISTINCT a.w || b.w || c.w) FROM many AS a, many AS b, many AS c
SELECT groupArray(a.w || b.w) FROM many AS a, many AS b, few AS c
SELECT a.w || b.w || c.w AS t FROM many AS a, many AS b, many AS c ORDER BY t DESC
SELECT groupUniqArray(a.w || b.w || c.w) FROM many AS a, many AS b, many AS c
SELECT sum(sqrt(number) * log(number + 1)) FROM numbers(1000000) AS a, many AS b
SELECT count() FROM numbers(1000000) AS a, many AS b, many AS c WHERE a.number * b.n = -c.n
SELECT arrayMap(x -> repeat('x', 250), range(5000))
SELECT groupArray(repeat('x', 250)) FROM numbers(1000000)
SELECT arrayJoin(range(5000)) AS a, b.n FROM many AS b ORDER BY a DESC
SELECT uniqExact(cityHash64(a.w, b.w, c.w)) FROM many AS a, many AS b, many AS c
SELECT quantileExact(0.5)(a.n * b.n) FROM many AS a, many AS b, many AS c
SELECT topK(10000)(a.w || b.w) FROM many AS a, many AS b, few AS c
SELECT sum(editDistance(a.w || b.w, c.w)) FROM many AS a, many AS b, many AS c
SELECT sum(length(ngrams(repeat(a.w, 250), 3))) FROM many AS a, many AS b
SELECT max(ngramDistance(repeat(a.w, 250), b.w)) FROM many AS a, many AS b
SELECT sum(match(repeat(a.w, 250), '(w|o|r|d|[0-9]| )*x')) FROM many AS a, many AS b
SELECT row_number() OVER (PARTITION BY a.n % 3 ORDER BY b.w, c.w) FROM many AS a, many AS b, many AS c
SELECT windowFunnel(1000000)(toDateTime(a.n), a.n > 1, a.n > 2, a.n > 3) FROM many AS a, many AS b, many AS c
SELECT sequenceMatch('(?1)(?2).*(?1)(?2).*(?1)')(toDateTime(a.n), a.n % 2 = 0, a.n % 3 = 0) FROM many AS a, many AS b
SELECT max(arrayStringConcat(arraySort(splitByChar(' ', repeat(a.w, 250))), ',')) FROM many AS a, many AS b
SELECT arrayFold((s, x) -> s + x, range(5000), toUInt64(0)) FROM many
