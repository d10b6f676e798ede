"""The active runs of this process: their events are buffered, sent to any number of readers, and stored.

`registry.LiveRuns` starts and stops them, `run.LiveRun` is one; `agent.server.sse` follows one.
"""
