"""Questions about a mechanism that are asked of a reduced model: its place, and options that it cannot serve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from supple.diagnostics import InputError
from supple.kinematics.configuration import At, Configuration
from supple.reduced.model import ReducedModel
from supple.reduced.repertoire import REST
from supple.reduced.state_arguments import Values


def model_place(model: ReducedModel, at: At | Configuration) -> Values | str:
    """Return θ of a model, or the name of a configuration of it, for a place given as of a mechanism.

    Parameters
    ----------
    model
        The reduced model.
    at
        θ by name or in order, a name, or a Configuration; None is the rest of the mechanism.
    """
    if at is None:
        return REST
    if not isinstance(at, Configuration):
        return at
    names = at.rest.numbering.coordinates
    values = dict(zip(names, at.theta.T, strict=True))
    return {name: values[name] for name in model.layout.coordinates[: model.layout.theta] if name in values}


def require_defaults(model: ReducedModel, given: Mapping[str, Any], why: str) -> None:
    """Refuse options that only a mechanism serves.

    Parameters
    ----------
    model
        The reduced model that is asked.
    given
        {option: whether its value differs from the default}.
    why
        What the model has in its place.
    """
    for option, differs in given.items():
        if differs:
            raise InputError(f'model "{model.name}": {why}', part=option, hint="leave it out, or ask the mechanism")
