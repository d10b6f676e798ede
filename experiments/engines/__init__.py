"""Measurements on engines that are reached over a network: the same questions on SQLite and on another engine."""
