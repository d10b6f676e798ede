"""`python -m eval.run_benchmark`: measure the accuracy and cost of text-to-SQL agents on a set of questions.

In: agents by URL, or commands that start them; tasks. Out: a folder with results.jsonl, results.csv and summary.md. A
stopped run continues where it stopped; docs/benchmark.md has the scoring rules.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer

from eval.errors import InputError
from eval.jsonl import INTERRUPTED, Progress
from eval.parallel import On

if TYPE_CHECKING:
    from eval.assessment import Options, Participant, Selection, TaskResult
    from eval.run_folder import RunFolder

Protocol = Literal["auto", "rest", "a2a"]
Preset = Literal["default", "strict", "performance", "quality"]
USAGE = 2
"""Exit code for wrong options, missing tasks, or an agent that does not start."""

_EPILOG = "\n".join(
    [
        "\b",
        "Examples:",
        "  python -m eval.run_benchmark --spawn",
        "  python -m eval.run_benchmark --agent mine=http://127.0.0.1:9019 --difficulty hard,enterprise --out results/",
        "  python -m eval.run_benchmark --agent a=http://host:1 --agent b=http://host:2 --tasks spider:spider/",
        "  python -m eval.run_benchmark --compare results/before results/after --out changes/",
        "",
        "\b",
        "Exit codes:",
        "  0    the run is whole, whatever the score",
        f"  {USAGE}    wrong use: an option, a file, an agent that does not start",
        f"  {INTERRUPTED}  stopped by Ctrl-C; what was there is written, the same command goes on",
    ]
)

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command(epilog=_EPILOG)
def benchmark(
    agent: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME=]URL", help="An agent, over REST or A2A (its agent card decides); repeatable."),
    ] = None,
    spawn: Annotated[bool, typer.Option("--spawn", help="Start this project's own agent, and stop it after.")] = False,
    spawn_command: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]CMD", help="Start another one: a command with {port} in it, no shell; repeatable."
        ),
    ] = None,
    protocol: Annotated[Protocol, typer.Option(metavar="P", help="auto, rest or a2a.")] = "auto",
    tasks: Annotated[
        str, typer.Option(metavar="SOURCE", help="library, spider:PLACE, bird:PLACE, or a file of JSON lines.")
    ] = "library",
    databases: Annotated[
        Path | None, typer.Option(metavar="DIR", help="SQLite files of --tasks; default: beside the questions.")
    ] = None,
    test_suites: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Replicas for TS; default: beside the questions.")
    ] = None,
    schema: Annotated[str, typer.Option(metavar="NAMES", help="Only these databases, by comma.")] = "",
    difficulty: Annotated[str, typer.Option(metavar="LEVELS", help="Only these levels, by comma.")] = "",
    tags: Annotated[str, typer.Option(metavar="TAGS", help="Only tasks with all these tags, by comma.")] = "",
    ids: Annotated[str, typer.Option(metavar="IDS", help="Only these tasks, by comma.")] = "",
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="So many tasks, spread evenly over the chosen ones.")
    ] = None,
    dialect: Annotated[
        str, typer.Option(metavar="D", help="Engine of the library: sqlite, duckdb, or with --engine postgres, mysql.")
    ] = "sqlite",
    engine: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Server for the library's databases; they are loaded where missing."),
    ] = None,
    samples: Annotated[int, typer.Option(min=0, max=20, metavar="N", help="Rows of each table to send along.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, max=64, metavar="N", help="Tasks that each agent works on at once.")] = 4,
    on: On = None,
    timeout: Annotated[float, typer.Option(min=0.1, max=3600, metavar="S", help="Seconds for a reply.")] = 300.0,
    sql_seconds: Annotated[float, typer.Option(min=0.1, max=600, metavar="S", help="Seconds for a statement.")] = 30.0,
    scorer_preset: Annotated[
        Preset, typer.Option(metavar="W", help="Weights: default, strict, performance, quality.")
    ] = "default",
    ves: Annotated[bool, typer.Option("--ves", help="Time right answers against gold too; use --jobs 1.")] = False,
    out: Annotated[
        Path,
        typer.Option("--out", "--output", metavar="DIR", help="Folder of the run; one that is there goes on."),
    ] = Path("results"),
    retry_unanswered: Annotated[
        bool, typer.Option("--retry-unanswered", help="Ask again where an earlier try got no reply.")
    ] = False,
    compare: Annotated[
        tuple[Path, Path] | None, typer.Option(metavar="A B", help="Compare two folders of runs instead.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")] = False,
) -> None:
    """Ask agents the tasks' questions, run what they write, and compare it with gold."""
    from eval.assessment import Filters, Options, SelectionError, select_tasks

    if compare:
        _compare(*compare, out)
        return
    commands = [*(["text2sql="] if spawn else []), *(spawn_command or [])]
    if not agent and not commands:
        _refuse("Nobody to ask: give --agent URL, --spawn or --spawn-command CMD.")
    if any(not _named(command)[1].strip() for command in spawn_command or []):
        _refuse("--spawn-command has no command.")
    filters = Filters(_words(schema), _words(difficulty), _words(tags), _words(ids), limit)
    try:
        selection = select_tasks(
            tasks, filters, dialect=dialect, engine=engine, databases=databases, suites=test_suites, samples=samples
        )
    except SelectionError as error:
        _refuse(str(error))
    options = Options(
        preset=scorer_preset, timeout=timeout, jobs=jobs, judges=1 if ves else 0, sql_seconds=sql_seconds, timed=ves
    )
    raise typer.Exit(
        _run(selection, agent or [], commands, protocol, options, on, samples, out, retry_unanswered, quiet)
    )


