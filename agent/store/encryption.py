"""Encryption of what must not be readable in the state database: the addresses of connected databases.

In: text and a key, from TEXT2SQL_SECRET or from a file beside a SQLite state (0600, made on first use). Out: sealed
text (Fernet: AES-128-CBC with an HMAC), and the original text when it is unsealed. The key is never stored in the state
database.
"""

from __future__ import annotations

import base64
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from agent.config import StateSettings
from agent.runtime.private_folder import PRIVATE_FILE
from agent.store.location import Location, make_state_folder
from agent.store.store_errors import SecretMissing

if TYPE_CHECKING:  # a server without connected databases has nothing to seal, and 7 MB less
    from cryptography.fernet import Fernet

KEY_FILE = "secret.key"
SHORTEST_SECRET = 16
"""Minimum characters of TEXT2SQL_SECRET. It has to be random: no key stretching makes a guessable secret safe."""


class Sealer:
    """Seals and unseals with one key; the key is made or read when it is first needed."""

    def __init__(self, settings: StateSettings, location: Location) -> None:
        self._secret = settings.secret.get_secret_value() if settings.secret else ""
        self._file = location.folder / KEY_FILE if location.sqlite else None
        self._key: Fernet | None = None

    def seal(self, text: str) -> str:
        """Raises SecretMissing when there is no key."""
        return self._fernet().encrypt(text.encode()).decode("ascii")

    def unseal(self, sealed: str) -> str:
        """Raises SecretMissing when the text was sealed with a different key."""
        from cryptography.fernet import InvalidToken

        try:
            return self._fernet().decrypt(sealed.encode()).decode()
        except InvalidToken:
            raise SecretMissing(
                "A connected database's address was sealed with another key. Bring back the former TEXT2SQL_SECRET "
                f"(or the file {KEY_FILE} of the state folder), or connect the database again."
            ) from None

    def _fernet(self) -> Fernet:
        if self._key is None:
            from cryptography.fernet import Fernet

            self._key = Fernet(self._from_secret() if self._secret else self._from_file())
        return self._key

    def _from_secret(self) -> bytes:
        if len(self._secret) < SHORTEST_SECRET:
            raise SecretMissing(f"TEXT2SQL_SECRET is too short: at least {SHORTEST_SECRET} random characters.")
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        kdf = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"text2sql state")
        return base64.urlsafe_b64encode(kdf.derive(self._secret.encode()))

    def _from_file(self) -> bytes:
        if self._file is None:
            raise SecretMissing(
                "To keep the address of a connected database in PostgreSQL, set TEXT2SQL_SECRET (the same on every "
                "server) to some long random text."
            )
        from cryptography.fernet import Fernet

        try:
            if not self._file.exists():
                _made_whole(self._file, Fernet.generate_key())
            key = self._file.read_bytes().strip()
            Fernet(key)
        except (OSError, ValueError) as error:
            raise SecretMissing(f"The key file {self._file} cannot be used ({type(error).__name__}).") from error
        return key


def _made_whole(path: Path, content: bytes) -> None:
    """Write a private file atomically. When two processes write it, the first one's file is kept."""
    make_state_folder(path.parent)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(PRIVATE_FILE)
        try:
            path.hardlink_to(temporary)
        except FileExistsError:
            return
    finally:
        Path(temporary).unlink(missing_ok=True)
