"""The `enterprise` demo: three retail brands in one star schema."""

__all__: list[str] = []
