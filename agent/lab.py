"""`python -m agent.lab …`: the command of the lab, which is a distribution of its own (docs/lab.md)."""

import importlib.util
import runpy
import sys

if __name__ == "__main__":
    if importlib.util.find_spec("text2sql_lab") is None:
        sys.exit("The lab is not installed: pip install 'askwell[lab]'")
    runpy.run_module("text2sql_lab", run_name="__main__", alter_sys=True)
