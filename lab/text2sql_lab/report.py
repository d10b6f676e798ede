"""The report of a run: one HTML page with the proof, the lineage of kits, ratings over rounds, cost, and the kit.

In: a run's folder. Out: `report.html` in it, self-contained. All text is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from eval.metrics.intervals import Rate
from text2sql_lab.evolvers.protocol import scores, yields
from text2sql_lab.journal import BASE, Journal, State
from text2sql_lab.measurement import Kits
from text2sql_lab.pages.charts import colour, rates
from text2sql_lab.pages.page import document, figure, table
from text2sql_lab.pages.svg import Drawing, esc, shortened
from text2sql_lab.proof import proof
from text2sql_lab.questions import Question, read_questions
from text2sql_lab.ratings import START, bradley_terry, elo_history
from text2sql_lab.record_lines import records_in
from text2sql_lab.session import options_of
from text2sql_lab.summary import changes, write_summary

SPLITS = {"random": "At random", "form_disjoint": "Forms kept apart"}
WIDTH = 760.0


def write_report(out: Path) -> str:
    """Write the page, and the summary anew; the path of the page. Raises InputError for a folder that holds no run."""
    options = options_of(out)
    state, kits = Journal(out / "journal.jsonl").state, Kits(out / "kits")
    questions = {q.id: q for q in read_questions(Path(options.questions), options.db)}
    answers = records_in(out / "answers.jsonl")
    before = {a["id"]: a["sql"] for a in answers if not a["seen"]}
    body = ["<h1>Tuning</h1>"]
    if state.end is None:
        body.append('<p class="bad">The run has not ended.</p>')
    else:
        style, word = ("good", "Accepted") if state.end["accepted"] else ("bad", "Not accepted")
        body.append(f'<p class="{style}"><b>{word}.</b> {esc(state.end["why"])}</p>')
    tags = [f"{name}: {state.start.get(name)}" for name in ("evolver", "model", "seed")]
    if state.readings > 1:
        tags.append(f"held-out questions were read {state.readings} times; p counts that")
    body.append("<p>" + " ".join(f'<span class="tag">{esc(tag)}</span>' for tag in tags) + "</p>")
    body.append(_proofs(state))
    if state.end and state.end["kit"] != BASE:
        body += _diffs(state, kits, state.end["kit"])
    body.append(_cost(out, answers))
    for split in state.proposed:
        rounds = [scores(e) for e in state.played.get(split, ())]
        body += [f"<h2>{esc(SPLITS.get(split, split))}: the kits</h2>", _lineage(state, split, rounds)]
        if len(rounds) > 1:
            body.append(figure("Lineage: from parents to the kits made of them, round by round", _tree(state, split)))
            body.append(figure("ELO after each round", _elo_chart(elo_history(rounds))))
        body.append(_held_out(state.held_out.get(split), questions, before))
    path = out / "report.html"
    path.write_text(document("Tuning", body), encoding="utf-8")
    write_summary(out, state, kits)
    return str(path)


def _proofs(state: State) -> str:
    """Right without and with the kit on questions that no kit was made from."""
    rows, without, with_kit = [], {}, {}
    for split, event in state.held_out.items():
        p, name = proof(event, state.readings), SPLITS.get(split, split)
        cells = (p.n, f"{p.before:.3f}", f"{p.after:.3f}", p.won, p.lost, f"{p.p:.4g}")
        rows.append([esc(name), *map(str, cells)])
        without[name] = Rate(event["before"].count("1"), p.n)
        with_kit[name] = Rate(event["after"].count("1"), p.n)
    if not rows:
        return ""
    heads = ("held-out questions", "n", "before", "after", "won", "lost", "p (McNemar, exact)")
    keys = (
        '<p class="legend"><span><i class="key s1"></i>without a kit</span><span><i class="key s2"></i>with</span></p>'
    )
    drawing = rates("Held-out questions answered right", [("without a kit", without), ("with", with_kit)])
    chart = keys + figure("Answered right, with 95 % Wilson intervals; questions in brackets", drawing)
    return "<h2>Proof on held-out questions</h2>" + table(heads, rows, set(range(1, 7))) + chart


def _cost(out: Path, answers: Sequence[Mapping[str, Any]]) -> str:
    """Requests, dollars and time of the whole run, and what answering took of it."""
    spent = records_in(out / "spent.jsonl")
    calls, asked = sum(int(line.get("calls", 0)) for line in spent), sum(a["calls"] for a in answers)
    dollars, paid = sum(line.get("dollars", 0.0) for line in spent), sum(a["dollars"] or 0.0 for a in answers)
    seconds = max((line.get("seconds", 0.0) for line in spent), default=0.0)
    if not calls:
        return f"<h2>Cost</h2><p>{len(answers):,} answers were measured, without a request to a model.</p>"
    rows = [
        ["answering questions", f"{len(answers):,}", f"{asked:,}", f"{paid:.4f}"],
        ["writing kits, retries and repairs", "", f"{max(0, calls - asked):,}", f"{max(0.0, dollars - paid):.4f}"],
        [f"all, in {seconds / 60:,.1f} minutes", "", f"{calls:,}", f"{dollars:.4f}"],
    ]
    return "<h2>Cost</h2>" + table(("phase", "answers", "requests to models", "USD"), rows, {1, 2, 3})


def _lineage(state: State, split: str, rounds: Sequence[Mapping[str, int]]) -> str:
    history = elo_history(rounds)
    ratings, strengths = history[-1] if history else {}, bradley_terry(rounds)
    chosen = state.chosen.get(split, {}).get("kit")
    rows = []
    for event in state.proposed[split]:
        kit = event["kit"]
        name = f"<b>{esc(kit)}</b> (chosen)" if kit == chosen != BASE else esc(kit)
        rows.append(
            [
                str(event["round"] + 1),
                name,
                esc(event["by"]),
                esc(", ".join(event["parents"])) or "–",
                f"{ratings.get(kit, START):.0f}",
                f"{strengths.get(kit, START):.0f}",
                esc(shortened(event["note"], 200)),
            ]
        )
    kits = table(("round", "kit", "by", "parents", "ELO", "Bradley–Terry", "note"), rows, {0, 4, 5})
    ways = [[esc(way), f"{won} of {n}"] for way, (won, n) in yields(state, split).items()]
    return kits + (table(("by", "pairs won by its kits in their first round"), ways, {1}) if ways else "")


def _tree(state: State, split: str) -> str:
    """Each kit at its round, joined to its parents."""
    events = [event for event in state.proposed[split] if event["kit"] != BASE]
    first: dict[str, int] = {}
    for event in events:
        first.setdefault(event["kit"], event["round"])
    columns = max(first.values(), default=0) + 2
    step = (WIDTH - 140) / max(1, columns - 1)
    rows: dict[str, int] = {BASE: 0}
    for kit in first:
        rows[kit] = len(rows) % 5
    places = {kit: (30 + step * (first.get(kit, -1) + 1), 20 + 30.0 * row) for kit, row in rows.items()}
    drawing = Drawing(WIDTH, 170, "Lineage of the kits")
    for event in events:
        for parent in event["parents"] or [BASE]:
            if parent in places and parent != event["kit"]:
                drawing.line(*places[parent], *places[event["kit"]], "grid")
    chosen = state.chosen.get(split, {}).get("kit")
    for place, (kit, (x, y)) in enumerate(places.items()):
        drawing.dot(x, y, 8 if kit == chosen else 5, colour(place - 1) if kit != BASE else "s8", kit)
        drawing.text(x + 11, y + 4, kit + (" (chosen)" if kit == chosen else ""), "tick")
    return drawing.render()


def _elo_chart(history: Sequence[Mapping[str, float]]) -> str:
    height, left, right = 260.0, 50.0, 120.0
    values = [value for ratings in history for value in ratings.values()]
    low, high = min(values), max(max(values), min(values) + 1)
    step = (WIDTH - left - right) / max(1, len(history) - 1)

    def place(number: int, value: float) -> tuple[float, float]:
        return left + number * step, height - 34 - (value - low) / (high - low) * (height - 54)

    drawing = Drawing(WIDTH, height, "ELO of each kit after each round")
    for value in sorted({low, START, high} if low < START < high else {low, high}):
        x, y = place(0, value)
        drawing.line(x, y, WIDTH - right, y, "grid")
        drawing.text(x - 6, y + 4, f"{value:.0f}", "tick", "end")
    for number in range(len(history)):
        drawing.text(place(number, low)[0], height - 10, str(number + 1), "tick", "middle")
    ends: list[float] = []
    kits = [kit for kit in history[-1] if kit != BASE]
    for kit in sorted(history[-1], key=lambda kit: -history[-1][kit]):
        points = [place(n, ratings[kit]) for n, ratings in enumerate(history) if kit in ratings]
        style = colour(kits.index(kit)) if kit in kits else "s8"
        for (x1, y1), (x2, y2) in pairwise(points):
            drawing.line(x1, y1, x2, y2, f"path {style}")
        drawing.dot(*points[-1], 3, style, f"{kit}: {history[-1][kit]:.0f}")
        ends.append(max(points[-1][1] + 4, ends[-1] + 12 if ends else 0.0))  # names must not cover each other
        drawing.text(points[-1][0] + 8, ends[-1], kit, "tick")
    return drawing.render()


def _held_out(event: Mapping[str, Any] | None, questions: Mapping[str, Question], before: Mapping[str, str]) -> str:
    """The held-out questions that the kit wins and loses, with the verified query and the one without the kit."""
    if event is None:
        return ""
    answers = list(zip(event["ids"], event["before"], event["after"], strict=True))
    parts = []
    for title, style, change in (("Won", "good", ("0", "1")), ("Lost", "bad", ("1", "0"))):
        ids = [one for one, *bits in answers if tuple(bits) == change]
        parts.append(f'<div><h3 class="{style}">{title} on held-out questions: {len(ids)}</h3>')
        parts += (
            f"<details><summary>{esc(question.text)}</summary><div>"
            f"<p class=dim>verified</p><pre>{esc(question.golds[0])}</pre><p class=dim>without the kit</p>"
            f"<pre>{esc(before.get(question.id, '')) or '(no query)'}</pre></div></details>"
            for question in (questions[one] for one in ids if one in questions)
        )
        parts.append("</div>")
    return f'<div class="pair">{"".join(parts)}</div>'


def _diffs(state: State, kits: Kits, kit: str) -> list[str]:
    """The kit's files against those of its first parent."""
    parents: list[str] = next((e["parents"] for e in state.proposed.get("random", ()) if e["kit"] == kit), [])
    parent = parents[0] if parents else BASE
    against = "the agent without one" if parent == BASE else f"its parent {parent}"
    body = [f"<h2>The kit, against {esc(against)}</h2>"]
    styles = {"+": "good", "-": "bad"}
    for name, lines in changes(kits, kit, parent).items():
        spans = "".join(f'<span class="{styles.get(line[0], "dim")}">{esc(line)}</span>\n' for line in lines)
        body.append(f"<h3>{esc(name)}</h3><pre>{spans}</pre>")
    return body
