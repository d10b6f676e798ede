"""Evolvers: ways to make kits, one a file, behind one protocol. `evolver` gives one by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eval.errors import InputError
from text2sql_lab.evolvers.protocol import Evolver

__all__ = ["evolver"]


def evolver(
    name: str, *, approaches: Sequence[str] = (), deep_focus: int = 1, kits: Sequence[Mapping[str, str]] = ()
) -> Evolver:
    """The evolver of that name. `approaches` and `deep_focus` are the reflective one's, `kits` what `scripted`
    proposes. Raises InputError, also where its package is missing."""
    if name == "mined":
        from text2sql_lab.evolvers.mined import Mined

        return Mined()
    if name == "reflective":
        from text2sql_lab.evolvers.reflective import APPROACHES, Reflective

        return Reflective(approaches or tuple(APPROACHES), deep_focus)
    if name == "scripted":
        from text2sql_lab.evolvers.scripted import Scripted

        return Scripted(kits)
    try:
        if name == "knobs":
            from text2sql_lab.evolvers.knobs import Knobs

            return Knobs()
        if name == "gepa":
            from text2sql_lab.evolvers.gepa import Gepa

            return Gepa()
    except ModuleNotFoundError as error:
        raise InputError(f"{name} needs a package: pip install 'askwell[lab]' ({error.name} is missing)") from None
    raise InputError(f"there is no evolver {name!r}; there are mined, knobs, reflective, gepa, scripted")
