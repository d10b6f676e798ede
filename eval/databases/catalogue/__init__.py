"""Read each engine's own catalogue into a `Schema`: one module per engine, few statements, no SQL from the user."""

__all__: list[str] = []
