"""Generate test suites: replicas of a SQLite database with other rows, chosen because they tell wrong queries from
gold.

In: a database, its gold queries and a seed. Out: a folder of SQLite files that `eval.batch compare --test-suites`
reads. The idea is from "Semantic Evaluation for Text-to-SQL with Distilled Test Suites" (Zhong, Yu, Klein, 2020): an
answer that is right by luck on one database fails on another.

`files` reads the original and writes replicas, `rows` generates other rows that satisfy its constraints, and
`selection` keeps the few replicas that distinguish mutated gold queries from gold. `python -m experiments.replicas`
runs all steps.
"""

from experiments.replicas.selection import Chosen, make_suite

__all__ = ["Chosen", "make_suite"]