def _run(
    selection: Selection,
    agents: Sequence[str],
    commands: Sequence[str],
    protocol: Protocol,
    options: Options,
    on: str | None,
    samples: int,
    out: Path,
    retry: bool,
    quiet: bool,
) -> int:
    from eval.assessment.records import TaskResult
    from eval.assessment.subprocesses import SpawnError
    from eval.run_folder import RunFolder, RunFolderError

    places = [*(_named(a) for a in agents), *(_named(c) for c in commands)]
    names = [name for name, _ in places]
    if len(set(names)) < len(names):
        _refuse(f"Two agents have the same name: {', '.join(names)}. Write NAME=URL.")
    settings = {
        "source": selection.source,
        "task_count": len(selection.assignments),
        "tasks": selection.fingerprint,
        "participants": [{"name": name, "place": place or "spawned"} for name, place in places],
        "protocol": protocol,
        "preset": options.preset,
        "timeout": options.timeout,
        "sql_seconds": options.sql_seconds,
        "ves": options.timed,
        "samples": samples,
    }
    try:
        with RunFolder(out, settings, TaskResult) as folder:
            if retry:
                folder.results = [r for r in folder.results if not _unanswered(r)]
            code = 0
            try:
                if len(folder.results) < len(selection.assignments) * len(places):
                    with _participants(agents, commands, protocol) as participants:
                        _assess(selection, participants, options, on, folder, quiet)
            except KeyboardInterrupt:
                code = INTERRUPTED
            _write_reports(folder)
            return code
    except (SpawnError, RunFolderError, InputError) as error:
        _refuse(str(error))
    except OSError as error:
        _refuse(f"{error.filename or out} cannot be written: {error.strerror}.")


def _assess(
    selection: Selection,
    participants: Sequence[Participant],
    options: Options,
    on: str | None,
    folder: RunFolder[TaskResult],
    quiet: bool,
) -> None:
    """Raises InputError for a cluster that cannot be reached, LineError for a task that its worker did not survive."""
    from eval.assessment import assess, assessing
    from eval.parallel import Lasting, results_in_order

    done = {r.key for r in folder.results}
    total = len(selection.assignments) * len(participants)
    stream = None if quiet else sys.stderr
    if done and stream:
        stream.write(f"{len(done)} of {total} results are there already\n")
    right = sum(r.right for r in folder.results)
    progress = Progress(stream, lambda: f"{len(folder.results)} of {total}, {right} right", last=False)

    def on_result(result: TaskResult) -> None:
        nonlocal right
        folder.add(result)
        right += result.right
        progress.show()

    try:
        if on is None:
            asyncio.run(assess(selection.assignments, participants, options, on_result=on_result, done=done))
            return
        left = (
            {"assignment": assignment, "participant": whom.name}
            for assignment in selection.assignments
            for whom in participants
            if (whom.name, assignment.task.id) not in done
        )
        work = Lasting(functools.partial(assessing, participants, options))
        for found in results_in_order(work, left, options.jobs, on, progress=stream):
            on_result(found["result"])
    finally:
        progress.end()


