"""English words by what they do in a question: data files of closed classes, and their loader."""
