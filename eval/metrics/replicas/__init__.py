"""Test suites made anew: replicas of a SQLite database with other rows, chosen until they tell wrong queries from gold.

In: a database, its gold queries and a seed. Out: a folder of SQLite files that `eval.batch compare --test-suites`
reads. The idea is that of "Semantic Evaluation for Text-to-SQL with Distilled Test Suites" (Zhong, Yu, Klein, 2020):
an answer that is right by luck on one database is found out on another.

`source` reads the original, `rows` invents other rows that keep its constraints, `files` writes them, `choosing` keeps
the few replicas on which mutated gold queries give themselves away. `python -m eval.metrics.replicas` does it all.
"""

from eval.metrics.replicas.choosing import Chosen, make_suite

__all__ = ["Chosen", "make_suite"]
