"""Which modes describe the deformation of a mechanism, and how they are followed over θ."""

from __future__ import annotations

from dataclasses import dataclass

from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError

SORTED, SUBSPACE, MODES, STRAIN = 0, 1, 2, 3  # of tracking, in kernels
TRACKING = {"none": SORTED, "subspace": SUBSPACE, "modes": MODES, "strain": STRAIN}


@dataclass(frozen=True)
class ModeChoice:
    """Which modes describe the deformation: constraint modes of named displacements (`E.z`), and internal modes.

    tracking : "none" sorts internal modes by frequency; "subspace" follows the germ's subspace by how it moves, in the
               axes of the bodies, "strain" by how it strains them; "modes" follows the germ's modes one by one, each
               like the most similar one at a neighbour
    germ     : θ where internal modes are taken from as a reference; the rest if left out
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
    """Refuse stiffening where nothing deforms, or without the loads at rest, which it is the second order of."""
    if choice.stiffening and not choice.preload:
        raise InputError(
            "stiffening has the geometric stiffness of all loads, those at rest among them",
            part="preload",
            hint="leave out stiffening (--stiffening), or preload=False (--no-preload)",
        )
    if choice.stiffening and not choice.flexible:
        raise InputError(
            "stiffening is about modes of deformation, and none are kept",
            part="stiffening",
            hint="keep internal or constraint modes, or leave it out",
        )


def require_sense(mechanism: Mechanism, choice: ModeChoice) -> None:
    """Refuse modes of what does not deform, and what there is none of."""
    if not mechanism.elastic:
        raise InputError(
            f"constraint and internal modes are about elastic bodies, and all {len(mechanism.bodies)} bodies of this "
            "mechanism are rigid",
            part=f'mechanism "{mechanism.name}"',
            path=("bodies",),
            hint="leave them out, or replace a rod by a beam with section: and material:",
        )
    if choice.internal < 0:
        raise InputError(f"{choice.internal} internal modes were asked for", hint="ask for 0 or more")
    if choice.tracking not in TRACKING:
        raise InputError(f'there is no tracking "{choice.tracking}"', hint=f"choose from {', '.join(TRACKING)}")
    twice = [name for i, name in enumerate(choice.constraint) if name in choice.constraint[:i]]
    if twice:
        raise InputError(f'"{twice[0]}" is named twice among the constraint modes', hint="name it once")
