"""The agent-to-agent interface: tasks that bring their own schema, over plain REST and over A2A's JSON-RPC.

`rest.rest_router` and `rpc.rpc_routes` are mounted by a server with its own access control; `rpc.build_app` is the
standalone app behind `python -m agent.a2a`. None of them authenticates callers. JSON-RPC needs the extra `a2a`.
"""
