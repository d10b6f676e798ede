"""Runs an untrusted Python script, sealed off from everything but one folder that it may read.

In: the script's text and the folder, in which it starts. Out: what it printed. It has the standard library, no
environment and no input; it can write to nothing but its output, start nothing and reach nothing. A system that cannot
enforce that refuses the script (`ConfinementUnavailable`). Where bubblewrap is installed and works, it is an outer
layer around the same limits: namespaces of its own, with no files but the libraries and that folder.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from eval.confinement import ConfinementUnavailable, die_with_parent, limit_processor, limit_resources, seal
from eval.errors import Text2SQLError

__all__ = ["ScriptFailed", "run_script"]

_UNAVAILABLE = 97
_MEMORY_BYTES = 512 * 1024 * 1024
_OUTPUT_BYTES = 256 * 1024
_ERROR_LETTERS = 2_000
"""Characters of an error's text."""
_ROOT = Path(__file__).resolve().parents[1]
_OPTIONS = ("-I", "-S", "-B", "-X", "utf8")
_INSIDE = "/data"
"""The folder of the script, under bubblewrap."""
_PROBE_SECONDS = 10.0
_START = f"import sys; sys.path.append({str(_ROOT)!r}); from eval.untrusted_script import sealed; sealed()"


class ScriptFailed(Text2SQLError):
    """The script ended with an error, or used more than it may; the message is the end of what it said."""


def run_script(source: str, folder: Path, *, seconds: float = 30.0) -> str:
    """The text that the script prints. `seconds` limits processor time and elapsed time. Raises ScriptFailed and
    ConfinementUnavailable."""
    with (
        tempfile.TemporaryFile() as script,
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
        tempfile.TemporaryFile() as began,
    ):
        script.write(source.encode())
        script.seek(0)
        outer = _outer_layer(sys.executable)
        command = [*outer, "--ro-bind", str(folder), _INSIDE, "--chdir", _INSIDE, "--"] if outer else []
        python = os.path.realpath(sys.executable) if outer else sys.executable
        command += [python, *_OPTIONS, "-c", _START, str(seconds), str(began.fileno())]
        process = subprocess.Popen(  # noqa: S603 (our own interpreter)
            command,
            stdin=script,
            stdout=output,
            stderr=errors,
            cwd=folder,
            env={},
            start_new_session=True,
            pass_fds=[began.fileno()],
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise ScriptFailed(f"The script ran longer than {seconds:g} s.") from None
        finally:
            if process.returncode is None:
                process.kill()
                process.wait()
        if code == _UNAVAILABLE and not began.tell():  # else it is the script's own exit code
            raise ConfinementUnavailable(_text(errors, _OUTPUT_BYTES)[-_ERROR_LETTERS:].strip())
        if code != 0:
            message = _text(errors, _OUTPUT_BYTES)[-_ERROR_LETTERS:].strip()
            ended = -code if code < 0 else code - 128 if outer else 0  # bubblewrap adds 128 to a signal's number
            why = signal.Signals(ended).name if ended in list(signal.Signals) else f"exit code {code}"
            raise ScriptFailed(f"The script failed ({why}): {message}" if message else f"The script failed ({why}).")
        return _text(output, _OUTPUT_BYTES)


@lru_cache
def _outer_layer(executable: str) -> tuple[str, ...]:
    """The start of bubblewrap's command line; empty where it is missing or does not work. It is tried once."""
    program = shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin")
    if program is None:
        return ()
    python = os.path.realpath(executable)
    shown = {python, *map(str, _code()), str(Path(__file__).parent), "/etc/ld.so.cache"}
    if libraries := sysconfig.get_config_var("LIBDIR"):
        shown.add(libraries)
    command = [program, "--unshare-all", "--die-with-parent", "--clearenv", "--cap-drop", "ALL", "--dev", "/dev"]
    for path in sorted(shown):
        command += ["--ro-bind-try", path, path]
    with suppress(OSError, subprocess.SubprocessError):
        probe = [*command, "--", python, *_OPTIONS, "-c", "pass"]
        done = subprocess.run(probe, env={}, capture_output=True, timeout=_PROBE_SECONDS, check=False)  # noqa: S603
        if done.returncode == 0:
            return tuple(command)
    return ()


def _text(file: BinaryIO, limit: int) -> str:
    file.seek(0)
    return file.read(limit).decode("utf-8", "replace")


def sealed() -> None:
    """In the child process: read the script from standard input, give up every privilege, run it."""
    seconds, began = float(sys.argv[1]), int(sys.argv[2])
    source = sys.stdin.buffer.read()
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.environ.pop("PWD", None)  # bubblewrap sets it
    sys.argv, sys.path = ["analysis.py"], [path for path in sys.path if path != str(_ROOT)]
    die_with_parent()
    os.umask(0o777)
    limit_resources(memory_bytes=_MEMORY_BYTES, file_bytes=_OUTPUT_BYTES)
    limit_processor(seconds)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    try:
        seal([Path(), *_code()])
    except ConfinementUnavailable as error:
        sys.stderr.write(str(error))
        sys.exit(_UNAVAILABLE)
    os.write(began, b"1")
    os.close(began)
    exec(compile(source, "analysis.py", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})  # noqa: S102


def _code() -> list[Path]:
    """The standard library and the shared libraries that it loads; no installed package."""
    stdlib = [Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("platstdlib"), "lib-dynload")]
    return [*stdlib, *map(Path, ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/localtime"))]
