"""The report of an ablation: tables for the terminal, and the same as Markdown.

In: the results of each variant. Out: `rich` tables, or text. Text from databases and models is escaped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from experiments.ablation.outcomes import OUTCOMES
from experiments.ablation.pooled import DRAWS, Interval, groups_of, pooled, pooled_pairs
from experiments.ablation.statistics import Figures, Pair, figures, pair, spreads
from experiments.ablation.variants import ItemResult
from experiments.mann_whitney import mann_whitney

if TYPE_CHECKING:
    from rich.table import Table

VariantResults = tuple[str, Sequence[ItemResult]]
"""A variant's name and its results."""
Rows = list[tuple[str, ...]]

_HEAD = ("strategy", "n", "VA", "EM", "EX (95 %)", "TS (95 %)", "calls", "tokens in/out", "$", "s, median")
EXPLANATION = (
    "Rates count every question; a failure is 0. Intervals: Wilson for a rate, Newcombe's method 10 for a paired "
    "difference; p is McNemar's, exact, and Mann–Whitney's for amounts. Figures after TS are means for one question, "
    "but for the seconds. sd: standard deviation over seeds. Pooled and all pairs: a "
    f"question counts with its mean over seeds; percentiles and p of a bootstrap over questions, {DRAWS:,} draws."
)
_PAIRED = ("against the first", "EX difference (95 %)", "won", "lost", "p", "TS difference (95 %)", "p")


def rows(results_by_variant: Sequence[VariantResults]) -> Rows:
    """The rows of the main table, under its headings."""
    return [_HEAD, *(_row(figures(name, results)) for name, results in results_by_variant)]


def paired_rows(results_by_variant: Sequence[VariantResults]) -> Rows:
    """Each variant against the first, question by question."""
    if len(results_by_variant) < 2:
        return []
    first = results_by_variant[0][1]
    rows: Rows = [_PAIRED]
    for name, results in results_by_variant[1:]:
        by_ex = pair(first, results)
        by_ts = pair(first, results, lambda c: c.ts)
        suites = (_difference(by_ts), f"{by_ts.p:.2g}") if by_ts.questions else ("–", "–")
        rows.append(
            (name, _difference(by_ex), str(by_ex.only_second), str(by_ex.only_first), f"{by_ex.p:.2g}", *suites)
        )
    return rows


def spread_rows(results_by_variant: Sequence[VariantResults], groups: Mapping[str, str]) -> Rows:
    """Variants of which several seeds were run."""
    rows: Rows = [("over seeds", "seeds", "EX, mean ± sd", "EX, range", "TS, mean ± sd")]
    for one in spreads(results_by_variant, groups):
        ts = f"{one.ts[0]:.3f} ± {one.ts[1]:.3f}" if one.ts else "–"
        ex = f"{one.ex[0]:.3f} ± {one.ex[1]:.3f}"
        rows.append((one.group, str(one.seeds), ex, f"{one.low:.3f} to {one.high:.3f}", ts))
    return rows if len(rows) > 1 else []


def pooled_rows(results_by_variant: Sequence[VariantResults], groups: Mapping[str, str]) -> Rows:
    """Each variant over its seeds, if any has several."""
    found = pooled(groups_of(results_by_variant, groups))
    if all(one.seeds < 2 for one in found):
        return []
    rows: Rows = [("pooled over seeds", "seeds", "n", "EX (95 %)")]
    return rows + [(one.group, str(one.seeds), str(one.questions), _interval(one.ex)) for one in found]


def pooled_pair_rows(results_by_variant: Sequence[VariantResults], groups: Mapping[str, str]) -> Rows:
    """Every pair of variants, each over its seeds."""
    rows: Rows = [("pair", "n", "EX difference (95 %)", "p")]
    for one in pooled_pairs(groups_of(results_by_variant, groups)):
        pair_of = f"{one.second} against {one.first}"
        rows.append((pair_of, str(one.questions), _interval(one.difference, "+.3f"), f"{one.p:.2g}"))
    return rows if len(rows) > 1 else []


def _interval(of: Interval, form: str = ".3f") -> str:
    return f"{of.value:{form}} ({of.low:{form}} to {of.high:{form}})"


def time_rows(results_by_variant: Sequence[VariantResults]) -> Rows:
    """Seconds a question and to the model's first word, and what a question costs."""
    rows: Rows = [("strategy", "s, p50", "s, p95", "first word, p50", "first word, p95", "$ a question")]
    for name, results in results_by_variant:
        f = figures(name, results)
        first = [f"{seconds:.2f}" for seconds in f.first_word] if f.first_word else ["–", "–"]
        rows.append((name, f"{f.seconds_median:.2f}", f"{f.seconds_p95:.2f}", *first, _cost(f)))
    return rows if len(rows) > 1 else []


def outcome_rows(results_by_variant: Sequence[VariantResults]) -> Rows:
    """What became of the answers."""
    rows: Rows = [("strategy", *OUTCOMES)]
    for name, results in results_by_variant:
        counts = Counter(result.outcome for result in results)
        if not counts[""]:
            rows.append((name, *(f"{counts[o]} ({counts[o] / max(1, len(results)):.1%})" for o in OUTCOMES)))
    return rows if len(rows) > 1 else []


