"""The mechanism that a reduced model was made from, as it is written in the model."""

from __future__ import annotations

from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formats.mechanism_file import loads
from supple.formats.varied_mechanism import VariedMechanism
from supple.reduced.family import Family
from supple.reduced.model import ReducedModel


def described(model: ReducedModel) -> Mechanism:
    """The mechanism that a model was made from; of a family, at the values of the model."""
    text = model.provenance.get("description")
    if not isinstance(text, str):
        raise InputError(
            "it does not say what it was made from", part=f'model "{model.name}"', hint="`supple reduce` writes that"
        )
    return member(loads(text, name=f"the description in {model.name}"), model.family)


def member(mechanism: Mechanism, family: Family | None) -> Mechanism:
    """A mechanism at the values of a model of a family of it, with modes that follow the family's germ."""
    if family is None:
        return mechanism
    starts = [parameter.start for parameter in family.parameters]
    return VariedMechanism(mechanism, family.names, starts).at(family.values)
