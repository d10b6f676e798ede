"""Runs that are going on in this process: their events kept, sent to any number of readers, and stored.

`LiveRuns` starts and stops them, `LiveRun` is one, `EventLog` holds the events of one, `reading` follows a run from any
event on, live or from the store.
"""

from __future__ import annotations

from agent.server.live.log import EventLog
from agent.server.live.run import LiveRun
from agent.server.live.runs import Busy, LiveRuns

__all__ = ["Busy", "EventLog", "LiveRun", "LiveRuns"]
