"""Evidence that a query answers its question, one kind a file; each observation has a name, a size and a sentence."""

__all__: list[str] = []
