"""The demo databases and the task library."""

from eval.tasks.demos import DEMOS, Demo, demo_ids, demo_named, demo_path

__all__ = ["DEMOS", "Demo", "demo_ids", "demo_named", "demo_path"]
