"""What is known of a database before a question."""
