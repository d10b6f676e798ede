"""Our `compare --mode` figures against those of the official programs, on every recorded answer.

`python -m experiments.official_modes SPIDER BIRD [--python PATH] [--sets NAMES] [--every N] [--suites] [--kept FILE]`:
SPIDER is a checkout of github.com/taoyds/test-suite-sql-eval, BIRD one of github.com/bird-bench/mini_dev, PATH a Python
with what they need (sqlparse, tqdm, func_timeout, numpy, nltk, psycopg2-binary, pymysql). The benchmark and the
recordings are found by TEXT2SQL_BENCH_DIR. The official code runs in processes of its own; none of it is here.
`--suites` compares the test-suite modes instead, on the databases that have one. With `--kept`, figures are appended to
a file as they come, and a later call goes on from there (`--minutes` ends a call in time).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path

from eval.databases import open_database
from eval.metrics.modes import Mode, official_figures
from eval.metrics.suites import suite_databases
from eval.sql import check, parse
from experiments.bench_folder import bench_folder
from experiments.json_lines import write_lines
from experiments.official_evaluator import Item, lay_out, recorded_pairs, said_by

SETS = {
    "spider_dev": ("spider_dev", "spider_dev"),
    "spider_dev_156_runs": ("spider_dev", "spider_dev"),
    "spider_dev_samples": ("spider_dev", "spider_dev"),
    "spider_realistic": ("spider_realistic", "spider_dev"),
    "spider_test_third": ("spider_test_third", "spider_test_third"),
    "splash_dev": ("spider_dev", "spider_dev"),
    "splash_train": ("spider_train", "spider_train"),
    "bird_superhero": ("bird_superhero", "bird_superhero"),
    "classicmodels_llama-3-8b": ("classicmodels", "classicmodels"),
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
    for _ in range(5):
        try:
            return float(work())
        except ZeroDivisionError:  # R-VES drops the times that equal their mean, here all of them: measure again
            continue
        except Exception:
            return 0.0
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

_SHARE = 100
"""Pairs of one share: what is kept at a time."""
Figures = dict[str, float | None]


def official(spider: Path, bird: Path, python: str, items: list[Item]) -> dict[str, Figures]:
    """The official figures, by key."""
    asked = [{key: item[key] for key in ("key", "gold", "sql", "file", "modes")} for item in items]
    return said_by(_OFFICIAL, python, (spider, bird), asked)


def ours(items: list[Item]) -> dict[str, Figures]:
    """Our figures, by key."""
    by_key: dict[str, Figures] = {}
    for item in items:
        suite = partial(suite_databases, tuple(map(Path, item["suite"])))
        with open_database(Path(item["file"]), infer_keys=False) as database:
            measures = official_figures(item["modes"], item["gold"], item["sql"], database, suite=suite, runs=1)
        figures: Figures = {str(mode): value for mode, value in measures.items()}
        if "bird-r-ves" in figures:  # the reward depends on the clock; that there is one does not
            figures["bird-r-ves"] = float(bool(figures["bird-r-ves"]))
        by_key[item["key"]] = figures
    return by_key


def prepared(names: list[str], suites: bool, folder: Path, every: int = 1) -> list[Item]:
    """The items with their files; every n-th of each recording."""
    items = [
        {"set": name, "folder": SETS[name][1], **pair}
        for name in names
        for pair in islice(recorded_pairs(name, SETS[name][0]), 0, None, every)
    ]
    modes = WITH_SUITE if suites else ONE_DATABASE
    if suites:
        places = lay_out(folder, {item["db"] for item in items})
    else:
        for place in {(item["folder"], item["db"]) for item in items}:
            alone = folder / place[0] / place[1]
            alone.mkdir(parents=True)
            (alone / "original.sqlite").symlink_to(bench_folder() / place[0] / "databases" / f"{place[1]}.sqlite")
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


def _sign(item: Item) -> str:
    """What a kept figure belongs to."""
    parts = [item["folder"], item["db"], item["gold"], item["sql"], *item["modes"]]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def measured(items: list[Item], options: argparse.Namespace) -> dict[str, tuple[Figures, Figures]]:
    """The official figures and ours by `_sign`, as far as the time allows; earlier ones from the kept file."""
    by_sign: dict[str, tuple[Figures, Figures]] = {}
    if options.kept and options.kept.exists():
        for line in options.kept.read_text().splitlines():
            sign, theirs, mine = json.loads(line)
            by_sign[sign] = theirs, mine
    missing = [item for item in items if _sign(item) not in by_sign]
    shares = [missing[at : at + _SHARE] for at in range(0, len(missing), _SHARE)]
    print(f"{len(items) - len(missing)} pairs kept, {len(missing)} to compare", file=sys.stderr)
    ask, until = (
        partial(official, options.spider, options.bird, options.python),
        time.monotonic() + options.minutes * 60,
    )
    with ProcessPoolExecutor(options.jobs) as pool:
        for at, share in enumerate(shares, 1):
            if time.monotonic() > until:
                break
            asked, mine = pool.submit(ask, share), ours(share)
            theirs = asked.result()
            both = {_sign(item): (theirs[item["key"]], mine[item["key"]]) for item in share}
            by_sign |= both
            if options.kept:
                with options.kept.open("a") as file:
                    file.writelines(json.dumps([sign, *figures]) + "\n" for sign, figures in both.items())
            print(f"  {at} of {len(shares)}", file=sys.stderr)
    return by_sign


def table(items: list[Item], by_sign: dict[str, tuple[Figures, Figures]]) -> tuple[list[str], list[Item]]:
    """A line for each recording and mode, and every disagreement."""
    total, agreed, refused = Counter[str](), Counter[str](), Counter[str]()
    differing = []
    for item in items:
        if (figures := by_sign.get(_sign(item))) is None:
            continue
        for mode in item["modes"]:
            theirs, we = figures[0][mode], figures[1][mode]
            row = f"{item['set']} {mode}"
            if theirs is None or we is None:
                continue
            total[row] += item["n"]
            if abs(theirs - we) < 1e-9:
                agreed[row] += item["n"]
                continue
            by_guard = check(parse(item["sql"], "sqlite")).statement is None
            refused[row] += item["n"] * by_guard
            differing.append({**item, "mode": mode, "official": theirs, "ours": we, "refused by the guard": by_guard})
    lines = [
        f"{row}: {agreed[row]} of {count} ({100 * agreed[row] / count:.3f} %), guard refuses {refused[row]}"
        for row, count in total.items()
    ]
    return lines, differing


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
    parser.add_argument("--kept", type=Path, help="JSON lines: figures of this call and of earlier ones")
    parser.add_argument("--minutes", type=float, default=10_000.0, help="Compare no more after so many minutes.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        items = prepared(options.sets.split(","), options.suites, Path(temporary), options.every)
        print(f"{len(items)} different pairs, {sum(i['n'] for i in items)} recorded answers", file=sys.stderr)
        by_sign = measured(items, options)
    lines, differing = table(items, by_sign)
    if options.out:
        write_lines(options.out, differing)
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
