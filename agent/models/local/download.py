"""The models that `text2sql model get` knows, and getting their files: from the hub, a mirror or a file, with resume
and check.

What has come is kept as `NAME.gguf.part` beside the model's place, which the file takes once its SHA-256 is right. What
others need to know lies in that folder, too: any process can tell what another one gets, and stop it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from agent.models.protocol import ModelUnavailable
from eval.errors import InputError
from eval.tasks.cache_folder import try_lock

TRIES = 4
"""Connections in a row that bring nothing."""
SECONDS = 30.0
"""Silence after which a connection counts as cut."""
PIECE = 1 << 20
ROOM = 64_000_000
"""Bytes that stay free on the disk."""


@dataclass(frozen=True, slots=True)
class LocalModel:
    name: str
    """What users call it; it is kept as `NAME.gguf`."""
    title: str
    repository: str
    """At the hub, `owner/name`."""
    file: str
    """In the repository."""
    size: int
    """Bytes."""
    sha256: str
    licence: str
    memory: int
    """Bytes that its server takes."""
    accuracy: float | None = None
    """0..1: execution accuracy on questions of Spider's development set with the strategy `cascade`; None: not
    measured (docs/measurements.md)."""
    seconds: float | None = None
    """Of a question, in the middle, on one core; None: not measured."""

    @property
    def url(self) -> str:
        """At the hub, or at the mirror that HF_ENDPOINT names as it does for the hub's own programs."""
        hub = os.environ.get("HF_ENDPOINT", "").strip().rstrip("/") or "https://huggingface.co"
        return f"{hub}/{self.repository}/resolve/main/{self.file}"

    def path(self, folder: Path) -> Path:
        return folder / f"{self.name}.gguf"


CATALOGUE = (
    LocalModel(
        name="qwen2.5-coder-1.5b",
        title="Qwen2.5-Coder 1.5B Instruct",
        repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="Apache-2.0",
        memory=2_300_000_000,
        accuracy=0.82,
        seconds=4.1,
    ),
    LocalModel(
        name="qwen2.5-coder-0.5b",
        title="Qwen2.5-Coder 0.5B Instruct",
        repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        licence="Apache-2.0",
        memory=900_000_000,
        accuracy=0.80,
        seconds=4.1,
    ),
)
"""The default first."""


def model_named(name: str | None) -> LocalModel:
    """Raises InputError, which lists the names."""
    for model in CATALOGUE:
        if name is None or name.lower() in (model.name, model.file.lower()):
            return model
    raise InputError(f"There is no model {name}; there are {', '.join(model.name for model in CATALOGUE)}.")


def told_size(count: int) -> str:
    """Bytes in the units in which hubs and disks are sold: `1.1 GB`."""
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.1f} MB"


@dataclass(frozen=True, slots=True)
class State:
    state: Literal["absent", "fetching", "fetched"]
    bytes: int
    """That are there; also of a download that was stopped, which the next one goes on with."""
    problem: str
    """Why the last download failed; else empty."""


def get_model(
    model: LocalModel, folder: Path, source: str | None = None, on_bytes: Callable[[int], None] = lambda _: None
) -> Path:
    """The model's file, got from `source` (an address or a file; None: the hub) unless it is there. `on_bytes` hears
    how many bytes there are, after each piece. Raises ModelUnavailable, which says why; what has come stays for the
    next try, unless its sum is wrong. Raises InputError for a file that there is not."""
    target = model.path(folder)
    if target.is_file():
        return target
    place = source or model.url
    if not _is_address(place) and not Path(place).expanduser().is_file():
        raise InputError(f"There is no file {place}.")
    part, stop, problem = _beside(target)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with part.open("ab") as file:
            if not try_lock(file.fileno()):
                time.sleep(0.2)  # whoever looks how far a download is holds the lock for a moment
                if not try_lock(file.fileno()):
                    raise ModelUnavailable(f"{model.name} is being fetched by another process.")
            stop.unlink(missing_ok=True)
            problem.unlink(missing_ok=True)
            missing = model.size - file.tell()
            if (free := shutil.disk_usage(folder).free) < missing + ROOM:
                raise OSError(errno.ENOSPC, f"{told_size(missing)} are to come and {told_size(free)} are free")
            reason = _received(model, place, file, on_bytes, stop)
            if file.tell() < model.size:
                so_far = f"{told_size(file.tell())} of {told_size(model.size)} have come and are kept"
                raise ModelUnavailable(f"{reason}: {so_far}. The next try goes on from there.")
            file.flush()
            with part.open("rb") as whole:
                right = file.tell() == model.size and hashlib.file_digest(whole, "sha256").hexdigest() == model.sha256
        if not right:
            part.unlink()
            raise ModelUnavailable(f"{place} is not {model.name}: size or SHA-256 differ. What came was thrown away.")
        part.replace(target)
    except (OSError, ModelUnavailable) as error:
        failure = error
        if isinstance(error, OSError):
            why = f"the disk is full ({error.strerror})" if error.errno == errno.ENOSPC else str(error)
            failure = ModelUnavailable(f"{model.name} cannot be kept in {folder}: {why}.")
        with contextlib.suppress(OSError):  # a disk that is full, a folder that cannot be written
            problem.write_text(str(failure), encoding="utf-8")
        raise failure from None
    return target


