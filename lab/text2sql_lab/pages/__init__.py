"""Pages of figures without scripts and assets: one HTML document with its style, and charts as SVG.

In: figures. Out: text in which everything from a model or a database is escaped.
"""

__all__: list[str] = []
