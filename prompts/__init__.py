"""Every word sent to a model, one template a file."""

__all__: list[str] = []
