"""The demo databases and the task library."""
