"""The judge on a user's own database: learned from the answers that people confirmed, corrected or rejected.

`lessons` looks at the judged queries again; `refit` fits the prior of each writer and the weights of the evidence,
and measures them on answers held out; `local` keeps what held in a file, and takes it back.
"""

__all__: list[str] = []
