"""Writes SQL: a LangGraph agent that answers questions about a database."""
