"""The engine to come: a lexicon, a lattice of links, a grammar of typed productions, a plan algebra, ranking.

Built beside `agent.parser`, and not installed: it takes that parser's place when it is ahead on sources left out
(docs/grammar-parser.md). `reading.candidates` reads a question; `measure` and `fit` are commands.
"""
