"""Which basis a choice of modes of a mechanism is, and the choice that a basis stands for."""

from __future__ import annotations

import hashlib
import json

from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formats.mechanism_text import to_yaml
from supple.formats.varied_mechanism import first_of
from supple.kinematics.rest import rest
from supple.parameterization.mode_choice import ModeChoice
from supple.results.basis import CoordinateBasis

_DIGITS = 10  # of θ at the germ: two ways to the same place are the same basis


def basis_of(mechanism: Mechanism, choice: ModeChoice) -> CoordinateBasis | None:
    """The basis of δ; None where nothing deforms."""
    if not choice.flexible:
        return None
    mechanism = first_of(mechanism) or mechanism  # one germ for all of a family
    return mechanism.remembered(f"basis {choice}", lambda: _made(mechanism, choice))


def choice_of(mechanism: Mechanism, basis: CoordinateBasis) -> ModeChoice:
    """The modes that a basis stands for; a basis of another mechanism is refused, with both named."""
    germ = tuple(basis.germ.values()) if basis.germ else None
    names = rest(mechanism).numbering.coordinates
    if not basis.germ or tuple(basis.germ) == names:
        found = ModeChoice(basis.constraint, basis.internal, basis.tracking, germ)
        if basis_of(mechanism, found) == basis:
            return found
        ours = str(_made(mechanism, found))
    else:
        ours = f"the coordinates {', '.join(names)}"
    raise InputError(
        f"it is that of another mechanism: {basis}, and here {ours}",
        part="basis",
        hint="load the mechanism that the model was made from, with the same parameters",
    )


def _made(mechanism: Mechanism, choice: ModeChoice) -> CoordinateBasis:
    position = rest(mechanism)
    germ: dict[str, float] = {}
    if choice.internal and choice.tracking != "none":
        theta = position.theta.tolist() if choice.germ is None else choice.germ
        germ = dict(zip(position.numbering.coordinates, theta, strict=True))
    tracking = choice.tracking if choice.internal else "none"
    place = {name: float(f"{value:.{_DIGITS}g}") + 0.0 for name, value in germ.items()}
    parts = [_described(mechanism), choice.constraint, choice.internal, tracking, place]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:8]
    return CoordinateBasis(choice.constraint, choice.internal, tracking, germ, digest)


def _described(mechanism: Mechanism) -> str:
    """All but what only names things."""

    def made() -> str:
        bare = mechanism.replace(
            name="mechanism", description=None, parameters={}, configurations={}, motions={}, scenarios={}
        )
        return to_yaml(bare)

    return mechanism.remembered("text of the mechanism alone", made)
