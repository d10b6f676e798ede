"""The `shop` demo: its tables, its goods, its rows."""

__all__: list[str] = []
