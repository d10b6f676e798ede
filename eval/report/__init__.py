"""What came of a run, for people: `summary.md` and a self-contained `report.html`; and two runs side by side.

In: results (`eval.assessment.TaskResult`) and the run's settings. Out: text. Everything that a model or a database said
is escaped; the page holds no script and asks for nothing from anywhere.
"""

from __future__ import annotations

from eval.report.comparing import Comparison, compare, comparison_html, comparison_markdown
from eval.report.html import report_html
from eval.report.markdown import figures_lines, summary_markdown

__all__ = [
    "Comparison",
    "compare",
    "comparison_html",
    "comparison_markdown",
    "figures_lines",
    "report_html",
    "summary_markdown",
]
