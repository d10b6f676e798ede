"""Check that every gold query holds, and that every wrong query fails, on each engine.

In: tasks, and the engines to run them on. Out: a `Violation` for each broken rule. A gold query must pass the guard,
name nothing that does not exist, run, return rows, leave no ties when it orders, and give the same result on every
engine. A wrong query must also run, and must not give gold's result. Tags that name a form of SQL must match the forms
of the gold query (`FORMS`); the other tags say what a question is about, and only a person can choose them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from sqlglot import exp

from eval.databases import Database, ExecutionResult, Limits, open_database
from eval.metrics.comparison import same_result
from eval.schema import Dialect, Schema
from eval.sql import ParsedQuery, check, facts, parse, parsed_from_tree, resolve
from eval.sql.traversal import from_items
from eval.tasks.cache_folder import cache_folder, kept_file
from eval.tasks.demos import demo_named, demo_path, file_name
from eval.tasks.library.task import Task

LIMITS = Limits(seconds=60.0, rows=50_000)


@dataclass(frozen=True, slots=True)
class Violation:
    task: str
    engine: Dialect
    what: str


@dataclass(frozen=True, slots=True)
class EngineVerdict:
    engine: Dialect
    golds: int
    golds_right: int
    wrong: int
    wrong_failed: int
    seconds: float
    """Time in the engine, over all statements."""


@dataclass(frozen=True, slots=True)
class Report:
    engines: tuple[EngineVerdict, ...]
    violations: tuple[Violation, ...]


@dataclass(frozen=True, slots=True)
class _Outcome:
    gold: ExecutionResult | None
    ordered: bool
    gold_problems: tuple[str, ...]
    wrong_problems: tuple[str, ...]
    """One for each wrong query that does not run or has gold's result."""
    seconds: float


def check_tasks(
    tasks: Sequence[Task],
    databases: Mapping[Dialect, Mapping[str, Database]],
    *,
    jobs: int = 1,
    on_done: Callable[[], None] = lambda: None,
) -> Report:
    """Check every task on every engine. `databases`: for each engine, the opened demos by id; `jobs`: tasks run in
    parallel."""

    def attempt(task: Task) -> dict[Dialect, _Outcome]:
        outcomes = {dialect: _try(task, demos[task.database]) for dialect, demos in databases.items()}
        on_done()
        return outcomes

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        tried = list(zip(tasks, pool.map(attempt, tasks), strict=True))
    violations = [v for task, outcomes in tried for v in _violations(task, outcomes)]
    violations += [Violation(task.id, next(iter(databases)), what) for task in tasks for what in _tag_problems(task)]
    verdicts = [_verdict(dialect, [(t, o[dialect]) for t, o in tried], violations) for dialect in databases]
    return Report(tuple(verdicts), tuple(violations))


def _try(task: Task, database: Database) -> _Outcome:
    dialect, schema = database.dialect, database.schema()
    gold, parsed, problems = _run(task.gold.on(dialect), database, schema)
    ordered = bool(facts(parsed).order_by)
    seconds = gold.execution_time_ms / 1000 if gold else 0.0
    if gold:
        problems += _result_problems(task, gold)
        problems += _open_ties(parsed, database)
    unfailed: list[str] = []
    for number, wrong in enumerate(task.wrong, 1):
        result, _, problem = _run(wrong.query.on(dialect), database, schema)
        seconds += result.execution_time_ms / 1000 if result else 0.0
        if problem:
            unfailed.append(f"wrong query {number} ({wrong.note}) does not run: {problem[0]}")
        elif gold and result and same_result(gold, result, ordered=ordered):
            unfailed.append(f"wrong query {number} ({wrong.note}) gives gold's result")
    return _Outcome(gold, ordered, tuple(problems), tuple(unfailed), seconds)


def _run(sql: str, database: Database, schema: Schema) -> tuple[ExecutionResult | None, ParsedQuery, list[str]]:
    """The result, if the query ran, and the reasons for any failure."""
    parsed = parse(sql, database.dialect)
    if parsed.error:
        return None, parsed, [f"does not parse: {parsed.error}"]
    verdict = check(parsed, schema)
    if verdict.statement is None:
        return None, parsed, [f"refused: {verdict.reason}"]
    phantoms = resolve(parsed, schema).phantoms
    problems = [f"unknown {phantom.kind} {phantom.name}" for phantom in phantoms]
    result = database.execute(verdict.statement, limits=LIMITS)
    if not result.ok:
        return None, parsed, [*problems, f"{result.status}: {result.error}"]
    return result, parsed, problems


