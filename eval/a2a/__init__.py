"""Code shared by all A2A servers here: the endpoint, the card's URL, size limits, listening."""

__all__: list[str] = []
