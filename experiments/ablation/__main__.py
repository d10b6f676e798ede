"""`python -m experiments.ablation --bench DIR --strategies A,B,…`: compares strategies on the same questions.

In: options. Out: tables on standard output; in the folder of `--out` a line for each question (`results.jsonl`) and the
tables as `summary.md`, with figures as `report.html`. When it is stopped, the same command continues.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eval.parallel import On
from experiments.ablation.seeds import TEMPERATURE
from experiments.usage import usage_reported

if TYPE_CHECKING:
    from agent.config import Settings
    from experiments.ablation.evaluation import Question, Recording
    from experiments.ablation.variants import Variant

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def ablation(  # noqa: PLR0913 (an argument for each option)
    bench: Annotated[Path, typer.Option(metavar="DIR", help="A benchmark: questions.jsonl and databases/.")],
    strategies: Annotated[
        str,
        typer.Option(
            metavar="A,B,…",
            help="Strategies, lowest first; STRATEGY=SYSTEM replays a recorded system, =A+B with B for retries.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the results; one that is there goes on.")],
    recorded: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Recorded answers: lines {system, id, sql}.")
    ] = None,
    recorded_dialect: Annotated[
        str | None, typer.Option(metavar="D", help="Dialect of the recorded answers, where it is not the databases'.")
    ] = None,
    examples: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Verified examples for strategies that use some.")
    ] = None,
    test_suites: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Replicas for TS: DB/ or DB.tar.xz with SQLite files.")
    ] = None,
    databases: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Databases elsewhere: a URL with {db}. Golds are translated for its engine."),
    ] = None,
    split: Annotated[str, typer.Option(metavar="NAME", help="Only questions of this split.")] = "",
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N questions.")] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Model for variants that replay nothing; repeat it for several. Default: the configured one.",
        ),
    ] = None,
    seed: Annotated[
        list[int] | None,
        typer.Option(metavar="N", help="Seed: draws half of the examples, and is sent to the model; repeatable."),
    ] = None,
    temperature: Annotated[
        float, typer.Option(min=0.0, max=2.0, help="Of runs with a seed; at 0 an obedient endpoint is always the same.")
    ] = TEMPERATURE,
    kit: Annotated[
        list[str] | None, typer.Option(metavar="DIR", help="Kit to use, `base` for none; repeat it for several.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Questions under way at once.")] = 4,
    on: On = None,
) -> None:
    """Run strategies on the same questions and compare them: VA, EM, EX, TS, cost and time.

    Example: python -m experiments.ablation --bench bench/shop --strategies zero-shot,few-shot-3,standard,full --out
    ablation/
    """
    from rich.console import Console

    from agent.cli.shared import direct_logs
    from agent.config import settings
    from eval.run_folder import RunFolder
    from experiments.ablation.evaluation import Bench, evaluate
    from experiments.ablation.html import page
    from experiments.ablation.report import failed_golds, markdown, tables
    from experiments.ablation.variants import ItemResult, crossed, read_variants, results_of
    from experiments.replay.__main__ import bench_questions, progress

    direct_logs(verbose=False)
    with usage_reported("Stopped; the same command continues."):
        if databases and (test_suites or recorded):
            raise ValueError("--databases goes with neither --test-suites nor --recorded, which are of SQLite")
        config = settings()
        models = model or []
        only = models[0] if len(models) == 1 else None
        variants = crossed(read_variants(strategies), models, kit or [], seed or [])
        questions = [q for q in bench_questions(bench / "questions.jsonl") if not split or q.get("split") == split]
        if not questions:
            raise ValueError(f"{bench} has no questions" + (f" of the split {split!r}" if split else ""))
        chosen = tuple(questions[:limit])
        notes = [f"{r.name}: answered by {_model(r.model or only, config)}." for r in variants if not r.system]
        kept = _kept(bench, split, recorded, recorded_dialect, examples, test_suites, only, config)
        kept |= {"temperature": temperature} if seed else {}
        kept |= {"databases": databases.rpartition("@")[2]} if databases else {}
        kept |= _digests(variants)
        with RunFolder(out, kept, ItemResult) as folder:
            config, overlap = _with_examples(config, examples, chosen, out)
            evaluate(
                Bench(bench, chosen, test_suites, temperature, out, databases),
                variants,
                config,
                folder,
                recording=_recording(recorded, recorded_dialect),
                model=only,
                jobs=jobs,
                on=on,
                progress=progress,
            )
    notes += overlap
    ids = [str(question["id"]) for question in chosen]
    results_by_variant = [(variant.name, results_of(variant, ids, folder.results)) for variant in variants]
    groups = {variant.name: variant.group or variant.name for variant in variants}
    (out / "summary.md").write_text(markdown(results_by_variant, groups, notes), encoding="utf-8")
    remarks = [*notes, *failed_golds(results_by_variant)]
    (out / "report.html").write_text(page(results_by_variant, groups, remarks), encoding="utf-8")
    console = Console(width=None if sys.stdout.isatty() else 200)
    for part in tables(results_by_variant, groups, notes):
        console.print(part, highlight=False)


def _recording(file: Path | None, dialect: str | None) -> Recording | None:
    from eval.engines import listed
    from eval.schema import DIALECTS
    from experiments.ablation.evaluation import Recording

    if dialect not in (None, *DIALECTS):
        raise ValueError(f"--recorded-dialect is {listed()}, not {dialect!r}")
    return Recording(file, dialect) if file else None


def _kept(
    bench: Path,
    split: str,
    recorded: Path | None,
    dialect: str | None,
    examples: Path | None,
    suites: Path | None,
    model: str | None,
    config: Settings,
) -> dict[str, Any]:
    """The settings that all results of one folder share."""
    return {
        "bench": bench.resolve().name,
        "split": split,
        "recorded": recorded.name if recorded else "",
        "recorded_dialect": dialect or "",
        "examples": examples.name if examples else "",
        "test_suites": suites.resolve().name if suites else "",
        "model": _model(model, config),
        "threshold": config.judging.score_threshold,
        "max_retries": config.judging.max_retries,
    }


def _digests(variants: Sequence[Variant]) -> dict[str, str]:
    """The kits by name, with the digest of what they hold. Raises ValueError for one that cannot be used."""
    from agent.knowledge.kit import read_kit

    return {f"kit {Path(v.kit).name}": read_kit(v.kit).digest for v in variants if v.kit}


def _model(name: str | None, config: Settings) -> str:
    return name or ("offline" if config.model.offline else config.model.name)


def _with_examples(
    config: Settings, examples: Path | None, questions: tuple[Question, ...], out: Path
) -> tuple[Settings, list[str]]:
    """The settings, with only those examples that are not questions of the test set, and notes on what the other
    examples reveal about it. Without a file no examples are shown, whatever the settings say, because nobody would have
    separated them."""
    if examples is None:
        return config.changed(judging={"examples": None}), []
    from experiments.ablation.examples_apart import examples_apart

    kept = out / "examples.jsonl"
    overlap = examples_apart(examples, [(q["question"], q["gold_sql"]) for q in questions], "sqlite", kept)
    return config.changed(judging={"examples": str(kept)}), [overlap]


def main() -> None:
    """Entry point of `python -m experiments.ablation`."""
    app(prog_name="python -m experiments.ablation")


if __name__ == "__main__":
    main()
