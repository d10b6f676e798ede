"""Untrusted text made harmless for HTML and SVG."""

from __future__ import annotations

import html

from eval.report.escape import visible


def esc(text: object) -> str:
    """Escape for the inside of an element or of a quoted attribute."""
    return html.escape(visible(text), quote=True)
