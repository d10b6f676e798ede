"""Recorded models: an OpenAI-compatible server on loopback that answers from a file, and a proxy that records one.

In: a file of recorded answers or of recorded exchanges, or the address of a real server. Out: a server that any client
of chat completions can talk to (`python -m eval.recorded serve`), or a new recording (`python -m eval.recorded
record`). docs/recordings.md has the formats and how requests are recognised.
"""
