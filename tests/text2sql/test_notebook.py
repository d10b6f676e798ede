"""The example notebook runs, and its pictures are there."""

from __future__ import annotations

from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


@pytest.mark.filterwarnings("ignore")
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
    nbformat = pytest.importorskip("nbformat", reason="needs nbformat")
    for package in ("ipykernel", "pandas", "matplotlib"):
        pytest.importorskip(package, reason=f"needs {package}")
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES.parents[1]))
    notebook = nbformat.read(EXAMPLES / "notebook.ipynb", as_version=4)

    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()

    shown = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])]
    views = [data["text/html"] for data in shown if "text/html" in data]
    assert any("<img" in view and "<table" in view and "SELECT" in view for view in views)
    assert any("image/png" in data for data in shown)
