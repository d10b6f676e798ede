"""The MCP interface: the databases, their structure, questions and read-only SQL as tools.

`http.McpEndpoint` is `/mcp` of the server, `python -m agent.mcp` speaks over standard input and output; both offer the
tools of `tools.make_server`. Needs the extra `mcp`.
"""
