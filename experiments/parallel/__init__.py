"""What it costs to spread a batch over processes and over Ray: `python -m experiments.parallel --help`."""