def _received(model: LocalModel, place: str, file: BinaryIO, on_bytes: Callable[[int], None], stop: Path) -> str:
    """Append what is missing. Returns why it ended, where it ended too early. Raises OSError of the disk."""
    import httpx2  # takes a third of a second

    reason, fruitless = "", 0
    while file.tell() < model.size and fruitless < TRIES:
        begun = file.tell()
        reason = f"{place} ended"
        try:
            with _opened(place, begun) as (first, pieces):
                if first != begun:  # the server sends it from the start
                    file.truncate(0)
                    file.seek(0)
                for piece in pieces:
                    file.write(piece)
                    on_bytes(file.tell())
                    if stop.exists():
                        return "The download was stopped"
                    if file.tell() > model.size:
                        break
        except httpx2.HTTPStatusError as error:
            reason = f"{place} answered {error.response.status_code}"
            if error.response.status_code < 500:
                return reason
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            reason = f"{place} cannot be read ({str(error) or type(error).__name__})"
        if file.tell() <= begun:
            fruitless += 1
            time.sleep(0.25 * 2**fruitless)
        else:
            fruitless = 0
    return reason


@contextlib.contextmanager
def _opened(place: str, begun: int) -> Iterator[tuple[int, Iterator[bytes]]]:
    """(where it begins, its pieces) of an address or a file, from byte `begun` on if it can be."""
    import httpx2

    if not _is_address(place):
        with Path(place).expanduser().open("rb") as file:
            file.seek(begun)
            yield begun, iter(lambda: file.read(PIECE), b"")
        return
    asked = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={begun}-"} if begun else {})
    with httpx2.stream("GET", place, headers=asked, follow_redirects=True, timeout=SECONDS) as response:
        response.raise_for_status()
        goes_on = response.headers.get("content-range", "").startswith(f"bytes {begun}-")
        yield begun if goes_on else 0, response.iter_raw()


def _is_address(place: str) -> bool:
    return place.lower().startswith(("http://", "https://"))


def state_of(model: LocalModel, folder: Path) -> State:
    """Reads the folder, so that it is the same for all processes. Raises OSError."""
    target = model.path(folder)
    part, _, problem = _beside(target)
    got, alone, said = 0, True, ""
    with contextlib.suppress(FileNotFoundError), part.open("rb") as file:
        alone = try_lock(file.fileno())
        got = part.stat().st_size
    if target.is_file():  # looked at last: the part may just have become whole
        return State("fetched", target.stat().st_size, "")
    with contextlib.suppress(FileNotFoundError):
        said = problem.read_text(encoding="utf-8")
    return State("absent", got, said) if alone else State("fetching", got, "")


def stop_getting(model: LocalModel, folder: Path) -> None:
    """Tell whatever process gets the model to stop; the part stays. Raises OSError."""
    if state_of(model, folder).state == "fetching":
        _beside(model.path(folder))[1].touch()


def remove_model(model: LocalModel, folder: Path) -> int:
    """Bytes that were freed. A server that runs goes on with the file. Raises OSError."""
    stop_getting(model, folder)
    files = [file for file in (model.path(folder), *_beside(model.path(folder))) if file.is_file()]
    freed = sum(file.stat().st_size for file in files)
    for file in files:
        file.unlink(missing_ok=True)
    return freed


def _beside(target: Path) -> tuple[Path, Path, Path]:
    part, stop, problem = (Path(f"{target}.{end}") for end in ("part", "stop", "problem"))
    return part, stop, problem
