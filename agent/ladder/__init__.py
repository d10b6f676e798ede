"""The ladder: strategies one above the other on the same questions, so that it shows what each part is worth.

In: a benchmark's folder, strategies, and a model or recorded answers. Out: a folder with a line for each question of
each rung, a table and a page of Markdown: VA, EM, EX and TS with intervals, paired differences, cost and time.
`python -m agent.ladder` is the command; docs/strategies.md has what was measured.
"""
