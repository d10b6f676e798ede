"""The command line's own rooms: what it shows while a question runs, what it prints at the end, and its prompt."""
