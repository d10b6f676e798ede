"""The command line's own modules: progress display, final output, and the interactive prompt."""
