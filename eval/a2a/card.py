"""What the agent cards of this project have in common. Needs the A2A package.

In: the URL under which others reach a server, and what it can do. Out: its card, readable by clients of A2A 1.0 and
0.3.
"""

from __future__ import annotations

from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from a2a.utils.constants import PROTOCOL_VERSION_0_3, PROTOCOL_VERSION_1_0

from eval.a2a.card_url import checked_card_url


def card(url: str, *, name: str, description: str, version: str, skill: AgentSkill) -> AgentCard:
    """The card at that URL, the JSON-RPC endpoint of both protocol versions. Raises CardUrlUnusable."""
    url = checked_card_url(url)
    return AgentCard(
        name=name,
        description=description,
        version=version,
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version=PROTOCOL_VERSION_1_0),
            AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version=PROTOCOL_VERSION_0_3),
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=False, extended_agent_card=False),
        default_input_modes=["application/json", "text/plain"],
        default_output_modes=["application/json", "text/plain"],
        skills=[skill],
    )
