"""The `shop` demo: its tables, its goods, its rows."""
