"""sqlglot's dialects of the engines that run here, changed to round-trip faithfully: a file each."""

__all__: list[str] = []
