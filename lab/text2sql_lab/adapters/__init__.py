"""Adapters (LoRA, QLoRA) trained on verified questions of one's own, and the proof that decides whether to use one.

`data` renders questions as the agent's own prompts, `train` trains, `gate` compares adapter and base on held-out
questions, `export` hands the adapter to vLLM or Ollama. `python -m agent.lab adapter` has the commands. No module
imports torch before a function needs it.
"""

__all__ = ["STRATEGY"]

STRATEGY = "cascade"
"""A small model writes queries behind the engine; planning and judging are not asked of it."""
