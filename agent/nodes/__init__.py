"""The nodes of the graph, one file per node."""

__all__: list[str] = []
