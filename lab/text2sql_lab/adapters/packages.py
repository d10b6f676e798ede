"""Says which packages of `askwell[adapters]` are missing, before anything is begun."""

from __future__ import annotations

import importlib.util
import os
import warnings

from eval.errors import Text2SQLError

TRAINING = ("torch", "transformers", "peft", "trl", "accelerate", "datasets")


class PackagesMissing(Text2SQLError):
    """Packages that training needs are not installed."""


def need(*names: str) -> None:
    """Raise PackagesMissing unless the packages are installed. Nothing is imported, and later imports stay off the
    network unless the environment allows it."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        raise PackagesMissing(f"Not installed: {', '.join(missing)}. pip install 'askwell[adapters]'")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("TQDM_DISABLE", "1")  # the bar of a GGUF file, which transformers' own switch leaves on


def quiet() -> None:
    """Turn off the progress bars and remarks of the libraries; the commands show their own."""
    import transformers

    warnings.filterwarnings("ignore", category=FutureWarning, module=r"(transformers|peft|trl)\b")
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    if importlib.util.find_spec("datasets"):
        import datasets

        datasets.disable_progress_bars()
