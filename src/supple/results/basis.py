"""The basis that elastic coordinates δ are counted in, and states that remember theirs.

`mode2` of one basis is not `mode2` of another: where modes were taken from (the germ), how they are followed, and how
many there are decide what a number stands for, signs included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from supple.diagnostics import InputError
from supple.diagnostics.errors import quoted


@dataclass(frozen=True)
class CoordinateBasis:
    """constraint : displacements that are coordinates; internal : how many internal modes follow them

    tracking : how internal modes are chosen and turned; germ : θ of the reference they are turned to, by name
    digest   : of these and of the mechanism: the same digest, the same states
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
        """As JSON."""
        return {
            "constraint": list(self.constraint),
            "internal": self.internal,
            "tracking": self.tracking,
            "germ": self.germ,
            "digest": self.digest,
        }


class Counted(Protocol):
    """Whatever has a basis, or knows that it has none."""

    @property
    def basis(self) -> CoordinateBasis | None: ...


def basis_from(data: Any) -> CoordinateBasis:
    """Back from JSON, checked."""
    try:
        found = CoordinateBasis(
            tuple(str(name) for name in data["constraint"]),
            int(data["internal"]),
            str(data["tracking"]),
            {str(name): float(value) for name, value in data["germ"].items()},
            str(data["digest"]),
        )
    except (TypeError, KeyError, ValueError, AttributeError):
        raise InputError(f"{quoted(data)} is no basis", part="basis", hint="reduce again") from None
    return found


def require_same_basis(part: str, given: CoordinateBasis | None, own: CoordinateBasis | None) -> None:
    """Refuse a gain or a state of one basis on a model of another; what is rigid has none."""
    if given is not None and own is not None and given != own:
        raise InputError(
            f"it is in the basis of {given}, and the model in that of {own}",
            part=part,
            hint="make it on this model, or on supple.linearize(mechanism, basis=model)",
        )


class NamedState(dict[str, float]):
    """Coordinates and their rates (`NAME.rate`) by name, with the basis they are counted in (None if it is rigid)."""

    def __init__(self, values: Mapping[str, float], basis: CoordinateBasis | None = None) -> None:
        super().__init__(values)
        self.basis = basis

    def parted(self, names: tuple[str, ...], own: CoordinateBasis | None) -> tuple[dict[str, float], dict[str, float]]:
        """Coordinates and rates for a model with these coordinates and its own basis."""
        require_same_basis("state", self.basis, own)
        rates = {name: self[f"{name}.rate"] for name in names if f"{name}.rate" in self}
        return {name: value for name, value in self.items() if not name.endswith(".rate")}, rates
