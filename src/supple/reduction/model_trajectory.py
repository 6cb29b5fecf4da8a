"""A motion of the mechanism that a model was made from, in the model's coordinates."""

from __future__ import annotations

from typing import Any

from supple.formats.model_description import described
from supple.reduced.model import ReducedModel
from supple.reduction.held_motion import without_held
from supple.reduction.path import path_from
from supple.reduction.path_motion import along_path
from supple.time_functions.function_of_time import Trajectory
from supple.trajectories.trajectory import Prescribed, trajectory


def follows_path(model: ReducedModel) -> bool:
    """Whether the model's coordinate is the arclength of a path."""
    return "path" in model.provenance.get("options", {})


def model_trajectory(model: ReducedModel, motion: Prescribed, **instants: Any) -> Trajectory:
    """A motion, however `trajectory` takes it, without coordinates that the model holds, or along its path."""
    course = trajectory(described(model), motion, **instants)
    if not follows_path(model):
        return without_held(course, model.held)
    return along_path(path_from(model.provenance["options"]["path"]), course)
