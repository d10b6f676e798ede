"""Recorded models: an OpenAI-compatible server on loopback that answers from a file, and a proxy that records one.

In: a file of recorded answers or of recorded exchanges, or the address of a real server. Out: a server for any client
of chat completions (`python -m experiments.recorded serve`), or a new recording (`python -m experiments.recorded
record`). docs/recordings.md has the formats and the rules by which requests are matched.
"""
