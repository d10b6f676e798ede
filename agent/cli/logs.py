"""Where log lines go: standard error when asked for, else nowhere, because standard output is for results."""

from __future__ import annotations

import logging
import sys


def direct_logs(verbose: bool) -> None:
    """Direct structlog's and the standard library's log lines for this process."""
    import structlog

    level = logging.DEBUG if verbose else logging.CRITICAL  # nothing here logs that high
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    logging.basicConfig(level=logging.WARNING if verbose else logging.CRITICAL, stream=sys.stderr)
