"""Metrics of an answer: comparison of results (EX, BIRD's set, TS), exact match, intervals and paired tests."""

__all__: list[str] = []
