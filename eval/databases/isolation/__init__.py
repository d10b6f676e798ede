"""Run statements in child processes, so that one that crashes, hangs or exhausts memory costs only its own answer.

`workers` has the `Database` that a server opens, and manages its children. `fork_server` is the small process that
forks them. `child` is the code that runs in them; `eval.confinement` removes the privileges that they do not need.
"""

__all__: list[str] = []
