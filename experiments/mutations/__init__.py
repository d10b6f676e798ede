"""Gold changed in one place, and what the gate refuses of it: `python -m experiments.mutations`."""
