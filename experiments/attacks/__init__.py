"""Attacks on a running server, as figures: costly statements, random calls, a long soak.

`python -m experiments.attacks costly | calls | soak`. `statements/` holds the costly statements beside those of
`tests/eval/databases/costly`.
"""

__all__: list[str] = []