def _result_problems(task: Task, gold: ExecutionResult) -> list[str]:
    if gold.truncated:
        return ["gold's result is longer than a task should have"]
    if ("empty" in task.tags) != (not gold.rows):
        return ["gold returns no rows" if not gold.rows else "tagged empty, but gold returns rows"]
    if gold.rows and all(cell is None for row in gold.rows for cell in row):
        return ["gold returns nothing but NULL"]
    return []


def _tag_problems(task: Task) -> Iterator[str]:
    try:
        used = set(forms(task.gold.sql))
    except ValueError:
        return  # already reported by the run
    tagged = set(task.tags) & set(FORMS)
    if used != tagged:
        named, found = (", ".join(sorted(tags)) or "none" for tags in (tagged, used))
        yield f"its tags for forms of SQL are {named}, gold has {found}"


def _open_ties(parsed: ParsedQuery, database: Database) -> list[str]:
    """Rows whose order gold's ORDER BY leaves open, up to the first row that its LIMIT cuts off."""
    keyed = with_sort_keys(parsed)
    if keyed is None:
        return []
    statement = check(keyed.query).statement
    if statement is None:
        return ["its order cannot be checked: the query with sort keys is refused"]
    result = database.execute(statement, limits=LIMITS)
    if not result.ok:
        return [f"its order cannot be checked: {result.error}"]
    rows = {row[keyed.width :]: row for row in reversed(result.rows)}
    tied = len(result.rows) - len(rows)
    return [f"its ORDER BY leaves {tied} rows tied"] if tied else []


def _violations(task: Task, outcomes: Mapping[Dialect, _Outcome]) -> Iterator[Violation]:
    (first, reference), *others = outcomes.items()
    for dialect, outcome in outcomes.items():
        for what in (*outcome.gold_problems, *outcome.wrong_problems):
            yield Violation(task.id, dialect, what)
    for dialect, outcome in others:
        if reference.gold and outcome.gold and not same_result(reference.gold, outcome.gold, ordered=reference.ordered):
            yield Violation(task.id, dialect, f"gold gives another result than on {first}")


def _verdict(
    dialect: Dialect, tried: Sequence[tuple[Task, _Outcome]], violations: Iterable[Violation]
) -> EngineVerdict:
    unfailed = sum(len(outcome.wrong_problems) for _, outcome in tried)
    wrong = sum(len(task.wrong) for task, _ in tried)
    accused = {v.task for v in violations if v.engine == dialect and not v.what.startswith("wrong query")}
    seconds = sum(outcome.seconds for _, outcome in tried)
    return EngineVerdict(dialect, len(tried), len(tried) - len(accused), wrong, wrong - unfailed, seconds)


@contextlib.contextmanager
def demos_on(engine: str, ids: Iterable[str], folder: Path | None = None) -> Iterator[dict[str, Database]]:
    """The demos with these ids, opened. `sqlite` and `duckdb` use files in `folder` (default: the cache), built if they
    are missing. A server's URL must contain the demos; missing tables are loaded first.

    Raises DatabaseError.
    """
    with contextlib.ExitStack() as stack:
        if engine in ("sqlite", "duckdb"):
            paths = {demo_id: demo_file(engine, demo_id, folder) for demo_id in ids}
            yield {demo_id: stack.enter_context(open_database(path)) for demo_id, path in paths.items()}
            return
        with open_database(engine) as database:
            present = {table.name for table in database.schema().tables}
        for demo_id in ids:
            if not present & {table.name for table in demo_named(demo_id).tables}:
                demo_named(demo_id).build(engine)
        yield dict.fromkeys(ids, stack.enter_context(open_database(engine)))


def demo_file(engine: str, demo_id: str, folder: Path | None = None) -> Path:
    """A demo as a `sqlite` or `duckdb` file in `folder` (default: the cache), built if it is missing. Raises KeyError
    for an unknown demo, DatabaseError."""
    if engine == "sqlite":
        return demo_path(demo_id, folder)
    demo = demo_named(demo_id)
    place = (folder or cache_folder()) / file_name(demo, "duckdb")
    return kept_file(place, lambda path: demo.build(f"duckdb:///{quote(str(path))}"))


