"""Ablation: run strategies on the same questions, to measure the effect of each part.

In: a benchmark's folder, strategies, and a model or recorded answers. Out: a folder with one line for each question and
variant, a table and a page of Markdown: VA, EM, EX and TS with intervals, paired differences, cost and time. `python -m
experiments.ablation` is the command; docs/measurements.md has results.
"""
