"""Reports of a run, for people: `summary.md`, `results.csv`, and a comparison of two runs.

In: results (`eval.assessment.TaskResult`) and the run's settings. Out: text. Everything from a model or a database is
escaped.
"""

from __future__ import annotations

from eval.report.markdown import figures_lines, summary_markdown
from eval.report.run_comparison import Comparison, compare, comparison_markdown
from eval.report.table import results_csv

__all__ = ["Comparison", "compare", "comparison_markdown", "figures_lines", "results_csv", "summary_markdown"]
