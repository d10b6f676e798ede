"""The privileges that a process drops before it does untrusted work: memory, disk, files, network, other processes.

Resource limits apply on every POSIX system. Landlock (files, TCP) and seccomp (system calls) apply on Linux when the
kernel supports them. `confine` is for our own code that opens an untrusted database; it returns the missing
protections, for the log. `seal` is for untrusted code; it fails if any protection is missing.
Sources: https://docs.kernel.org/userspace-api/landlock.html, https://man7.org/linux/man-pages/man2/seccomp.2.html
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import struct
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from eval.errors import Text2SQLError

__all__ = [
    "ConfinementUnavailable",
    "confine",
    "die_with_parent",
    "limit_memory",
    "limit_processor",
    "limit_resources",
    "seal",
]

_WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_TRUNCATE = 1 << 14
_FILE_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_ALL_RIGHTS = (1 << 16) - 1
_OWN_FOLDER = _READ_FILE | _READ_DIR | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _TRUNCATE
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 1, 38, 22

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_REFUSED_CALLS = {  # socket, connect, bind, execve, execveat, ptrace, kill, process_vm_writev, pidfd_send_signal
    "x86_64": (41, 42, 49, 59, 322, 101, 62, 311, 424),
    "aarch64": (198, 203, 200, 221, 281, 117, 129, 271, 424),
}


_ALLOWED_CALLS = {  # reading files, memory, clocks, waiting, the end: what Python and SQLite need to read and print
    "x86_64": (
        *(0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 20, 21, 23, 24, 25, 28, 32, 33, 35, 39, 60),
        *(63, 72, 79, 89, 96, 98, 99, 102, 104, 107, 108, 131, 137, 138, 186, 201, 202, 204, 217, 228, 229, 230, 231),
        *(257, 262, 267, 269, 270, 271, 273, 318, 332, 334, 439, 2),
    ),
    "aarch64": (
        *(17, 23, 24, 25, 29, 43, 44, 48, 56, 57, 61, 62, 63, 64, 65, 66, 67, 72, 73, 78, 79, 80, 93, 94, 98, 99),
        *(101, 113, 114, 115, 123, 124, 132, 134, 135, 139, 160, 165, 169, 172, 174, 175, 176, 177, 178, 179),
        *(214, 215, 216, 222, 226, 233, 278, 291, 293, 439),
    ),
}
_REFUSE, _ALLOW = 0x00050001, 0x7FFF0000
"""Answers of a filter: fail with EPERM; run the call."""


class ConfinementUnavailable(Text2SQLError):
    """This system cannot confine untrusted code, so the code is not run."""


def limit_memory(memory_bytes: int) -> None:
    """Limit memory to `memory_bytes` above the current address space of the process, and write no core files."""
    with suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        memory_bytes += pages * os.sysconf("SC_PAGE_SIZE")
    for limit, value in ((resource.RLIMIT_AS, memory_bytes), (resource.RLIMIT_CORE, 0)):
        with suppress(OSError, ValueError):
            resource.setrlimit(limit, (value, value))


def limit_resources(*, memory_bytes: int, file_bytes: int, open_files: int = 128) -> None:
    """Limit memory as `limit_memory` does, each file to `file_bytes`, and the number of open files."""
    limit_memory(memory_bytes)
    for limit, value in ((resource.RLIMIT_FSIZE, file_bytes), (resource.RLIMIT_NOFILE, open_files)):
        with suppress(OSError, ValueError):
            resource.setrlimit(limit, (value, value))


def limit_processor(seconds: float) -> None:
    """Limit the processor time from now on, summed over all threads; the kernel kills the process beyond it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    with suppress(OSError, ValueError):
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime + seconds) + 2, hard))


def die_with_parent(sign: int = 9) -> None:
    """Make the kernel send this process a signal, by default one that kills, when the process that forked it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, sign, 0, 0, 0)


def confine(readable: Iterable[Path], writable: Iterable[Path]) -> list[str]:
    """Remove access to all other files, the network and other programs, for this thread and all threads and processes
    it starts. Returns one sentence for each restriction that could not be applied."""
    if sys.platform != "linux":
        return [f"no file and network confinement on {sys.platform}"]
    missing = []
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    try:
        _landlock(libc, readable, writable)
    except OSError as e:
        missing.append(f"Landlock does not confine files: {e.strerror}")
    try:
        _filter_calls(libc, _REFUSED_CALLS, listed=_REFUSE, others=_ALLOW)
    except OSError as e:
        missing.append(f"seccomp does not confine the network: {e.strerror}")
    return missing


def seal(readable: Iterable[Path]) -> None:
    """Leave this process nothing but reading `readable`, computing, and writing to the files that it has open. Every
    system call that is not needed for that fails, so it starts no process and no thread, and reaches no network.
    Raises ConfinementUnavailable, before anything untrusted has run, if Landlock or seccomp is missing."""
    if sys.platform != "linux":
        raise ConfinementUnavailable(f"Untrusted code cannot be confined on {sys.platform}.")
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    try:
        _landlock(libc, readable, ())
        _filter_calls(libc, _ALLOWED_CALLS, listed=_ALLOW, others=_REFUSE)
    except OSError as error:
        raise ConfinementUnavailable(f"This system does not confine untrusted code: {error.strerror}.") from None


def _landlock(libc: ctypes.CDLL, readable: Iterable[Path], writable: Iterable[Path]) -> None:
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < 1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    files = _FILE_RIGHTS.get(version, _ALL_RIGHTS)
    attributes = struct.pack("=QQQ", files, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0)
    _check(ruleset)
    try:
        for paths, rights in ((readable, _READ_FILE | _READ_DIR), (writable, _OWN_FOLDER)):
            for path in paths:
                _allow(libc, ruleset, path, rights & files)
        _check(libc.syscall(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: Path, rights: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # it does not exist
    try:
        if not path.is_dir():
            rights &= _READ_FILE | _WRITE_FILE | _TRUNCATE
        _check(libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, handle), 0))
    finally:
        os.close(handle)


def _filter_calls(
    libc: ctypes.CDLL, calls_by_machine: Mapping[str, tuple[int, ...]], *, listed: int, others: int
) -> None:
    """Install a classic BPF program that answers `listed` for these system calls and `others` for all others."""
    machine = platform.machine()
    if machine not in calls_by_machine:
        raise OSError(0, f"unknown processor {machine}")
    architecture, calls = _ARCHITECTURES[machine], calls_by_machine[machine]
    program = [(0x20, 0, 0, 4), (0x15, 1, 0, architecture), (0x06, 0, 0, _REFUSE), (0x20, 0, 0, 0)]
    program += [(0x35, len(calls) + 2, 0, 0x40000000)]  # the x32 forms of the same calls
    program += [(0x15, len(calls) - i, 0, call) for i, call in enumerate(calls)]
    program += [(0x06, 0, 0, others), (0x06, 0, 0, listed), (0x06, 0, 0, _REFUSE)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in program))
    header = struct.pack("@HP", len(program), ctypes.addressof(code))
    _check(libc.prctl(_PR_SET_SECCOMP, 2, ctypes.create_string_buffer(header), 0, 0))


def _check(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
