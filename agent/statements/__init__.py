"""Queries that are there already.

- `reading`: how each was read; `left_out`: which rows it leaves out.
- `mending`, `spelling`: one that does not run, made one that does.
- `filtering`: the same of fewer rows.
- `drill_down`: from a figure of its result on to what is behind it.
"""
