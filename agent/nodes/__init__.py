"""The nodes of the graph, one file per node."""
