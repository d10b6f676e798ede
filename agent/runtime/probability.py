"""The thresholds on the probability (0..1) that a query, or an interpretation of a question, is right."""

STATED_DOUBT = 0.68
"""An answer below it states its probability."""
DOUBTFUL = 0.60
"""The highest probability of an answer that always states its doubt: a part of the question, how values were read, or
which rows are meant is open."""
OTHER_READING = 0.75
"""Below it, the parser compares its interpretation with the next best one."""
ENOUGH_CANDIDATES = 0.90
"""When candidates agree on a result at or above it, no more are written."""
SETTLED = 0.95
"""At or above it, a strategy without `judge_settled` does not call the judge."""
