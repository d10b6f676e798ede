"""`python -m experiments.demo_databases`: write the archives of the demo databases into `eval/tasks/data`."""

from __future__ import annotations

import json
import lzma
from dataclasses import asdict
from pathlib import Path

from eval.tasks import archive, demo_ids
from experiments.demo_databases import generated

_KEPT = ("name", "columns", "primary_key", "foreign_keys", "indexes", "comment")


def main() -> None:
    folder = Path(archive.__file__).with_name("data")
    folder.mkdir(exist_ok=True)
    for demo_id in demo_ids():
        tables = list(generated(demo_id))
        definitions = [{"table": asdict(table.table), "checks": table.checks} for table, _ in tables]
        for definition in definitions:
            definition["table"] = {name: definition["table"][name] for name in _KEPT}  # type: ignore[index]
        lines = [definitions, *([list(column) for column in zip(*rows, strict=True)] for _, rows in tables)]
        text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
        target = folder / f"{demo_id}.json.xz"
        target.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
        print(f"{target}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
