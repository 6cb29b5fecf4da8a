"""Mechanism that a reduced model was made from, as stored in the model."""

from __future__ import annotations

from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formats.mechanism_file import loads
from supple.formats.varied_mechanism import VariedMechanism
from supple.reduced.family import Family
from supple.reduced.model import ReducedModel


def restore_mechanism(model: ReducedModel) -> Mechanism:
    """Return the mechanism that a model was made from; for a family, at the model's parameter values."""
    text = model.provenance.get("description")
    if not isinstance(text, str):
        raise InputError(
            "the model contains no description of its mechanism",
            part=f'model "{model.name}"',
            hint="reduce it again with `supple reduce`",
        )
    return member(loads(text, name=f"the description in {model.name}"), model.family)


def member(mechanism: Mechanism, family: Family | None) -> Mechanism:
    """Return a mechanism at the parameter values of a family's model, with modes that follow the family's germ."""
    if family is None:
        return mechanism
    starts = [parameter.start for parameter in family.parameters]
    return VariedMechanism(mechanism, family.names, starts).at(family.values)
