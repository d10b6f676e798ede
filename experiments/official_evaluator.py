"""Our EX and TS against the official test-suite evaluation, on every recorded answer, with each disagreement explained.

`python -m experiments.official_evaluator EVALUATOR [--python PATH] [--limit N] [--out FILE]`: EVALUATOR is a checkout
of github.com/taoyds/test-suite-sql-eval, PATH a Python that has its requirements (sqlparse, tqdm). The benchmark and
the recordings are found by TEXT2SQL_BENCH_DIR. The official code runs in a separate process; none of it is here.

Both run with DISTINCT kept (`--keep_distinct`), because a missing DISTINCT is an error to a user, and without
`--plug_value`. A disagreement is explained by running ours again with one of the official rules in place of ours.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice, permutations
from pathlib import Path
from typing import Any

from eval.databases import Database, ExecutionResult, open_database
from eval.metrics.comparison import same_result
from eval.metrics.items import compare_items, executed
from eval.metrics.suites import suite_databases, suite_files
from eval.sql import check, facts, parse
from experiments.bench_folder import bench_folder, recorded_folder
from experiments.json_lines import read_lines, write_lines

_OFFICIAL = """
import json, sys
sys.path.insert(0, sys.argv[1])
from exec_eval import eval_exec_match
for line in sys.stdin:
    item = json.loads(line)
    out = {"key": item["key"]}
    for name in ("ex", "ts"):
        try:
            out[name] = bool(eval_exec_match(item[name], item["sql"], item["gold"], False, True, False))
        except AssertionError as error:
            out[name] = None
        except Exception as error:
            out[name] = f"{type(error).__name__}: {error}"
    print(json.dumps(out), flush=True)
