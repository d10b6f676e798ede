"""The common parts of this project's agent cards. Needs the A2A package.

In: the public URL of a server, and its abilities. Out: its card, readable by clients of A2A 1.0 and 0.3.
"""

from __future__ import annotations

from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    HTTPAuthSecurityScheme,
    SecurityRequirement,
    SecurityScheme,
    StringList,
)
from a2a.utils.constants import PROTOCOL_VERSION_0_3, PROTOCOL_VERSION_1_0

from eval.a2a.card_url import checked_card_url

_BEARER = "bearer"


def card(
    url: str, *, name: str, description: str, version: str, skill: AgentSkill, bearer_token: bool = False
) -> AgentCard:
    """The card at that URL, the endpoint of both transports and protocol versions. `bearer_token`: whether a client
    must send one. Raises CardUrlUnusable."""
    url = checked_card_url(url)
    versions = (PROTOCOL_VERSION_1_0, PROTOCOL_VERSION_0_3)
    scheme = HTTPAuthSecurityScheme(scheme="Bearer", description="A token that the server's owner gives out.")
    return AgentCard(
        name=name,
        description=description,
        version=version,
        supported_interfaces=[
            *(AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version=v) for v in versions),
            *(AgentInterface(url=url.rstrip("/"), protocol_binding="HTTP+JSON", protocol_version=v) for v in versions),
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=False, extended_agent_card=False),
        default_input_modes=["application/json", "text/plain"],
        default_output_modes=["application/json", "text/plain"],
        skills=[skill],
        security_schemes={_BEARER: SecurityScheme(http_auth_security_scheme=scheme)} if bearer_token else {},
        security_requirements=[SecurityRequirement(schemes={_BEARER: StringList()})] if bearer_token else [],
    )
