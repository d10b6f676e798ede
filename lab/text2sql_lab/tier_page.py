"""The report of tiers: `tiers.json`, and `report.html`, one page with the tiers, what kits gain, cost and time.

In: `Tiers`. Out: files in the folder of the run. All text is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from eval.metrics.intervals import Rate
from eval.report import percent, rate_text
from text2sql_lab.pages.charts import against, colour, rates
from text2sql_lab.pages.page import document, figure, table
from text2sql_lab.pages.svg import esc
from text2sql_lab.tiers import Figures, Tiers

PAGE = "report.html"
_FIGURES = ("EX (95 % interval)", "VA", "requests", "tokens", "USD", "s, p50", "s, p95", "first, p50", "first, p95")
_KEY = (
    "EX: the rows of the verified query. VA: it runs. Requests and tokens: means for one question. USD: for 1,000 "
    "questions. s: seconds a question. first: seconds from the first request to the first word of its reply."
)


def write_reports(out: Path, tiers: Tiers) -> None:
    """Write both files anew."""
    text = json.dumps(tiers.record(), indent=2, ensure_ascii=False) + "\n"
    (out / "tiers.json").write_text(text, encoding="utf-8")
    (out / PAGE).write_text(_page(tiers), encoding="utf-8")


def _page(tiers: Tiers) -> str:
    done = tiers.figures
    missing = f"Not finished: {len(done)} of {tiers.wanted} tiers." if len(done) < tiers.wanted else ""
    failing = f"Verified queries that fail, so that no answer is right: {esc(', '.join(tiers.gold_failures[:100]))}."
    body = [
        "<h1>Tiers</h1>",
        f'<p class="bad">{missing}</p>' if missing else "",
        f'<p class="bad">{failing}</p>' if tiers.gold_failures else "",
        f"<p>{esc(' '.join(tiers.notes))}</p>",
        table(("tier", *_FIGURES), [_row(place, one) for place, one in enumerate(done)], set(range(1, 11))),
        f"<p class=dim>{_KEY}</p>",
        *_gains(tiers),
        "<h2>Right, without a kit and with one</h2>",
        *_bars(tiers),
        "<h2>Cost and time against accuracy</h2>",
        '<div class="pair">',
        figure("", against([(f.tier.name, f.ex, _dollars(f)) for f in done], "USD for 1,000 questions")),
        figure("", against([(f.tier.name, f.ex, f.seconds[0]) for f in done], "seconds a question (median)")),
        "</div>",
    ]
    return document("Tiers", body)


def _row(place: int, f: Figures) -> list[str]:
    first = [f"{seconds:.2f}" for seconds in f.first_word] if f.first_word else ["–", "–"]
    return [
        f'<span class="key {colour(place)}"></span>{esc(f.tier.name)}',
        rate_text(f.ex),
        percent(f.va.value),
        f"{f.calls:.1f}",
        f"{f.tokens:,.0f}",
        "–" if (dollars := _dollars(f)) is None else f"{dollars:.4g}",
        *(f"{seconds:.2f}" for seconds in f.seconds),
        *first,
    ]


def _dollars(f: Figures) -> float | None:
    """For 1,000 questions."""
    return None if f.dollars is None else 1_000 * f.dollars


def _gains(tiers: Tiers) -> list[str]:
    rows = []
    for f in tiers.figures:
        if (gain := f.gain) is not None:
            points = f"{100 * gain.difference:+.1f} ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})"
            rows.append([esc(f.tier.name), points, str(gain.won), str(gain.lost), f"{gain.p:.4g}"])
    if not rows:
        return []
    heads = ("with a kit", "EX, in points (95 % interval)", "won", "lost", "p (McNemar, exact)")
    return ["<h2>What a kit gains</h2>", table(heads, rows, set(range(1, 5)))]


def _bars(tiers: Tiers) -> list[str]:
    groups: dict[str, dict[str, Rate]] = {}
    for f in tiers.figures:
        groups.setdefault(f.tier.kit or "without a kit", {})[f.tier.agent] = f.ex
    keys = (f'<span><i class="key {colour(n)}"></i>{esc(name)}</span>' for n, name in enumerate(groups))
    drawn: list[tuple[str, Mapping[str, Rate]]] = [*groups.items()]
    caption = "EX, with 95 % Wilson intervals; questions in brackets"
    return [f'<p class="legend">{"".join(keys)}</p>', figure(caption, rates("EX by tier", drawn))]
