"""Knowledge about a database that is available before a question is asked."""

__all__: list[str] = []