"""


Item = dict[str, Any]


def recorded_pairs(recording: str, questions: str) -> Iterator[Item]:
    """One item for each distinct pair of gold and answer: {db, gold, sql, n}, where n answers gave that query."""
    known = read_lines(bench_folder() / questions / "questions.jsonl")
    golds = {question["id"]: question["gold_sql"] for question in known if question["gold_ok"]}
    pairs: Counter[tuple[str, str, str]] = Counter()
    for answer in read_lines(recorded_folder() / f"{recording}.jsonl"):
        gold = golds.get(answer["id"])
        if gold is None:
            continue
        for sql in answer.get("samples", [answer.get("sql")]):
            pairs[answer["db"], gold, sql] += len(answer.get("systems", [None]))
    for (db, gold, sql), n in sorted(pairs.items()):
        yield {"db": db, "gold": gold, "sql": sql, "n": n}


def lay_out(folder: Path, names: set[str]) -> dict[str, tuple[Path, tuple[Path, ...]]]:
    """The folders that the official code requires: the database alone, and the database with its replicas."""
    places, benchmark = {}, bench_folder() / "spider_dev"
    for name in sorted(names):
        original = benchmark / "databases" / f"{name}.sqlite"
        suite = suite_files(benchmark / "test_suite", name, folder / "cache")
        alone, among = folder / "ex" / name, folder / "ts" / name
        for place in (alone, among):
            place.mkdir(parents=True)
            (place / "original.sqlite").symlink_to(original)
        for file in suite:
            (among / file.name).symlink_to(file)
        places[name] = (original, suite)
    return places


def official(evaluator: Path, python: str, folder: Path, items: list[Item]) -> dict[str, Item]:
    """The official verdict on each item, by key."""
    placed = [
        {key: item[key] for key in ("key", "gold", "sql")}
        | {measure: str(folder / measure / item["db"] / "original.sqlite") for measure in ("ex", "ts")}
        for item in items
    ]
    return said_by(_OFFICIAL, python, (evaluator,), placed)


def said_by(script: str, python: str, checkouts: Sequence[Path], items: list[Item]) -> dict[str, Item]:
    """What the official code says of each item, by key; the script runs in a process of its own."""
    command = [python, "-c", script, *map(str, checkouts)]
    lines = "".join(json.dumps(item) + "\n" for item in items)
    ran = subprocess.run(command, input=lines, capture_output=True, text=True, cwd=checkouts[0])
    said = (json.loads(line) for line in ran.stdout.splitlines() if line.startswith('{"key"'))
    by_key = {one.pop("key"): one for one in said}
    if len(by_key) < len(items):
        raise SystemExit(f"The official programs gave {len(by_key)} of {len(items)} verdicts: {ran.stderr[-500:]}")
    return by_key


def ours(items: list[Item], places: dict[str, tuple[Path, tuple[Path, ...]]]) -> dict[str, Item]:
    """Our verdict on each item, by key."""
    verdicts: dict[str, Item] = {}
    for item in items:
        original, suite = places[item["db"]]
        with open_database(original, infer_keys=False) as database:
            measured = compare_items(item["gold"], item["sql"], database, suite=suite_databases(suite))
        verdicts[item["key"]] = {"ex": measured.ex, "ts": measured.ts, "error": measured.error}
    return verdicts


def reason(item: Item, measure: str, theirs: object, place: tuple[Path, tuple[Path, ...]]) -> str:
    """Why the two differ: the first official rule that, used in place of ours, gives the official verdict."""
    gold, other = parse(item["gold"], "sqlite"), parse(item["sql"], "sqlite")
    ordered = bool(facts(gold).order_by)
    ordered_by_word = "order by" in item["gold"].lower()
    rules = {
        "columns in another order": (ordered, True, True),
        "an ORDER BY inside the gold query counts as one of the whole": (ordered_by_word, False, True),
        "both of these": (ordered_by_word, True, True),
    }
    if check(other).statement is None:
        return "the guard refuses the answer"
    for name, (is_ordered, permuted, columns) in rules.items():
        if _verdict(item["gold"], item["sql"], place, measure, is_ordered, permuted, columns) == theirs:
            return name
    mixed = any(
        _number_as_text(_run(database, item["gold"]), _run(database, item["sql"]))
        for database in _databases(place, measure)
    )
    return "a number and the text that writes it are equal to us" if mixed and not theirs else "unexplained"


def _number_as_text(expected: ExecutionResult, actual: ExecutionResult) -> bool:
    """Whether a column holds texts in one result and numbers in the other."""
    for a, b in zip(zip(*expected.rows, strict=True), zip(*actual.rows, strict=True), strict=False):
        kinds, others = ({type(v) for v in column if v is not None} for column in (a, b))
        if (kinds <= {str}) != (others <= {str}):
            return True
    return False


def _verdict(
    gold: str,
    sql: str,
    place: tuple[Path, tuple[Path, ...]],
    measure: str,
    ordered: bool,
    permuted: bool,
    columns: bool,
) -> bool:
    results = ((_run(database, gold), _run(database, sql)) for database in _databases(place, measure))
    return all(gold.ok and actual.ok and _same(gold, actual, ordered, permuted, columns) for gold, actual in results)


def _databases(place: tuple[Path, tuple[Path, ...]], measure: str) -> Iterator[Database]:
    files = (place[0], *place[1]) if measure == "ts" else (place[0],)
    return suite_databases(files)


def _run(database: Database, sql: str) -> ExecutionResult:
    return executed(parse(sql, "sqlite"), database)


def _same(expected: ExecutionResult, actual: ExecutionResult, ordered: bool, permuted: bool, columns: bool) -> bool:
    if same_result(expected, actual, ordered=ordered, columns_count=columns):
        return True
    width = len(actual.columns)
    if not permuted or width != len(expected.columns) or width > 6:
        return False
    return any(
        same_result(expected.rows, [tuple(row[i] for i in order) for row in actual.rows], ordered=ordered)
        for order in permutations(range(width))
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("evaluator", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="JSON lines: every disagreement")
    options = parser.parse_args()
    pairs = islice(recorded_pairs("spider_dev", "spider_dev"), options.limit)
    items = [{"key": str(number), **pair} for number, pair in enumerate(pairs)]
    print(f"{len(items)} different pairs, {sum(i['n'] for i in items)} recorded answers", file=sys.stderr)
    with tempfile.TemporaryDirectory() as temporary, ProcessPoolExecutor(options.jobs) as pool:
        folder = Path(temporary)
        places = lay_out(folder, {item["db"] for item in items})
        shares = [items[i :: options.jobs * 8] for i in range(options.jobs * 8)]
        theirs: dict[str, Item] = {}
        mine: dict[str, Item] = {}
        waiting = [
            (pool.submit(official, options.evaluator, options.python, folder, s), pool.submit(ours, s, places))
            for s in shares
            if s
        ]
        for at, (a, b) in enumerate(waiting, 1):
            theirs |= a.result()
            mine |= b.result()
            print(f"  {at} of {len(waiting)}", file=sys.stderr)
        reasons: dict[str, Counter[str]] = {"ex": Counter(), "ts": Counter()}
        agreed: Counter[str] = Counter()
        lines = []
        for item in items:
            for measure in ("ex", "ts"):
                verdict, we = theirs[item["key"]][measure], mine[item["key"]][measure]
                if verdict == we:
                    agreed[measure] += item["n"]
                    continue
                why = reason(item, measure, verdict, places[item["db"]])
                reasons[measure][why] += item["n"]
                lines.append({**item, "measure": measure, "official": verdict, "ours": we, "reason": why})
    if options.out:
        write_lines(options.out, lines)
    total = sum(i["n"] for i in items)
    for measure in ("ex", "ts"):
        print(f"{measure.upper()}: {agreed[measure]} of {total} verdicts agree")
        for why, count in reasons[measure].most_common():
            print(f"  {count:5}  {why}")
    return 1 if any(line["reason"] == "unexplained" for line in lines) else 0


if __name__ == "__main__":
    raise SystemExit(main())