@contextlib.contextmanager
def _participants(agents: Sequence[str], commands: Sequence[str], protocol: Protocol) -> Iterator[list[Participant]]:
    """All participants; those started here are stopped at the end of the block."""
    from eval.assessment import participant
    from eval.assessment.subprocesses import OURS, spawned

    with contextlib.ExitStack() as stack:
        participants = [participant(*_named(a), protocol) for a in agents]
        for name, command in map(_named, commands):
            url = stack.enter_context(spawned(command or OURS))
            participants.append(participant(name, url, protocol))
        yield participants


def _named(given: str) -> tuple[str, str]:
    """`NAME=URL` or `NAME=COMMAND`; without a name, the host or the command's first word."""
    name, equals, rest = given.partition("=")
    if equals and name and not any(mark in name for mark in "/: \t"):
        return name, rest
    place = given.partition("://")[2]
    return (place.partition("/")[0] or given.split()[0].rpartition("/")[2] if given.strip() else "agent"), given


def _unanswered(result: TaskResult) -> bool:
    return result.answer.failure in ("unreachable", "timeout", "http_error", "unreadable")


def _write_reports(folder: RunFolder[TaskResult]) -> None:
    """Write the reports, and print a line for each participant."""
    from eval.report import figures_lines, results_csv, summary_markdown

    results = sorted(folder.results, key=lambda r: (r.participant, r.database, r.task_id))
    summary, table = (folder.path / name for name in ("summary.md", "results.csv"))
    summary.write_text(summary_markdown(folder.settings, results), encoding="utf-8")
    table.write_text(results_csv(results), encoding="utf-8")
    for line in figures_lines(results):
        typer.echo(line)
    typer.echo(f"{summary}, {table}, {folder.path / 'results.jsonl'}")


def _compare(first: Path, second: Path, out: Path) -> None:
    from eval.report import compare, comparison_markdown, verdict
    from eval.run_folder import RunFolderError

    try:
        (name_a, a), (name_b, b) = _one_participant(first), _one_participant(second)
        if name_a == name_b:
            name_a, name_b = f"{name_a} ({first.name or first})", f"{name_b} ({second.name or second})"
        comparison = compare(name_a, a, name_b, b)
        out.mkdir(parents=True, exist_ok=True)
        (out / "comparison.md").write_text(comparison_markdown(comparison), encoding="utf-8")
    except (RunFolderError, ValueError) as error:
        _refuse(str(error))
    except OSError as error:
        _refuse(f"{error.filename or out} cannot be written: {error.strerror}.")
    typer.echo(verdict(comparison))
    typer.echo(str(out / "comparison.md"))


def _one_participant(place: Path) -> tuple[str, list[TaskResult]]:
    """A folder with one participant, or `FOLDER:NAME` for one of several. Raises RunFolderError, ValueError."""
    from eval.assessment.records import TaskResult
    from eval.run_folder import load_run

    folder, name = place, ""
    if not place.exists() and ":" in place.name:
        folder, name = place.with_name(place.name.rpartition(":")[0]), place.name.rpartition(":")[2]
    _, results = load_run(folder, TaskResult)
    names = sorted({r.participant for r in results})
    if name and name not in names:
        raise ValueError(f"{folder} has no participant {name!r}; it has {', '.join(names)}")
    if not name and len(names) != 1:
        raise ValueError(f"{folder} has {len(names)} participants ({', '.join(names)}): write {folder}:NAME")
    name = name or names[0]
    return name, [r for r in results if r.participant == name]


def _words(given: str) -> tuple[str, ...]:
    return tuple(word for part in given.split(",") if (word := part.strip()))


def _refuse(message: str) -> NoReturn:
    """End with a sentence; a name at its beginning stays as it is written."""
    if message.partition(" ")[0].isalpha():
        message = message[0].upper() + message[1:]
    typer.echo(message if message.endswith(".") else f"{message}.", err=True)
    raise typer.Exit(USAGE)


def main() -> None:
    """Entry point of `python -m eval.run_benchmark`."""
    app(prog_name="python -m eval.run_benchmark")


if __name__ == "__main__":
    main()
