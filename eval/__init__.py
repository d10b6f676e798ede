"""Runs and judges SQL. No language model in here; `eval` never imports `agent`."""
