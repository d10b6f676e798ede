"""What people see while workers are killed, and while PostgreSQL is restarted."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from experiments.workers.client import Asked, ask, get
from experiments.workers.endpoint import endpoint
from experiments.workers.load import warmed
from experiments.workers.server import Server, scratch_state, serving


class _People:
    """Each asks question after question on one thread, until told to stop."""

    def __init__(self, server: Server, number: int) -> None:
        self._server = server
        self._number = number
        self.over = False
        self.seen: list[Asked] = []

    async def ask(self) -> None:
        await asyncio.gather(*(self._one() for _ in range(self._number)))

    async def _one(self) -> None:
        thread = ""
        while not self.over:
            one = await ask(self._server.port, thread, resumable=True)
            self.seen.append(one)
            thread = one.thread_id or thread
            await asyncio.sleep(random.uniform(0.05, 0.3))

    async def lost_turns(self) -> list[str]:
        """What the server shows otherwise than its readers have seen it."""
        wrong = []
        threads = {one.thread_id for one in self.seen if one.thread_id}
        shown: dict[str, str] = {}
        for thread in threads:
            reply = json.loads(await get(self._server.port, f"/threads/{thread}"))
            numbers = [run["turn"] for run in reply["runs"]]
            if numbers != sorted(set(numbers)):
                wrong.append(f"turns of {thread}: {numbers}")
            shown |= {run["run_id"]: run["status"] for run in reply["runs"]}
        answered = [one.run_id for one in self.seen if one.ending == "answered"]
        wrong += [f"an answered run is {shown.get(run)}" for run in answered if shown.get(run) != "success"]
        still = [run for run, status in shown.items() if status == "running"]
        return wrong + [f"still running: {run}" for run in still]

    async def tell(self) -> None:
        endings = Counter(one.ending for one in self.seen)
        messages = Counter(one.failure for one in self.seen if one.failure)
        broken = sum(one.broken > 0 for one in self.seen)
        wrong = await self.lost_turns()
        print(f"{len(self.seen)} questions: {dict(endings)}; {broken} streams broke off and were taken up again")
        for text, number in messages.most_common(5):
            print(f"  {number} x {text}")
        print(f"turns lost or wrong: {len(wrong)} {wrong[:3] or ''}", flush=True)


async def kill(options: argparse.Namespace) -> None:
    """kill -9 of one worker after the other, under load."""
    workers = (options.workers or [2])[0]
    seconds = 0.2 if options.seconds_a_call is None else options.seconds_a_call
    with (
        endpoint(seconds) as (model, _),
        scratch_state(options.state) as state,
        serving(workers, state, model) as server,
    ):
        await warmed(server)
        people = _People(server, options.people or 20)
        asking = asyncio.create_task(people.ask())
        for _ in range(options.kills):
            await asyncio.sleep(5.0)
            victim = random.choice(server.pids)
            killed = time.monotonic()
            os.kill(victim, signal.SIGKILL)
            await asyncio.to_thread(_replaced, server, victim)
            print(f"a worker was killed; another was started after {time.monotonic() - killed:.2f} s", flush=True)
        await asyncio.sleep(5.0)
        people.over = True
        await asking
        print(f"{workers} workers, {options.people or 20} people, load {os.getloadavg()[0]:.1f}")
        await people.tell()


def _replaced(server: Server, victim: int) -> None:
    while len(server.pids) < server.workers or victim in server.pids:
        time.sleep(0.01)


async def restart(options: argparse.Namespace) -> None:
    """A PostgreSQL of its own, restarted under load."""
    seconds = 0.2 if options.seconds_a_call is None else options.seconds_a_call
    with (
        own_postgres(options.postgres) as postgres,
        endpoint(seconds) as (model, _),
        scratch_state(postgres.url) as state,
        serving((options.workers or [2])[0], state, model) as server,
    ):
        await warmed(server)
        people = _People(server, options.people or 20)
        asking = asyncio.create_task(people.ask())
        for _ in range(options.restarts):
            await asyncio.sleep(5.0)
            began = time.monotonic()
            await asyncio.to_thread(postgres.restart, 2.0)
            print(f"PostgreSQL was away for {time.monotonic() - began:.1f} s", flush=True)
        before = len(people.seen)
        await asyncio.sleep(8.0)
        people.over = True
        await asking
        after = Counter(one.ending for one in people.seen[before + (options.people or 20) :])
        print(f"{server.workers} workers, {options.people or 20} people, load {os.getloadavg()[0]:.1f}")
        await people.tell()
        alive = server.process.poll() is None
        print(f"questions begun after the last restart: {dict(after)}; the server was not restarted: {alive}")


class _Postgres:
    def __init__(self, binaries: Path, folder: Path, port: int) -> None:
        self._control = [str(binaries / "pg_ctl"), "-D", str(folder / "data"), "-w", "-l", str(folder / "log")]
        self._user = "postgres" if os.getuid() == 0 else None
        self.url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c max_connections=200 -c fsync=off"
        self._start = [*self._control, "-o", options, "start"]

    def run(self, command: list[str]) -> None:
        subprocess.run(command, check=True, user=self._user, cwd="/", stdout=subprocess.DEVNULL)

    def start(self) -> None:
        self.run(self._start)

    def stop(self) -> None:
        self.run([*self._control, "-m", "fast", "stop"])

    def restart(self, away: float) -> None:
        self.stop()
        time.sleep(away)
        self.start()


@contextmanager
def own_postgres(binaries: str) -> Iterator[_Postgres]:
    """A PostgreSQL in a folder of its own."""
    if not binaries:
        initdb = shutil.which("initdb")
        shown = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, check=False).stdout.strip()
        folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        binaries = str(Path(initdb).parent) if initdb else shown or (str(folders[-1]) if folders else "")
    if not binaries or not (Path(binaries) / "initdb").exists():
        raise SystemExit("There is no initdb; name its folder by --postgres.")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    made = _Postgres(Path(binaries), folder, port)
    try:
        made.run([str(Path(binaries) / "initdb"), "-D", str(folder / "data"), "-U", "postgres", "-A", "trust", "-N"])
        made.start()
        try:
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
