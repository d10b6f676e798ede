"""The meaning of a question before any SQL: a small query algebra over the columns of a schema."""
