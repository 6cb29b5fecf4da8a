"""Basis of the elastic coordinates δ, and states that record their basis.

`mode2` of one basis is not `mode2` of another. The meaning and sign of a coordinate depend on the reference
configuration of the modes (the germ), on the mode tracking and on the number of modes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from supple.diagnostics import InputError
from supple.diagnostics.errors import quote


@dataclass(frozen=True)
class CoordinateBasis:
    """Basis of the elastic coordinates of a model.

    constraint : displacements that are coordinates
    internal   : number of internal modes, which follow them
    tracking   : method that selects and aligns internal modes over θ
    germ       : θ of the reference configuration by coordinate
    digest     : digest of these and of the mechanism; states can be exchanged between models with equal digests
    """

    constraint: tuple[str, ...]
    internal: int
    tracking: str
    germ: dict[str, float]
    digest: str

    def __str__(self) -> str:
        parts = [f"displacements {', '.join(self.constraint)}"] if self.constraint else []
        if self.internal:
            where = ", ".join(f"{name}={value:.6g}" for name, value in self.germ.items())
            how = f"by {self.tracking} from {where}" if self.germ else "by frequency"
            parts.append(f"{self.internal} internal mode{'s' if self.internal > 1 else ''} {how}")
        return f"{' and '.join(parts)} [{self.digest}]"

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, CoordinateBasis) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def data(self) -> dict[str, Any]:
        """Return the basis as data for JSON."""
        return {
            "constraint": list(self.constraint),
            "internal": self.internal,
            "tracking": self.tracking,
            "germ": self.germ,
            "digest": self.digest,
        }


class HasBasis(Protocol):
    """Object with a basis, or with None for a rigid one."""

    @property
    def basis(self) -> CoordinateBasis | None: ...


def basis_from(data: Any) -> CoordinateBasis:
    """Return the basis from JSON data; raise InputError if they are not valid."""
    try:
        found = CoordinateBasis(
            tuple(str(name) for name in data["constraint"]),
            int(data["internal"]),
            str(data["tracking"]),
            {str(name): float(value) for name, value in data["germ"].items()},
            str(data["digest"]),
        )
    except (TypeError, KeyError, ValueError, AttributeError):
        raise InputError(f"{quote(data)} is not a basis", part="basis", hint="reduce the mechanism again") from None
    return found


def require_same_basis(part: str, given: CoordinateBasis | None, own: CoordinateBasis | None) -> None:
    """Raise InputError if a gain or a state is in another basis than the model; rigid objects have no basis."""
    if given is not None and own is not None and given != own:
        raise InputError(
            f"it is in the basis of {given}, but the model has the basis of {own}",
            part=part,
            hint="compute it for this model, or for supple.linearize(mechanism, basis=model)",
        )


class NamedState(dict[str, float]):
    """Coordinates and their rates (`NAME.rate`) by name, with their basis (None for a rigid mechanism)."""

    def __init__(self, values: Mapping[str, float], basis: CoordinateBasis | None = None) -> None:
        super().__init__(values)
        self.basis = basis

    def split_state(
        self, names: tuple[str, ...], own: CoordinateBasis | None
    ) -> tuple[dict[str, float], dict[str, float]]:
        """Return coordinates and rates for a model with these coordinate names and its own basis."""
        require_same_basis("state", self.basis, own)
        rates = {name: self[f"{name}.rate"] for name in names if f"{name}.rate" in self}
        return {name: value for name, value in self.items() if not name.endswith(".rate")}, rates
