"""What the server and its children say to each other, over a socket: a length followed by a pickle.

The server trusts nothing that a child sends: it reads only plain values, and no message above a size limit. What the
fork server is asked is told in `fork_server`.
"""

from __future__ import annotations

import io
import pickle
import socket
import struct
from dataclasses import dataclass
from typing import Any, Literal

from eval.databases.types import Limits
from eval.statement import ReadStatement

FORK_REQUEST = struct.Struct("!cI")
"""What the fork server is asked: a letter, and a process id or a length."""
_LENGTH = struct.Struct("!Q")
_PLAIN = {
    ("datetime", "date"),
    ("datetime", "datetime"),
    ("datetime", "time"),
    ("datetime", "timedelta"),
    ("datetime", "timezone"),
    ("decimal", "Decimal"),
    ("ipaddress", "IPv4Address"),
    ("ipaddress", "IPv6Address"),
    ("uuid", "UUID"),
    ("zoneinfo", "ZoneInfo._unpickle"),
}


@dataclass(frozen=True, slots=True)
class Request:
    kind: Literal["rows", "plan", "refusal"]
    statement: ReadStatement
    limits: Limits


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _PLAIN:
            raise pickle.UnpicklingError(f"{module}.{name} is not a plain value")
        return super().find_class(module, name)


def send(connection: socket.socket, message: object) -> None:
    """Send a message. Raises OSError when the other end is gone."""
    data = pickle.dumps(message, protocol=5)
    if len(data) < 65536:
        connection.sendall(_LENGTH.pack(len(data)) + data)
    else:
        connection.sendall(_LENGTH.pack(len(data)))
        connection.sendall(data)


def receive(connection: socket.socket, most_bytes: int) -> Any:
    """Receive the next message. Raises EOFError when the other end is gone or sends something forbidden."""
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    if length > most_bytes:
        raise EOFError("the message is too large")
    try:
        return _PlainUnpickler(io.BytesIO(_exactly(connection, length))).load()
    except (pickle.UnpicklingError, ValueError, TypeError, AttributeError, IndexError, MemoryError) as e:
        raise EOFError("the message cannot be read") from e


def receive_trusted(connection: socket.socket) -> Any:
    """Receive a message from the server, in a child. Raises EOFError when the server is gone."""
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    return pickle.loads(_exactly(connection, length))  # noqa: S301


def _exactly(connection: socket.socket, count: int) -> bytearray:
    data = bytearray(count)
    view = memoryview(data)
    while view:
        received = connection.recv_into(view)
        if not received:
            raise EOFError("the other end is gone")
        view = view[received:]
    return data
