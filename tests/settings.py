"""Settings by the names of their variables, without a look at the environment.

`TEXT2SQL_RUN_SECONDS` is the field `run_seconds` here, whichever group holds it.
"""

from __future__ import annotations

from typing import Any

from pydantic.fields import FieldInfo

from agent.config import Settings

GROUPS = {name: field.annotation for name, field in Settings.model_fields.items()}
PLACES: dict[str, tuple[str, str, FieldInfo]] = {
    str(field.alias): (group, name, field)
    for group, annotation in GROUPS.items()
    if annotation is not None
    for name, field in annotation.model_fields.items()
}
"""Variable → its group, its name there, and the field."""


def overridden(config: Settings, **fields: Any) -> Settings:
    """A copy with other values: `overridden(config, run_seconds=1)`."""
    for name, value in fields.items():
        group, field, _ = PLACES[next(v for v in (f"TEXT2SQL_{name.upper()}", name.upper()) if v in PLACES)]
        config = config.changed(**{group: {field: value}})
    return config
