"""How the word lists of `eval.language` that come from open data are made."""
