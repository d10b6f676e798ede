"""What several workers bear, as tables; nothing here passes or fails.

    python -m experiments.workers throughput [--workers 1,2,4] [--questions 200] [--rounds 3]
    python -m experiments.workers streams [--streams 100] [--workers 1,2]
    python -m experiments.workers kill [--people 20] [--kills 3]
    python -m experiments.workers restart [--people 20] [--restarts 2]
    python -m experiments.workers soak [--minutes 30] [--people 50]
    python -m experiments.workers cost [--questions 100]

`--state` is a PostgreSQL on which databases may be created (`restart` starts one of its own from the binaries that
`pg_config` or `--postgres` names). The server is `python -m agent.server` on the demo database; the model is an
endpoint of prepared replies, four calls a question. Everything shares the machine's cores: figures in seconds mean
something on idle cores only, processor time nearly always.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from experiments.workers import failures, load

COMMANDS: dict[str, Callable[[argparse.Namespace], Coroutine[Any, Any, None]]] = {
    "throughput": load.throughput,
    "streams": load.streams,
    "soak": load.soak,
    "cost": load.cost,
    "kill": failures.kill,
    "restart": failures.restart,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("--state", default="postgresql://postgres@127.0.0.1:5432/postgres")
    parser.add_argument("--postgres", default="", help="folder of initdb and pg_ctl")
    parser.add_argument("--workers", default="", help="numbers of workers, separated by commas")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--people", type=int, default=0)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--restarts", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seconds-a-call", type=float, default=None)
    options = parser.parse_args()
    options.workers = [int(n) for n in options.workers.split(",") if n]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is stopped
    asyncio.run(COMMANDS[options.command](options))


if __name__ == "__main__":
    main()