@dataclass(frozen=True, slots=True)
class KeyedQuery:
    """A query whose last columns are its sort keys."""

    query: ParsedQuery
    width: int
    """Number of columns before the keys."""


def with_sort_keys(parsed: ParsedQuery) -> KeyedQuery | None:
    """None when the outermost query has no ORDER BY, or is DISTINCT or a set operation. In the last two cases the sort
    keys are columns of the result, so two rows can tie only if they look the same."""
    tree = parsed.tree
    if not isinstance(tree, exp.Select) or tree.args.get("distinct") or not tree.args.get("order"):
        return None
    keyed = tree.copy()
    names = {projection.alias_or_name: projection.unalias() for projection in keyed.selects}
    width = len(keyed.selects)
    for number, ordered in enumerate(keyed.args["order"].expressions, 1):
        key = ordered.this
        if isinstance(key, exp.Column) and not key.table and key.name in names:
            key = names[key.name]
        keyed.select(exp.alias_(key.copy(), f"sort_key_{number}"), copy=False)
    limit = keyed.args.get("limit")
    if limit:
        keyed.limit(int(limit.expression.name) + 1, copy=False)
    return KeyedQuery(parsed_from_tree(keyed, parsed.dialect), width)


_FORMS: dict[str, Callable[[exp.Expr], bool]] = {
    "aggregate": lambda tree: isinstance(tree, exp.Select) and not tree.args.get("group") and _aggregates(tree),
    "case": lambda tree: tree.find(exp.Case) is not None,
    "correlated": lambda tree: any(_reaches_out(select) for select in tree.find_all(exp.Select)),
    "distinct": lambda tree: tree.find(exp.Distinct) is not None,
    "group-by": lambda tree: tree.find(exp.Group) is not None,
    "having": lambda tree: tree.find(exp.Having) is not None,
    "join": lambda tree: tree.find(exp.Join) is not None,
    "outer-join": lambda tree: any(join.side for join in tree.find_all(exp.Join)),
    "recursive": lambda tree: bool(_recursive_steps(tree)),
    "self-join": lambda tree: any(_joins_itself(select) for select in tree.find_all(exp.Select)),
    "set-operation": lambda tree: any(one not in _recursive_steps(tree) for one in tree.find_all(exp.SetOperation)),
    "subquery": lambda tree: len(list(tree.find_all(exp.Select))) > 1,
    "window": lambda tree: tree.find(exp.Window) is not None,
}
FORMS = tuple(_FORMS)
"""Tags that follow from the gold query's text (SQLite's text, if engines differ)."""


def forms(sql: str) -> tuple[str, ...]:
    """The tags of FORMS that apply to a query. Raises ValueError for a query that does not parse."""
    parsed = parse(sql, "sqlite")
    if parsed.tree is None:
        raise ValueError(parsed.error)
    return tuple(tag for tag, applies in _FORMS.items() if applies(parsed.tree))


def _recursive_steps(tree: exp.Expr) -> list[exp.Expr]:
    """The queries of the CTEs that read themselves."""
    recursive = [with_ for with_ in tree.find_all(exp.With) if with_.args.get("recursive")]
    ctes = [cte for with_ in recursive for cte in with_.expressions]
    return [cte.this for cte in ctes if any(table.name == cte.alias for table in cte.this.find_all(exp.Table))]


def _aggregates(select: exp.Select) -> bool:
    return any(
        call.find_ancestor(exp.Select) is select and call.find_ancestor(exp.Window) is None
        for projection in select.selects
        for call in projection.find_all(exp.AggFunc)
    )


def _reaches_out(select: exp.Select) -> bool:
    """Whether the query refers to a source of an enclosing query."""
    own = {source.alias_or_name for inner in select.find_all(exp.Select) for source in from_items(inner)}
    return any(column.table and column.table not in own for column in select.find_all(exp.Column))


def _joins_itself(select: exp.Select) -> bool:
    names = [source.name for source in from_items(select) if isinstance(source, exp.Table)]
    return len(set(names)) < len(names)
