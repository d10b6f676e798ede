"""The URL of an agent card: the address at which clients reach a server. Clients call the URL in the card.

In: a URL or a host as the user wrote it. Out: the URL, if clients on other machines can use it. An address that works
only on this machine (`0.0.0.0`) is refused. Needs no SDK.
"""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from eval.errors import InputError

CARD_PATHS = ("/.well-known/agent-card.json", "/.well-known/agent.json")
"""Protocol 0.2 and some clients of 0.3 look at the second path."""


class CardUrlUnusable(InputError):
    """The URL is not usable in a card; the message says why."""


def checked_card_url(url: str) -> str:
    """The URL, if others can use it. Raises CardUrlUnusable."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise CardUrlUnusable(f"{url!r} is not a URL") from None
    if parts.scheme not in ("http", "https") or not host:
        raise CardUrlUnusable(f"{url!r} is not an http:// or https:// URL")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise CardUrlUnusable("the card's URL must hold no user, password, query or fragment: everyone reads it")
    if everywhere(host):
        raise CardUrlUnusable(f"{host} means every address of this machine, and no client can call it")
    return url if parts.path else url + "/"


def default_card_url(host: str, port: int) -> str:
    """The address at which others reach a server: the listening address, or this machine's name when it listens on
    every address."""
    name = socket.gethostname() if everywhere(host) else host
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/"


def everywhere(host: str) -> bool:
    """Whether a listening host means every address, so that clients cannot call it."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return not host
