"""Sends log lines to standard error if requested, else drops them, because standard output is for results."""

from __future__ import annotations

import logging
import sys


def direct_logs(verbose: bool) -> None:
    """Direct the log lines of this process."""
    level = logging.INFO if verbose else logging.CRITICAL + 1
    logging.basicConfig(level=level, stream=sys.stderr, force=True)
