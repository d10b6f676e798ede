"""The active runs of this process: their events are buffered, sent to any number of readers, and stored.

`LiveRuns` starts and stops them, `LiveRun` is one, `EventLog` holds the events of one, `follow` follows a run from any
event on, live or from the store.
"""

from __future__ import annotations

from agent.server.runs.event_log import EventLog
from agent.server.runs.registry import LiveRuns
from agent.server.runs.run import LiveRun

__all__ = ["EventLog", "LiveRun", "LiveRuns"]
