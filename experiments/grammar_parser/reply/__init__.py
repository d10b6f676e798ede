"""Plans in plain words: the reading as the user is told it, and the question that a plan answers."""
