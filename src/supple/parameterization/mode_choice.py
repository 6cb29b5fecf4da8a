"""Choice of the modes that describe the deformation of a mechanism, and of their tracking over θ."""

from __future__ import annotations

from dataclasses import dataclass

from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError

SORTED, SUBSPACE, MODES, STRAIN = 0, 1, 2, 3  # numbers of tracking in kernels
TRACKING = {"none": SORTED, "subspace": SUBSPACE, "modes": MODES, "strain": STRAIN}


@dataclass(frozen=True)
class ModeChoice:
    """Modes that describe the deformation: constraint modes of named displacements (`E.z`), and internal modes.

    tracking   : "none" sorts internal modes by frequency; "subspace" follows the germ's subspace by its motion, in the
    axes
                 of the bodies, "strain" by its strain; "modes" follows the germ's modes one by one, each as the most
                 similar one at the previous step
    germ       : θ of the reference for internal modes; None for rest
    stiffening : second order in δ, with the geometric stiffness of loads and of inertia (docs/theory/stiffening.md)
    preload    : the geometric stiffness of the loads at rest in K (docs/theory/elastic-rest.md)
    """

    constraint: tuple[str, ...] = ()
    internal: int = 0
    tracking: str = "none"
    germ: tuple[float, ...] | None = None
    stiffening: bool = False
    preload: bool = False

    @property
    def flexible(self) -> bool:
        return bool(self.constraint) or self.internal > 0


RIGID = ModeChoice()


def require_deformation(choice: ModeChoice) -> None:
    """Require modes and the loads at rest for stiffening, which is the second order of both."""
    if choice.stiffening and not choice.preload:
        raise InputError(
            "stiffening includes the geometric stiffness of the loads at rest",
            part="preload",
            hint="remove stiffening (--stiffening), or preload=False (--no-preload)",
        )
    if choice.stiffening and not choice.flexible:
        raise InputError(
            "stiffening requires modes of deformation, but none are kept",
            part="stiffening",
            hint="keep internal or constraint modes, or remove stiffening",
        )


def require_valid_modes(mechanism: Mechanism, choice: ModeChoice) -> None:
    """Require elastic bodies for modes, and a valid choice."""
    if not mechanism.elastic:
        raise InputError(
            f"constraint and internal modes require elastic bodies, but all {len(mechanism.bodies)} bodies of this "
            "mechanism are rigid",
            part=f'mechanism "{mechanism.name}"',
            path=("bodies",),
            hint="remove the modes, or replace a rod by a beam with section: and material:",
        )
    if choice.internal < 0:
        raise InputError(
            f"the number of internal modes must not be negative (got {choice.internal})", hint="give 0 or more"
        )
    if choice.tracking not in TRACKING:
        raise InputError(f'unknown tracking "{choice.tracking}"', hint=f"choose from {', '.join(TRACKING)}")
    twice = [name for i, name in enumerate(choice.constraint) if name in choice.constraint[:i]]
    if twice:
        raise InputError(f'"{twice[0]}" is listed twice in the constraint modes', hint="list it once")
