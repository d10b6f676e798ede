"""Whether a request to a model left this machine: one that did not costs nothing, and its budget gets it back.

In: the requests of an HTTP client. Out: its `Delivery`, which says whether it left; and the addresses that are asked
without a proxy (`DIRECT`).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2

__all__ = ["DIRECT", "Delivery", "begin_delivery", "watched"]

DIRECT: Mapping[str, None] = dict.fromkeys(
    f"all://{host}" for host in ("localhost", "*.localhost", "127.0.0.1", "[::1]", "host.docker.internal")
)
"""Addresses of this machine, which are asked without the proxy of the environment (`HTTP_PROXY`): it knows none."""


@dataclass(slots=True)
class Delivery:
    sent: bool = False
    """Set just before the request's body is written to the connection."""


_current: ContextVar[Delivery | None] = ContextVar("delivery", default=None)


def begin_delivery() -> Delivery:
    """Watch the next request of the current task."""
    delivery = Delivery()
    _current.set(delivery)
    return delivery


async def watched(request: httpx2.Request) -> None:
    """The client's hook on each request: notice when its body begins to be written."""
    if (delivery := _current.get()) is not None:

        async def heard(event: str, _: dict[str, object]) -> None:
            delivery.sent = delivery.sent or event.endswith("send_request_body.started")

        request.extensions = {**request.extensions, "trace": heard}
