"""Our `compare --mode` figures against those of the official programs, on every recorded answer.

`python -m experiments.official_modes SPIDER BIRD [--python PATH] [--sets NAMES] [--every N] [--suites]`: SPIDER is a
checkout of github.com/taoyds/test-suite-sql-eval, BIRD one of github.com/bird-bench/mini_dev, PATH a Python with what
they need (sqlparse, tqdm, func_timeout, numpy, psycopg2-binary, pymysql). The benchmark and the recordings are found as
the tests find them. The official code runs in processes of its own; none of it is here. `--suites` compares the
test-suite modes instead, on the databases that have one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from eval.databases import open_database
from eval.metrics.modes import Mode, official_figures
from eval.metrics.suites import suite_databases
from eval.sql import check, parse
from experiments.official_evaluator import BENCH, RECORDED, lay_out

SETS = {
    "spider_dev": ("spider_dev", "spider_dev"),
    "spider_dev_156_runs": ("spider_dev", "spider_dev"),
    "spider_dev_samples": ("spider_dev", "spider_dev"),
    "spider_realistic": ("spider_realistic", "spider_dev"),
    "spider_test_third": ("spider_test_third", "spider_test_third"),
    "splash_dev": ("spider_dev", "spider_dev"),
    "splash_train": ("spider_train", "spider_train"),
    "bird_superhero": ("bird_superhero", "bird_superhero"),
}
"""Recording → where its gold queries are, where its databases are."""
ONE_DATABASE: tuple[Mode, ...] = ("spider", "spider-keep-distinct", "bird-ex", "bird-soft-f1", "bird-r-ves")
WITH_SUITE: tuple[Mode, ...] = ("test-suite", "test-suite-keep-distinct")

_OFFICIAL = """
import json, sqlite3, sys
sys.path[:0] = [sys.argv[1], sys.argv[2] + "/evaluation"]
from exec_eval import eval_exec_match
from evaluation_ex import calculate_ex
from evaluation_f1 import calculate_f1_score
from evaluation_utils import execute_sql
from evaluation_ves import iterated_execute_sql
def spider(item, keep):
    try:
        return float(eval_exec_match(item["file"], item["sql"], item["gold"], False, keep, False))
    except AssertionError:
        return None
def bird(work):
    try:
        return float(work())
    except Exception:
        return 0.0
def said(item, mode):
    if mode in ("spider", "test-suite"):
        return spider(item, False)
    if mode in ("spider-keep-distinct", "test-suite-keep-distinct"):
        return spider(item, True)
    if mode == "bird-r-ves":
        return float(bird(lambda: iterated_execute_sql(item["sql"], item["gold"], item["file"], 2, "SQLite")) > 0)
    calculate = {"bird-ex": calculate_ex, "bird-soft-f1": calculate_f1_score}[mode]
    return bird(lambda: execute_sql(item["sql"], item["gold"], item["file"], "SQLite", calculate))
for line in sys.stdin:
    item = json.loads(line)
    print(json.dumps({"key": item["key"], **{mode: said(item, mode) for mode in item["modes"]}}), flush=True)
