"""The evaluator as an agent: it receives participants by URL, asks and judges them, and returns one artifact.

`python -m eval.green_agent` serves it over A2A and plain REST. `python -m eval.green_agent scenario FILE` starts the
evaluator and participants, runs an assessment and prints the ranking. docs/green-agent.md has the message formats.
"""

__all__: list[str] = []
