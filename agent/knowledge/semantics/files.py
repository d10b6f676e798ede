"""Files of semantic models: which format is it, reading, writing.

In: a path. Out: a `SemanticModel`, or `BadMemory` for a file that cannot be read or has none of the known forms.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from agent.knowledge.memory.glossary import read_glossary
from agent.knowledge.memory.lines import BadMemory, Problem, kept_while_unchanged, text_of, yaml_node
from agent.knowledge.semantics.dbt import from_dbt
from agent.knowledge.semantics.model import Expression, Metric, SemanticModel
from agent.knowledge.semantics.ossie import from_ossie, to_ossie

if TYPE_CHECKING:
    from agent.config import JudgingSettings


def semantic_model_of(settings: JudgingSettings) -> SemanticModel | None:
    """The model that the settings name. Raises BadMemory."""
    path = settings.semantic_model or settings.glossary
    return load_model(Path(path)) if path else None


def read_model(path: Path) -> SemanticModel:
    """Read a file of any known form. Raises BadMemory."""
    if path.suffix.lower() == ".json":
        text = text_of(path)
        try:
            document = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadMemory(path, [Problem(1, f"no JSON: {str(error)[:200]}")]) from None
    else:
        document = yaml_node(path).plain()
    if isinstance(document, dict):
        if "semantic_model" in document:
            return from_ossie(document)
        if "semantic_models" in document:
            return from_dbt(document)
        if document.keys() <= {"terms", "metrics", "filters"}:  # a glossary's metrics name real tables
            entries = [e for e in read_glossary(path).entries if e.kind == "metric"]
            metrics = (Metric(e.name, Expression(e.expression, "database"), e.synonyms, e.note) for e in entries)
            return SemanticModel("glossary", metrics=tuple(metrics))
    expected = "semantic_model (Ossie), semantic_models (dbt) or terms, metrics, filters (glossary)"
    raise BadMemory(path, [Problem(1, f"{expected} is expected")])


load_model = kept_while_unchanged(read_model)
"""The same, read again only when the file has changed."""


def written(model: SemanticModel) -> str:
    """The model as an Ossie document in YAML."""
    import yaml

    return str(yaml.safe_dump(to_ossie(model), sort_keys=False, allow_unicode=True, width=110))
