"""Ask participants for SQL and judge what they say: what the benchmark and the A2A evaluator both run.

`select_tasks` says which questions on which databases, `assess` asks every participant each of them and judges every
answer against gold in a process of its own, `figures` counts. A participant is sent the question and the structure of
the database, never gold. docs/benchmark.md has the rules of the score.
"""

from __future__ import annotations

from eval.assessment.asking import Options, assess
from eval.assessment.counting import Figures, figures
from eval.assessment.participants import Participant, ParticipantUnusable, participant
from eval.assessment.selection import Assignment, Filters, Selection, SelectionError, select_tasks
from eval.assessment.types import Answer, Judgement, Mistake, TaskResult

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
    "figures",
    "participant",
    "select_tasks",
]
