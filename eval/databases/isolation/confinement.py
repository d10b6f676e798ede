"""The privileges that a child process drops before it opens a database: memory, disk, files, network, other processes.

Resource limits apply on every POSIX system. Landlock (files, TCP) and seccomp (sockets, programs) apply on Linux when
the kernel supports them. `confine` returns the missing protections, for the log.
Sources: https://docs.kernel.org/userspace-api/landlock.html, https://man7.org/linux/man-pages/man2/seccomp.2.html
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_TRUNCATE = 1 << 14
_FILE_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_ALL_RIGHTS = (1 << 16) - 1
_OWN_FOLDER = _READ_FILE | _READ_DIR | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _TRUNCATE
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 1, 38, 22

_REFUSED_CALLS = {  # socket, connect, bind, execve, execveat, ptrace, kill, process_vm_writev, pidfd_send_signal
    "x86_64": (0xC000003E, (41, 42, 49, 59, 322, 101, 62, 311, 424)),
    "aarch64": (0xC00000B7, (198, 203, 200, 221, 281, 117, 129, 271, 424)),
}


def limit_memory(memory_bytes: int) -> None:
    """Limit memory to `memory_bytes` above the current address space of the process, and write no core files."""
    with suppress(OSError, ValueError):
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        memory_bytes += pages * os.sysconf("SC_PAGE_SIZE")
    for limit, value in ((resource.RLIMIT_AS, memory_bytes), (resource.RLIMIT_CORE, 0)):
        with suppress(OSError, ValueError):
            resource.setrlimit(limit, (value, value))


def limit_resources(*, memory_bytes: int, file_bytes: int) -> None:
    """Limit memory as `limit_memory` does, each file to `file_bytes`, and the number of open files."""
    limit_memory(memory_bytes)
    for limit, value in ((resource.RLIMIT_FSIZE, file_bytes), (resource.RLIMIT_NOFILE, 128)):
        with suppress(OSError, ValueError):
            resource.setrlimit(limit, (value, value))


def limit_processor(seconds: float) -> None:
    """Limit the processor time from now on, summed over all threads; the kernel kills the process beyond it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    with suppress(OSError, ValueError):
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime + seconds) + 2, hard))


def die_with_parent() -> None:
    """Make the kernel kill this process when the process that forked it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)


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
        _refuse_calls(libc)
    except OSError as e:
        missing.append(f"seccomp does not confine the network: {e.strerror}")
    return missing


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
        for paths, rights in ((readable, _READ_FILE | _READ_DIR | _EXECUTE), (writable, _OWN_FOLDER)):
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
            rights &= _READ_FILE | _WRITE_FILE | _EXECUTE | _TRUNCATE
        _check(libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, handle), 0))
    finally:
        os.close(handle)


def _refuse_calls(libc: ctypes.CDLL) -> None:
    """Install a classic BPF program: the listed system calls fail with EPERM, all others pass."""
    if platform.machine() not in _REFUSED_CALLS:
        raise OSError(0, f"unknown processor {platform.machine()}")
    architecture, calls = _REFUSED_CALLS[platform.machine()]
    program = [(0x20, 0, 0, 4), (0x15, 1, 0, architecture), (0x06, 0, 0, 0x00050001), (0x20, 0, 0, 0)]
    program += [(0x35, len(calls) + 1, 0, 0x40000000)]  # the x32 forms of the same calls
    program += [(0x15, len(calls) - i, 0, call) for i, call in enumerate(calls)]
    program += [(0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050001)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in program))
    header = struct.pack("@HP", len(program), ctypes.addressof(code))
    _check(libc.prctl(_PR_SET_SECCOMP, 2, ctypes.create_string_buffer(header), 0, 0))


def _check(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