"""

Item = dict[str, Any]
Figures = dict[str, float | None]


def recorded(name: str) -> Iterator[Item]:
    """One item for each distinct pair of gold and answer: {set, db, gold, sql, n}, where n answers gave that query."""
    questions, databases = SETS[name]
    golds = {}
    for line in (BENCH / questions / "questions.jsonl").read_text().splitlines():
        item = json.loads(line)
        if item["gold_ok"]:
            golds[item["id"]] = item["gold_sql"]
    pairs: Counter[tuple[str, str, str]] = Counter()
    for line in (RECORDED / f"{name}.jsonl").read_text().splitlines():
        answer = json.loads(line)
        gold = golds.get(answer["id"])
        if gold is None:
            continue
        for sql in answer.get("samples", [answer.get("sql")]):
            pairs[answer["db"], gold, sql] += len(answer.get("systems", [None]))
    for (db, gold, sql), n in sorted(pairs.items()):
        yield {"set": name, "folder": databases, "db": db, "gold": gold, "sql": sql, "n": n}


def official(spider: Path, bird: Path, python: str, items: list[Item]) -> dict[str, Figures]:
    """The official figures, by key."""
    lines = "".join(json.dumps({k: i[k] for k in ("key", "gold", "sql", "file", "modes")}) + "\n" for i in items)
    command = [python, "-c", _OFFICIAL, str(spider), str(bird)]
    ran = subprocess.run(command, input=lines, capture_output=True, text=True, cwd=spider)
    found = {
        v.pop("key"): v for v in map(json.loads, filter(lambda x: x.startswith('{"key"'), ran.stdout.splitlines()))
    }
    if len(found) < len(items):
        raise SystemExit(f"The official programs gave {len(found)} of {len(items)} verdicts: {ran.stderr[-500:]}")
    return found


def ours(items: list[Item]) -> dict[str, Figures]:
    """Our figures, by key."""
    found: dict[str, Figures] = {}
    for item in items:
        suite = partial(suite_databases, tuple(map(Path, item["suite"])))
        with open_database(Path(item["file"]), infer_keys=False) as database:
            said = official_figures(item["modes"], item["gold"], item["sql"], database, suite=suite, runs=1)
        figures: Figures = {str(mode): value for mode, value in said.items()}
        if "bird-r-ves" in figures:  # the reward depends on the clock; that there is one does not
            figures["bird-r-ves"] = float(bool(figures["bird-r-ves"]))
        found[item["key"]] = figures
    return found


def prepared(names: list[str], suites: bool, folder: Path, every: int = 1) -> list[Item]:
    """The items with their files; every n-th of each recording."""
    items = [item for name in names for item in list(recorded(name))[::every]]
    modes = WITH_SUITE if suites else ONE_DATABASE
    if suites:
        places = lay_out(folder, {item["db"] for item in items})
    else:
        for place in {(item["folder"], item["db"]) for item in items}:
            alone = folder / place[0] / place[1]
            alone.mkdir(parents=True)
            (alone / "original.sqlite").symlink_to(BENCH / place[0] / "databases" / f"{place[1]}.sqlite")
    for number, item in enumerate(items):
        among = folder / ("ts" if suites else item["folder"]) / item["db"]
        replicas = places[item["db"]][1] if suites else ()
        item |= {
            "key": str(number),
            "modes": modes,
            "file": str(among / "original.sqlite"),
            "suite": [str(file) for file in replicas],
        }
    return items


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("spider", type=Path)
    parser.add_argument("bird", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--every", type=int, default=1, metavar="N", help="Only every n-th pair of each recording.")
    parser.add_argument("--suites", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="JSON lines: every disagreement")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, ProcessPoolExecutor(options.jobs) as pool:
        items = prepared(options.sets.split(","), options.suites, Path(temporary), options.every)
        print(f"{len(items)} different pairs, {sum(i['n'] for i in items)} recorded answers", file=sys.stderr)
        shares = [share for i in range(options.jobs * 16) if (share := items[i :: options.jobs * 16])]
        theirs: dict[str, Figures] = {}
        mine: dict[str, Figures] = {}
        ask = partial(official, options.spider, options.bird, options.python)
        waiting = [(pool.submit(ask, share), pool.submit(ours, share)) for share in shares]
        for at, (a, b) in enumerate(waiting, 1):
            theirs |= a.result()
            mine |= b.result()
            print(f"  {at} of {len(waiting)}", file=sys.stderr)
    total, agreed, refused = Counter[str](), Counter[str](), Counter[str]()
    lines = []
    for item in items:
        for mode in item["modes"]:
            said, we = theirs[item["key"]][mode], mine[item["key"]][mode]
            row = f"{item['set']} {mode}"
            if said is None or we is None:
                continue
            total[row] += item["n"]
            if abs(said - we) < 1e-9:
                agreed[row] += item["n"]
                continue
            by_guard = check(parse(item["sql"], "sqlite")).statement is None
            refused[row] += item["n"] * by_guard
            lines.append({**item, "mode": mode, "official": said, "ours": we, "refused by the guard": by_guard})
    if options.out:
        options.out.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for row, count in total.items():
        print(f"{row}: {agreed[row]} of {count} ({100 * agreed[row] / count:.3f} %), guard refuses {refused[row]}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
