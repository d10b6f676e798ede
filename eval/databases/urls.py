"""Parse a database path or URL, as the user wrote it, into a `Target`.

In: a path, `:memory:` or a URL. Out: a frozen `Target` whose `repr` and `url` contain no password, or a `DatabaseError`
that says what is wrong without repeating credentials. Files are distinguished by their first bytes, not by their
extension; nothing here connects or creates anything.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from eval.databases.types import DatabaseError, DatabaseNotFound
from eval.engines import BY_SCHEME, ENGINES, Engine
from eval.schema import Dialect

MEMORY = ":memory:"
_SQLITE_MAGIC = b"SQLite format 3\x00"
_DUCKDB_MAGIC = b"DUCK"
"""At byte 8 of the file, after an 8-byte checksum (https://duckdb.org/docs/stable/internals/storage)."""

_SECURE_PORT = 8443
"""ClickHouse over HTTPS."""
_KNOWN = ", ".join(engine.example for engine in ENGINES.values() if engine.executes)


@dataclass(frozen=True, slots=True)
class Target:
    """One database, by engine. File engines have a `path` (None: in memory); servers have the rest."""

    dialect: Dialect
    name: str
    """Short name for people: the file's stem or the database's name."""
    url: str
    """Canonical form without the user name's password and options; safe to show and log."""
    path: Path | None = None
    host: str = ""
    port: int = 0
    user: str = ""
    password: str = field(default="", repr=False)
    database: str = ""
    options: tuple[tuple[str, str], ...] = ()
    address: str = ""
    """The IP address to connect to, instead of resolving the host again. A stranger named such a target, so no
    password, certificate or ticket of this machine's user is offered to it."""

    @property
    def where(self) -> str:
        """`host:port`, for messages."""
        return f"{self.host}:{self.port}"

    def redact(self, message: str) -> str:
        """Remove the password from a driver's message, but not from other words that happen to contain it."""
        if not self.password:
            return message
        for form in {self.password, quote(self.password, safe=""), repr(self.password)[1:-1]}:
            message = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", "***", message)
        return message


def parse_target(target: str | Path) -> Target:
    """Parse a path or URL. Raises DatabaseNotFound for a missing file, DatabaseError for anything unusable."""
    if isinstance(target, Path):
        return _file_target(target, None)
    text = target.strip()
    if not text:
        raise DatabaseError("no database was named; give a path or a URL such as " + _KNOWN)
    if text == MEMORY:
        return Target(dialect="sqlite", name=MEMORY, url="sqlite:///:memory:")
    if "://" not in text:
        return _file_target(Path(target).expanduser(), None)
    scheme = text.split("://", 1)[0].lower().split("+", 1)[0]
    engine = BY_SCHEME.get(scheme)
    if engine is None:
        raise DatabaseError(f"unknown database URL scheme {scheme!r}; known: {_KNOWN}")
    if scheme in engine.folder_schemes:
        return _folder_url(text, scheme, engine)
    return _file_url(text, engine.dialect) if engine.is_file else _server_url(text, engine)


def _file_url(text: str, dialect: Dialect) -> Target:
    rest = text.split("://", 1)[1]
    if rest in ("", "/", "/" + MEMORY, MEMORY):
        if dialect == "sqlite":
            return Target(dialect="sqlite", name=MEMORY, url="sqlite:///:memory:")
        raise DatabaseError("an empty in-memory DuckDB has nothing to read; give the path of a .duckdb file")
    if not rest.startswith("/"):
        raise DatabaseError(f"a {dialect} URL has three slashes before the path: {dialect}:///path/to/file")
    if "?" in rest:
        raise DatabaseError(f"a {dialect} URL takes no options; percent-encode a question mark in the path as %3F")
    path = Path(unquote(rest[1:])).expanduser()
    if not path.is_absolute() and not path.exists() and Path("/", path).exists():
        path = Path("/", path)  # `sqlite:///srv/x.db` usually means an absolute path
    return _file_target(path, dialect)


def _folder_url(text: str, scheme: str, engine: Engine) -> Target:
    """`chdb:///folder?database=name`: the data folder of an engine that runs inside this process."""
    rest, _, query = text.split("://", 1)[1].partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    if not rest.startswith("/") or rest == "/" or options.keys() - {"database"}:
        raise DatabaseError(f"write the URL as {scheme}:///path/to/folder?database=name")
    path = Path(unquote(rest[1:])).expanduser()
    if not path.is_absolute() and not path.exists():
        path = Path("/", path)
    if not (path / "metadata").is_dir():
        raise DatabaseNotFound(f"no {scheme} data folder at {path} (none was created)")
    database = options.get("database") or engine.default_database or ""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 (keeps symlinks, unlike resolve)
    return Target(
        dialect=engine.dialect,
        name=database if "database" in options else path.name,
        url=f"{scheme}:///{quote(str(absolute), errors='surrogateescape')}?database={quote(database, safe='')}",
        path=absolute,
        database=database,
    )


def _file_target(path: Path, declared: Dialect | None) -> Target:
    if "\x00" in str(path):
        raise DatabaseError("a path cannot hold a NUL character")
    try:
        if path.is_dir():
            raise DatabaseError(f"{path} is a folder, not a database file")
        dialect = _file_kind(path)
    except FileNotFoundError:
        raise DatabaseNotFound(f"no database file at {path} (none was created)") from None
    except OSError as e:
        raise DatabaseError(f"cannot read {path}: {e.strerror or e}") from None
    if declared is not None and declared != dialect:
        raise DatabaseError(f"{path} holds a {dialect} database, but the URL says {declared}")
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 (keeps symlinks, unlike resolve)
    return Target(
        dialect=dialect,
        name=path.stem,
        url=f"{dialect}:///{quote(str(absolute), errors='surrogateescape')}",
        path=absolute,
    )


def _file_kind(path: Path) -> Dialect:
    if not path.is_file():
        raise FileNotFoundError if not path.exists() else DatabaseError(f"{path} is not a regular file")
    size = path.stat().st_size
    with path.open("rb") as f:
        head = f.read(100)
    if size == 0:
        raise DatabaseError(f"{path} is empty (0 bytes), not a database")
    if head.startswith(_SQLITE_MAGIC[: len(head)]):
        if size < 512 or len(head) < 100:
            raise DatabaseError(f"{path} is truncated: a SQLite file has at least 512 bytes, this one {size:,}")
        page_size = int.from_bytes(head[16:18], "big")
        page_size = 65536 if page_size == 1 else page_size
        pages = int.from_bytes(head[28:32], "big")
        counts_are_valid = head[24:28] == head[92:96]
        journals = (Path(f"{path}-wal"), Path(f"{path}-journal"))
        if counts_are_valid and size < pages * page_size and not any(j.exists() for j in journals):
            raise DatabaseError(
                f"{path} is truncated: its header promises {pages * page_size:,} bytes, it has {size:,}"
            )
        return "sqlite"
    if head[8:12] == _DUCKDB_MAGIC:
        if size < 12 * 1024:
            raise DatabaseError(f"{path} is truncated: a DuckDB file has at least 12,288 bytes, this one {size:,}")
        return "duckdb"
    raise DatabaseError(f"{path} is neither a SQLite nor a DuckDB database ({_looks_like(head)})")


def _looks_like(head: bytes) -> str:
    if head.startswith((b"PK\x03\x04", b"\x1f\x8b", b"\xfd7zXZ", b"BZh", b"7z\xbc\xaf")):
        return "it looks compressed: unpack it first"
    if head.startswith(b"PAR1"):
        return "it looks like Parquet: load it into a database first"
    if b"\x00" in head:
        return "unknown binary content"
    return "it looks like text, such as CSV or SQL: load it into a database first"


def _server_url(text: str, engine: Engine) -> Target:
    scheme = engine.schemes[0]
    example = f"{scheme}://user:password@host:port/database"
    if text[:5].lower() == "sc://":  # Spark's own form: `/;name=value;name=value`, where a plus sign is one
        text, mark, given = text.partition(";")
        text += mark.replace(";", "?") + given.replace("+", "%2B").replace(";", "&")
    try:
        parts = urlsplit(text)
        port = parts.port or engine.port or 0
        host = parts.hostname or ""
        pairs = tuple(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    except ValueError:
        raise DatabaseError(
            f"the database URL cannot be read; write it as {example}, with special characters percent-encoded"
        ) from None
    options = dict(pairs)
    for key in options:
        if key not in engine.options:
            known = ", ".join(sorted(engine.options))
            raise DatabaseError(
                f"the database URL has an option {key[:40]!r} that is not supported; supported: {known}"
            )
    if text[: len("clickhouses://")].lower() == "clickhouses://":
        options.setdefault("secure", "true")
    if options.get("secure") in ("1", "yes"):
        options["secure"] = "true"
    if options.get("secure") == "true" and not parts.port:
        port = _SECURE_PORT
    host = host or options.pop("host", "") or "localhost"
    database = unquote(parts.path.removeprefix("/")) or engine.default_database
    if not database:
        raise DatabaseError(f"the database URL names no database; write it as {example}")
    user = unquote(parts.username or "") or options.pop("user_id", "")
    password = unquote(parts.password or "") or options.pop("token", "")
    shown_host = f"[{host}]" if ":" in host else quote(host, safe="")
    shown_user = f"{quote(user, safe='')}@" if user else ""
    return Target(
        dialect=engine.dialect,
        name=database,
        url=f"{scheme}://{shown_user}{shown_host}:{port}/{quote(database, safe='')}",
        host=host,
        port=port,
        user=user,
        password=password,
        database=database,
        options=tuple(sorted(options.items())),
    )


def is_plain_name(name: str) -> bool:
    """Whether a name is that of one file in a folder, and cannot lead out of it."""
    return name not in ("", ".", "..") and not any(mark in name for mark in "/\\\0")


def file_signs(path: Path, log_suffix: str) -> str:
    """Device, inode, size and modification time of a file and of its write-ahead log: equal means unchanged."""
    signs = []
    for name in (str(path), f"{path}{log_suffix}"):
        try:
            s = os.stat(name)  # noqa: PTH116 (what Path.stat calls, twice as slow)
            signs.append(f"{s.st_dev}-{s.st_ino}-{s.st_size}-{s.st_mtime_ns}")
        except OSError:
            signs.append("none")
    return "/".join(signs)


def file_identity(target: Target) -> str:
    """A value that changes when another file is moved to the target's path."""
    if target.path is None:
        return "memory"
    try:
        s = os.stat(target.path)  # noqa: PTH116 (what Path.stat calls, twice as slow)
    except OSError:
        return "missing"
    return f"{s.st_dev}-{s.st_ino}"
