"""The active runs of this process: their events are buffered, sent to any number of readers, and stored.

`registry.LiveRuns` starts and stops them, `run.LiveRun` is one, `follow` follows one from any event on, live or stored.
"""
