"""The lab: makes the agent better on one database, with proof on questions that it never saw.

In: verified questions, a budget. Out: a kit that proved better on held-out questions, or the statement that none did.
`questions` splits, `evolvers` propose kits, `measurement` answers questions with them, `run` plays and decides,
`journal` keeps every event, `adapters` trains adapters. `python -m agent.lab` is the command; docs/lab.md describes it.
Nothing that is installed imports this package.
"""

__all__: list[str] = []
