"""Searches strategy and settings with optuna, whose trials are the rounds that were played."""

from __future__ import annotations

from typing import Any

import optuna
import yaml

from agent.models import OFFLINE
from text2sql_lab.evolvers.protocol import Proposal, View, scores
from text2sql_lab.journal import BASE


class Knobs:
    name = "knobs"
    chooses = True

    async def propose(self, view: View) -> Proposal:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(
            direction="maximize", sampler=optuna.samplers.TPESampler(seed=view.draw.getrandbits(32), n_startup_trials=4)
        )
        space: dict[str, Any] = {
            "score_threshold": optuna.distributions.FloatDistribution(0.5, 0.9, step=0.05),
            "max_retries": optuna.distributions.IntDistribution(0, 4),
        }
        if view.measurer.model != OFFLINE:
            space |= {
                "strategy": optuna.distributions.CategoricalDistribution(["stage-0", "standard", "verified", "full"]),
                "examples": optuna.distributions.IntDistribution(0, 8),
                "note_tokens": optuna.distributions.IntDistribution(0, 4_000, step=500),
            }
        for event in view.state.played.get(view.split, ()):
            for kit, right in scores(event).items():
                if kit != BASE and (values := _values(view.kits.files(kit)["kit.yaml"])).keys() == space.keys():
                    value = right / max(1, len(event["ids"]))
                    study.add_trial(optuna.trial.create_trial(params=values, distributions=space, value=value))
        settings = study.ask(space).params
        header: dict[str, Any] = {"settings": settings}
        if "strategy" in settings:
            header["strategy"] = f"{settings.pop('strategy')}/examples={settings.pop('examples')}"
        return Proposal({"kit.yaml": yaml.safe_dump(header)}, self.name)


def _values(header: str) -> dict[str, Any]:
    """The parameters that `propose` wrote."""
    read = yaml.safe_load(header)
    values = dict(read.get("settings") or {})
    if strategy := read.get("strategy"):
        name, _, examples = strategy.partition("/examples=")
        values |= {"strategy": name, "examples": int(examples)}
    return values
