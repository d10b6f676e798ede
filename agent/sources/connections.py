"""Databases that an untrusted user names by URL: the URL is checked first, then connected under a short deadline.

In: a URL as it was sent, and the policy. Out: an open `Database` with warnings, or a `SourceRefused` or `DatabaseError`
whose message holds no credentials. A host is resolved once, all its addresses are checked, and the connection goes to a
checked address. A name that later resolves elsewhere (DNS rebinding) therefore has no effect.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import quote, unquote

from agent.config import ConnectionSettings
from agent.sources import SourceRefused
from eval.databases import Database, DatabaseError, DatabaseUnreachable, in_statement_thread, open_database
from eval.databases.urls import Target, parse_target
from eval.engines import SERVERS

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_MAX_URL = 2000
_SCHEMES = {scheme: engine for engine in SERVERS for scheme in engine.schemes}
_FILES = {"sqlite", "duckdb"}
_PASSED_OVER = {"connect_timeout", "charset"}
"""Harmless options that URLs often contain. They are ignored, because the time limit and UTF-8 are always set here."""
_HOST_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_-]{1,63})*\.?")
_METADATA = frozenset(
    map(ipaddress.ip_address, ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"))
)
"""Addresses where clouds serve credentials, besides the link-local 169.254.0.0/16 and fe80::/10."""
_EMBEDS_IPV4 = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "::ffff:0:0:0/96", "::/96")))
"""NAT64 (RFC 6052, RFC 8215), translated (RFC 2765) and compatible addresses: the last 32 bits are an IPv4 address."""


@dataclass(frozen=True, slots=True)
class ConnectionPolicy:
    """The hosts, ports and files that may be connected. `from_settings` reads it."""

    schemes: frozenset[str] = frozenset({"postgresql", "mysql", "mariadb"})
    hosts: frozenset[str] = frozenset({"localhost", "127.0.0.1", "::1"})
    """Names, `*.example.org`, addresses, networks, or `*` for any public address."""
    ports: frozenset[int] | None = None
    """None: 3306, 5432 and all ports from 1024 on."""
    loopback_ports: frozenset[int] | None = None
    """Ports on this machine itself; None: as `ports`. Users with tokens can reach databases there, but not the server's
    other services, unless a setting names their ports."""
    folder: Path | None = None
    """Folder whose files `sqlite:///` and `duckdb:///` URLs may open; None: no file."""
    seconds: float = 10.0
    """Time for resolving, connecting and the first statements together."""

    @classmethod
    def from_settings(cls, settings: ConnectionSettings, *, users_have_tokens: bool = False) -> ConnectionPolicy:
        """Raises ValueError naming the setting that cannot be read."""
        try:
            ports = frozenset(map(int, _listed(settings.ports))) if settings.ports else None
        except ValueError:
            raise ValueError("TEXT2SQL_ALLOWED_PORTS holds something that is no port") from None
        return cls(
            schemes=_listed(settings.schemes),
            hosts=_listed(settings.hosts),
            ports=ports,
            loopback_ports=_ports_of(_listed(settings.schemes)) if users_have_tokens and ports is None else None,
            folder=Path(settings.folder).expanduser() if settings.folder else None,
        )


def _ports_of(schemes: frozenset[str]) -> frozenset[int]:
    """The usual ports of these kinds of databases."""
    return frozenset(engine.port for engine in SERVERS if engine.port and schemes.intersection(engine.schemes))


@dataclass(frozen=True, slots=True)
class Connected:
    database: Database
    warnings: tuple[str, ...] = ()
    """For the user: the login can write, the connection is not encrypted."""


async def check_url(url: str, policy: ConnectionPolicy) -> tuple[Target, ...]:
    """Check whether this URL may be connected: a target for each address of its host, pinned to that address, whose
    `repr` holds no password. Resolves the host, but does not connect. Raises SourceRefused, which
    never repeats the URL, and DatabaseError for a URL that cannot be parsed."""
    if len(url) > _MAX_URL or not url.isprintable() or " " in url.strip():
        raise SourceRefused(f"a database URL is one line of at most {_MAX_URL:,} characters, without spaces")
    scheme, mark, rest = url.strip().partition("://")
    scheme = scheme.lower()
    if not mark or scheme not in {*_SCHEMES, *_FILES}:
        raise SourceRefused(f"a database URL begins with one of: {', '.join(sorted(policy.schemes))} and ://")
    if scheme in _FILES:
        return await asyncio.to_thread(_check_file, scheme, rest, policy)
    if ("postgresql" if scheme == "postgres" else scheme) not in policy.schemes:
        raise SourceRefused(f"{scheme}:// is not allowed here; allowed: {', '.join(sorted(policy.schemes))}")
    head, mark, query = url.strip().partition("?")
    kept = [pair for pair in query.split("&") if pair.partition("=")[0].lower() not in _PASSED_OVER]
    target = parse_target(head + (mark + "&".join(kept) if any(kept) else ""))
    if bad := sorted({key for key, _ in target.options} - _SCHEMES[scheme].strangers_options):
        raise SourceRefused(f"the option {bad[0]!r} is not allowed in a database URL here")
    if not target.user:
        raise SourceRefused("the database URL names no user")
    if re.search(r"[=/\\\0]|://", target.database):
        raise SourceRefused("the database's name holds a character that is not allowed here")
    usual = target.port in _ports_of(policy.schemes) or 1024 <= target.port <= 65535
    if not (usual if policy.ports is None else target.port in policy.ports):
        raise SourceRefused(f"port {target.port} is not allowed here")
    addresses = await _resolved(target.host, target.port)
    for address in addresses:
        _check_address(target.host, address, policy.hosts)
        is_here = any(a.is_loopback for a in _with_embedded(address))
        if is_here and policy.loopback_ports is not None and target.port not in policy.loopback_ports:
            raise SourceRefused(f"port {target.port} of this machine is not allowed here")
    return tuple(replace(target, address=str(address)) for address in addresses)


async def check_host(host: str, port: int, *settings: str) -> list[Address]:
    """Check every address of a host against each of these settings that list hosts; returns the addresses, to connect
    to one that was checked. Raises SourceRefused, DatabaseUnreachable."""
    addresses = await _resolved(host, port)
    for address in addresses:
        for hosts in settings:
            _check_address(host, address, _listed(hosts))
    return addresses


async def connect(url: str, policy: ConnectionPolicy) -> Connected:
    """Check the URL, connect and run a test statement, all within `policy.seconds`.

    Raises SourceRefused (not allowed), DatabaseError (DatabaseNotFound, DatabaseUnreachable, DriverMissing: as the
    message says). No message holds a password.
    """
    opening: asyncio.Future[Connected] | None = None
    try:
        async with asyncio.timeout(policy.seconds):
            targets = await check_url(url, policy)
            opening = asyncio.ensure_future(in_statement_thread(lambda _: _open(targets, policy)))
            return await asyncio.shield(opening)
    except TimeoutError:
        raise DatabaseUnreachable(f"the database did not answer within {policy.seconds:g} s") from None
    finally:
        if opening is not None and not opening.done():  # what opens later is closed
            opening.add_done_callback(
                lambda late: None if late.cancelled() or late.exception() else late.result().database.close()
            )


def _open(targets: tuple[Target, ...], policy: ConnectionPolicy) -> Connected:
    seconds = max(1.0, policy.seconds / 2 / len(targets))
    failed: DatabaseError | None = None
    for target in targets:
        try:
            database = open_database(target, connect_seconds=seconds)
        except DatabaseUnreachable as e:
            failed = failed or e
            continue
        except DatabaseError as e:
            raise type(e)(target.redact(str(e))) from None
        try:
            privileges = database.write_privileges()
        except DatabaseError as e:
            database.close()
            raise DatabaseError(target.redact(str(e))) from None
        return Connected(database, _warnings(target, privileges))
    assert failed is not None
    raise DatabaseUnreachable(targets[0].redact(str(failed)))


def _warnings(target: Target, privileges: tuple[str, ...]) -> tuple[str, ...]:
    warnings = []
    if privileges:
        warnings.append(
            f"The login {target.user} {'; '.join(privileges)}. Nothing is written from here, but a login that can only "
            "read is the last barrier: use one."
        )
    remote = target.address and not ipaddress.ip_address(target.address).is_loopback
    encrypted = dict(target.options).get("sslmode") in ("require", "verify-ca", "verify-full")
    if target.dialect == "spark":  # a token is sent encrypted only
        encrypted = bool(target.password) or dict(target.options).get("use_ssl") == "true"
    if remote and not encrypted:
        hint = "add sslmode=require" if target.dialect == "postgres" else "reach it over a private network or a tunnel"
        warnings.append(f"The connection to {target.host} may not be encrypted; {hint}.")
    return tuple(warnings)


def _check_file(scheme: str, rest: str, policy: ConnectionPolicy) -> tuple[Target, ...]:
    """Check that the file, with links resolved, is inside the allowed folder. Reveals nothing about files elsewhere."""
    if policy.folder is None:
        what = "files on the server may not be opened" if scheme in policy.schemes else f"{scheme}:// is not allowed"
        raise SourceRefused(f"{what} here: upload the file instead")
    folder = policy.folder.resolve()
    path = Path(unquote(rest.removeprefix("/")))
    for candidate in (Path("/", path), folder / path):
        try:
            real = candidate.resolve()
        except (OSError, RuntimeError, ValueError):
            continue
        if real != folder and real.is_relative_to(folder):
            return (parse_target(f"{scheme}:///{quote(str(real), errors='surrogateescape')}"),)
    raise SourceRefused("this file is not below the folder whose files may be opened here")


async def _resolved(host: str, port: int) -> list[Address]:
    """All addresses of the host, IPv4 first."""
    try:
        return [ipaddress.ip_address(host)]
    except ValueError:
        pass
    if not _HOST_NAME.fullmatch(host):
        raise SourceRefused(f"{host[:80]!r} is no host name and no address")
    ask = asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    try:
        entries = await asyncio.wait_for(ask, 5.0)
    except (OSError, UnicodeError, TimeoutError):
        raise DatabaseUnreachable(f"there is no host named {host}") from None
    addresses = {ipaddress.ip_address(str(entry[4][0])) for entry in entries}
    return sorted(addresses, key=lambda a: (a.version, a.packed))


def _check_address(host: str, address: Address, hosts: frozenset[str]) -> None:
    for seen in _with_embedded(address):
        is_never_allowed = (
            seen.is_link_local
            or seen.is_multicast
            or seen.is_unspecified
            or (seen.version == 4 and (seen.is_reserved or seen in ipaddress.ip_network("0.0.0.0/8")))
            or getattr(seen, "scope_id", None) is not None
            or seen in _METADATA
        )
        if is_never_allowed:
            raise SourceRefused(f"{host} leads to an address that may never be connected from here")
        if not _is_allowed(host, seen, hosts):
            raise SourceRefused(f"{host} is not among the hosts that may be connected from here")


def _with_embedded(address: Address) -> list[Address]:
    """The address and the IPv4 addresses that it embeds (mapped, translated, 6to4, Teredo, NAT64)."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    inner: list[Address] = [a for a in (address.ipv4_mapped, address.sixtofour) if a is not None]
    inner += address.teredo or ()
    if not address.is_loopback and any(address in network for network in _EMBEDS_IPV4):
        inner.append(ipaddress.IPv4Address(address.packed[-4:]))
    return inner if address.ipv4_mapped is not None else [address, *inner]


def _is_allowed(host: str, address: Address, hosts: frozenset[str]) -> bool:
    name, names = host.rstrip(".").lower(), []
    for rule in hosts:
        try:
            if address in ipaddress.ip_network(rule, strict=False):
                return True
        except ValueError:
            names.append(rule)
    if address.is_loopback:
        return name == "localhost" and "localhost" in names
    by_name = any(fnmatchcase(name, rule) for rule in names if rule != "*")
    return by_name or ("*" in names and address.is_global)


def _listed(text: str) -> frozenset[str]:
    return frozenset(part.strip().lower() for part in text.split(",") if part.strip())
