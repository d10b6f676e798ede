"""The routes, one file per group; each file exports `router`."""

__all__: list[str] = []
