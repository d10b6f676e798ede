"""The report of a run: one HTML page with the proof, the lineage of kits, ratings over rounds, cost, and the kit.

In: a run's folder. Out: `report.html` in it, self-contained. All text is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from agent.lab.evolvers.protocol import scores
from agent.lab.journal import BASE, Journal, State
from agent.lab.measuring import Kits
from agent.lab.questions import read_questions
from agent.lab.rating import START, bradley_terry, elo_history
from agent.lab.run import proof
from agent.lab.session import options_of
from eval.report.escape import esc
from eval.report.page import document, figure, table
from eval.report.svg import Drawing, shortened

__all__ = ["write_report"]


def write_report(out: Path) -> str:
    """Write the page; its path. Raises InputError for a folder that holds no run."""
    options = options_of(out)
    state, kits = Journal(out / "journal.jsonl").state, Kits(out / "kits")
    texts = {q.id: q.text for q in read_questions(Path(options.questions), "db" if options.db else "")}
    body = ["<h1>Tuning</h1>", _verdict(state), _proofs(state), _cost(out)]
    for split in state.proposed:
        rounds = [scores(e) for e in state.played.get(split, ())]
        body += [f"<h2>Split: {esc(split.replace('_', ' '))}</h2>", _lineage(state, split, rounds)]
        if len(rounds) > 1:
            body.append(figure("ELO after each round", _elo_chart(elo_history(rounds))))
        body.append(_held_out(state.held_out.get(split), texts))
    if state.end and state.end["kit"] != BASE:
        body.append("<h2>The kit, against the agent without one</h2>")
        for name, text in kits.files(state.end["kit"]).items():
            body.append(f"<h3>{esc(name)}</h3><pre class=good>{esc(_added(text))}</pre>")
    path = out / "report.html"
    path.write_text(document("Tuning", body), encoding="utf-8")
    return str(path)


def _verdict(state: State) -> str:
    if state.end is None:
        return '<p class="bad">The run has not ended.</p>'
    style, word = ("good", "Accepted") if state.end["accepted"] else ("bad", "Not accepted")
    return f'<p class="{style}"><b>{word}.</b> {esc(state.end["why"])}</p>'


def _proofs(state: State) -> str:
    rows = []
    for split, event in state.held_out.items():
        p = proof(event, state.readings)
        cells = (p.n, f"{p.before:.3f}", f"{p.after:.3f}", p.won, p.lost, f"{p.p:.4g}")
        rows.append([esc(split.replace("_", " ")), *map(str, cells)])
    heads = ("held-out questions", "n", "before", "after", "won", "lost", "p (McNemar, exact)")
    return "<h2>Proof</h2>" + table(heads, rows, set(range(1, 7))) if rows else ""


def _cost(out: Path) -> str:
    """Calls, dollars and time of the whole run, and what the questions took."""
    spent = [json.loads(line) for line in _lines(out / "spent.jsonl")]
    answers = [json.loads(line) for line in _lines(out / "answers.jsonl")]
    calls, asked = sum(int(line.get("calls", 0)) for line in spent), sum(a["calls"] for a in answers)
    dollars = sum(line.get("dollars", 0.0) for line in spent)
    seconds = max((line.get("seconds", 0.0) for line in spent), default=0.0)
    rows = [
        ["answering questions", f"{len(answers):,} answers", f"{asked:,}"],
        ["writing kits, retries and repairs", "", f"{max(0, calls - asked):,}"],
        ["all", f"{dollars:.4f} USD, {seconds:,.0f} s", f"{calls:,}"],
    ]
    return "<h2>Cost</h2>" + table(("phase", "", "requests to models"), rows, {2})


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.exists() else []


def _lineage(state: State, split: str, rounds: Sequence[Mapping[str, int]]) -> str:
    history = elo_history(rounds)
    ratings, strengths = history[-1] if history else {}, bradley_terry(rounds)
    rows = []
    for event in state.proposed[split]:
        kit = event["kit"]
        rows.append(
            [
                str(event["round"] + 1),
                esc(kit),
                esc(event["by"]),
                esc(", ".join(event["parents"])) or "–",
                f"{ratings.get(kit, START):.0f}",
                f"{strengths.get(kit, START):.0f}",
                esc(shortened(event["note"], 200)),
            ]
        )
    return table(("round", "kit", "by", "parents", "ELO", "Bradley–Terry", "note"), rows, {0, 4, 5})


def _elo_chart(history: Sequence[Mapping[str, float]]) -> str:
    width, height, left, right = 760.0, 240.0, 50.0, 110.0
    values = [value for ratings in history for value in ratings.values()]
    low, high = min(values), max(max(values), min(values) + 1)
    step = (width - left - right) / max(1, len(history) - 1)

    def place(number: int, value: float) -> tuple[float, float]:
        return left + number * step, height - 30 - (value - low) / (high - low) * (height - 50)

    drawing = Drawing(width, height, "ELO of each kit after each round")
    for value in (low, high):
        x, y = place(0, value)
        drawing.line(x, y, width - right, y, "grid")
        drawing.text(x - 6, y + 4, f"{value:.0f}", "tick", "end")
    for number in range(len(history)):
        drawing.text(place(number, low)[0], height - 8, str(number + 1), "tick", "middle")
    for colour, kit in enumerate(history[-1]):
        points = [place(n, ratings[kit]) for n, ratings in enumerate(history) if kit in ratings]
        style = f"s{colour % 8 + 1}"
        for (x1, y1), (x2, y2) in pairwise(points):
            drawing.line(x1, y1, x2, y2, f"path {style}")
        drawing.dot(*points[-1], 3, style, kit)
        drawing.text(points[-1][0] + 8, points[-1][1] + 4, kit, "tick")
    return drawing.render()


def _held_out(event: Mapping[str, Any] | None, texts: Mapping[str, str]) -> str:
    """The held-out questions that the kit wins and loses."""
    if event is None:
        return ""
    told = list(zip(event["ids"], event["before"], event["after"], strict=True))
    parts = []
    for title, style, change in (("won", "good", ("0", "1")), ("lost", "bad", ("1", "0"))):
        ids = [one for one, *bits in told if tuple(bits) == change]
        listed = "".join(f"<li>{esc(texts.get(one, one))}</li>" for one in ids)
        parts.append(f'<div><h3 class="{style}">{title}: {len(ids)}</h3><ul>{listed}</ul></div>')
    return f'<div class="pair">{"".join(parts)}</div>'


def _added(text: str) -> str:
    return "\n".join(f"+ {line}" for line in text.splitlines())