def amount_rows(results_by_variant: Sequence[VariantResults]) -> Rows:
    """Tokens, calls and seconds a question against the first variant, by Mann–Whitney's test."""
    amounts: tuple[tuple[str, Callable[[ItemResult], float]], ...] = (
        ("tokens", lambda c: c.input_tokens + c.output_tokens),
        ("calls", lambda c: c.calls),
        ("seconds", lambda c: c.seconds),
    )
    rows: Rows = [("against the first", *(f"{name}, p" for name, _ in amounts))]
    first = results_by_variant[0][1] if results_by_variant else ()
    for name, results in results_by_variant[1:]:
        pairs = (([of(c) for c in first], [of(c) for c in results]) for _, of in amounts)
        rows.append((name, *(f"{mann_whitney(a, b):.2g}" if any(a) or any(b) else "–" for a, b in pairs)))
    return rows if len(rows) > 1 else []


def reported_rows(results_by_variant: Sequence[VariantResults]) -> Rows:
    """The recording's own verdicts on its answers, next to the measurements made here."""
    rows: Rows = [("strategy", "EX reported", "EX measured", "verdicts that differ")]
    for name, results in results_by_variant:
        reported = figures(name, results).reported
        if reported is not None:
            rows.append((name, f"{reported.value:.3f}", f"{figures(name, results).ex.value:.3f}", _differing(results)))
    return rows if len(rows) > 1 else []


def _differing(results: Sequence[ItemResult]) -> str:
    ids = [c.id for c in results if c.reported_ex is not None and c.reported_ex != c.ex]
    return f"{len(ids)}: {', '.join(ids)}" if ids else "none"


def _row(f: Figures) -> tuple[str, ...]:
    tokens = f"{f.tokens[0]:,.0f} / {f.tokens[1]:,.0f}" if f.tokens else "–"
    suites = str(f.ts) if f.ts else "–"
    rates = (f"{f.va.value:.3f}", f"{f.em.value:.3f}", str(f.ex), suites)
    return (f.variant, str(f.questions), *rates, f"{f.calls:.1f}", tokens, _cost(f), f"{f.seconds_median:.2f}")


def _cost(f: Figures) -> str:
    return f"{f.cost_usd:.4f}" if f.cost_usd is not None and (f.cost_usd or not f.calls) else "–"


def _difference(of: Pair) -> str:
    low, high = of.interval
    return f"{of.difference:+.3f} ({low:+.3f} to {high:+.3f})"


def sections(results_by_variant: Sequence[VariantResults], groups: Mapping[str, str]) -> list[tuple[str, Rows]]:
    """The tables that have rows, with their titles."""
    titled = (
        ("Strategies", rows(results_by_variant)),
        ("Over seeds", spread_rows(results_by_variant, groups)),
        ("Pooled over seeds", pooled_rows(results_by_variant, groups)),
        ("Paired differences", paired_rows(results_by_variant)),
        ("All pairs", pooled_pair_rows(results_by_variant, groups)),
        ("Outcomes", outcome_rows(results_by_variant)),
        ("Time and cost", time_rows(results_by_variant)),
        ("Amounts", amount_rows(results_by_variant)),
        ("Against what the recording reports", reported_rows(results_by_variant)),
    )
    return [(title, cells) for title, cells in titled if cells]


def tables(
    results_by_variant: Sequence[VariantResults], groups: Mapping[str, str], notes: Sequence[str]
) -> list[Table | str]:
    """The output for the terminal."""
    titled = [_table(title, cells) for title, cells in sections(results_by_variant, groups)]
    return [*titled, *notes, *failed_golds(results_by_variant)]


def _table(title: str, cells: Rows) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left")
    for number, heading in enumerate(cells[0]):
        table.add_column(heading, justify="right" if number else "left", overflow="fold")
    for row in cells[1:]:
        table.add_row(*(Text(cell) for cell in row))
    return table


def markdown(results_by_variant: Sequence[VariantResults], groups: Mapping[str, str], notes: Sequence[str]) -> str:
    """The same as a page."""
    lines = ["# Ablation", ""]
    for title, cells in sections(results_by_variant, groups):
        lines += [f"## {title}", "", *_markdown_table(cells), ""]
    lines += [note + "\n" for note in (*notes, *failed_golds(results_by_variant))]
    lines.append(EXPLANATION)
    return "\n".join(lines) + "\n"


def _markdown_table(cells: Rows) -> list[str]:
    def line(row: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("<", "&lt;") for cell in row) + " |"

    marks = ["---", *["---:"] * (len(cells[0]) - 1)]
    return [line(cells[0]), "| " + " | ".join(marks) + " |", *map(line, cells[1:])]


def failed_golds(results_by_variant: Sequence[VariantResults]) -> list[str]:
    failed = sorted({c.id for _, results in results_by_variant for c in results if c.gold_error})
    return [f"The gold query fails for {', '.join(failed)}; counted as wrong."] if failed else []
