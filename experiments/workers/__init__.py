"""What several workers of the server bear, as figures: `python -m experiments.workers --help`."""
