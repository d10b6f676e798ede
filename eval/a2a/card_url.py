"""The URL of an agent card: how others reach a server, which calls what the card says.

In: a URL or a host as the user wrote it. Out: the URL, if clients elsewhere can use it. One that only this machine
would understand as itself (`0.0.0.0`) is refused. Needs no SDK.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


class CardUrlUnusable(ValueError):
    """The URL cannot stand in a card; the message says why."""


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


def everywhere(host: str) -> bool:
    """Whether a host to listen at is no address to be called at."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return not host
