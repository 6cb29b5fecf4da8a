"""The mechanism that a reduced model was made from, as it is written in the model."""

from __future__ import annotations

from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formats.mechanism_file import loads
from supple.reduced.model import ReducedModel


def described(model: ReducedModel) -> Mechanism:
    """The mechanism that a model was made from."""
    text = model.provenance.get("description")
    if not isinstance(text, str):
        raise InputError(
            "it does not say what it was made from", part=f'model "{model.name}"', hint="`supple reduce` writes that"
        )
    return loads(text, name=f"the description in {model.name}")
