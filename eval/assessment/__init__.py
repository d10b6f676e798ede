"""Ask participants for SQL and judge their answers; the benchmark and the A2A evaluator both use this package.

`select_tasks` chooses the questions and databases, `assess` sends each question to every participant and judges every
answer against gold in a separate process, and `figures` computes the statistics. A participant receives the question
and the structure of the database, never gold. docs/benchmark.md has the scoring rules.
"""

from __future__ import annotations

from eval.assessment.participants import Participant, ParticipantUnusable, participant
from eval.assessment.records import Answer, Figures, Judgement, Mistake, TaskResult, figures, ranked
from eval.assessment.requests import Options, assess, assessing
from eval.assessment.selection import Assignment, Filters, Selection, SelectionError, select_tasks

__all__ = [
    "Answer",
    "Assignment",
    "Figures",
    "Filters",
    "Judgement",
    "Mistake",
    "Options",
    "Participant",
    "ParticipantUnusable",
    "Selection",
    "SelectionError",
    "TaskResult",
    "assess",
    "assessing",
    "figures",
    "participant",
    "ranked",
    "select_tasks",
]
