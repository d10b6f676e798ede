"""Long and garbled questions do not keep a server from its other clients."""

from __future__ import annotations

import threading
import time

from experiments.parser.hostile_questions import long_questions
from tests.agent.server.running import Running

NAMES = ("customers", "orders", "order items", "products", "city", "unit price", "status", "Berlin", "created at")


def test_other_clients_are_answered_while_hostile_questions_are_read(server: Running) -> None:
    server.ask("How many customers are there?")  # what a first question loads is loaded
    endings: list[str] = []

    def ask() -> None:
        endings.extend(server.ask(question).names[-1] for question in long_questions(NAMES, 8, 7))

    asking = threading.Thread(target=ask)
    asking.start()
    waits = []
    while asking.is_alive():
        begun = time.perf_counter()
        assert server.get("/health").status_code == 200
        waits.append(time.perf_counter() - begun)
        time.sleep(0.02)
    asking.join()

    assert len(endings) == 8
    assert len(waits) > 8
    assert max(waits) < 0.25
