"""Follow-ups: a question that leans on the one before it edits that one's plan.

In: the question, the plan before it and a way to make a grammar's context. Out: the edited plan with its full question,
or None where the question stands alone.
"""

from experiments.grammar_parser.dialogue.follow_up import FollowUp, Turn, follow_up, restate

__all__ = ["FollowUp", "Turn", "follow_up", "restate"]
