"""Knowledge about a database that is available before a question is asked."""
