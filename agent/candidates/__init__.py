"""Several queries for one question, and which of them to believe.

In: candidates, wherever they come from (recorded systems, one model asked several times), with an open database. Out: a
`Choice`: one of them, with the probability that its rows are right. Each is judged by its evidence (`eval.scoring`),
those with the same rows support each other, and `weights.txt` says how much either counts (docs/candidates.md).
"""
