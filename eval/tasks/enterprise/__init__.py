"""The `enterprise` demo: three retail brands in one star schema."""
