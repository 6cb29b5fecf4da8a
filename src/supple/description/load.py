"""Springs, dampers and applied forces."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from supple.description.force_model import FORCE_MODELS, SPRING, Along, ForceLaw
from supple.description.quantities.quantity import (
    ForceVector,
    Moment,
    NotNegativeLength,
    NotNegativeOfCoordinate,
    OfCoordinate,
    Part,
    Torque,
)
from supple.diagnostics import InputError


class Acting(Part):
    """Part that acts along a joint coordinate, or along the line between two points."""

    joint: str | None = None
    """Joint that it acts on; `joint.coordinate` if the joint has several coordinates."""
    between: tuple[str, str] | None = None
    """Two points that it acts between: frames, points of joints, or `body.point`. It acts along their distance."""

    @property
    def location_key(self) -> str:
        """Key that gives the location: joint, between or at."""
        return self.chosen(*(name for name in ("joint", "between", "at") if name in type(self).model_fields))[0]

    @property
    def places(self) -> tuple[str, ...]:
        """Points that it acts at; none for a joint coordinate."""
        named = getattr(self, self.location_key)
        return {"joint": (), "between": named, "at": (named,)}[self.location_key]

    @model_validator(mode="after")
    def _on_one_thing(self) -> Self:
        alternatives = [name for name in ("joint", "between", "at") if name in type(self).model_fields]
        if len(self.chosen(*alternatives)) != 1:
            raise ValueError(f"give exactly one of {', '.join(alternatives)}, on which it acts")
        return self


class Spring(Acting):
    """Spring, linear unless `law` names another force model."""

    stiffness: NotNegativeOfCoordinate | None = None
    """Stiffness, N/m, or N m/rad about a joint."""
    law: dict[str, dict[str, OfCoordinate]] | None = None
    """Registered force model with its parameters, instead of a stiffness, such as `{hardening: {stiffness: 100, cubic:
    1e4}}`."""
    rest: OfCoordinate | None = None
    """Coordinate of the joint at which the spring is relaxed, m or rad. Default: 0."""
    length: NotNegativeLength | None = None
    """Length at which a spring between two points is relaxed, m."""

    @model_validator(mode="after")
    def _of_one_model(self) -> Self:
        if len(self.chosen("stiffness", "law")) != 1 or (self.law is not None and len(self.law) != 1):
            raise ValueError("a spring needs a stiffness, or one force model under law with its parameters")
        try:
            law, given = self.named_model
            missing = [key for key, item in law.parameters.items() if item.default is None and key not in given]
            unknown = [key for key in given if key not in law.parameters]
        except InputError as error:
            raise ValueError(f"{error.message}; {error.hint}") from error
        if missing or unknown:
            problem = f"needs {', '.join(missing)}" if missing else f"has no parameter {', '.join(unknown)}"
            raise ValueError(f'the force model "{law.name}" {problem}; its parameters are {", ".join(law.parameters)}')
        if not law.linear and self.without_length:
            raise ValueError(f'the force model "{law.name}" needs a length above 0 at which the spring is relaxed')
        return self

    @model_validator(mode="after")
    def _check_rest(self) -> Self:
        if self.between is not None and (self.length is None or self.rest is not None):
            raise ValueError("a spring between two points needs the length at which it is relaxed (length, not rest)")
        if self.joint is not None and self.length is not None:
            raise ValueError("a spring on a joint takes rest:, the coordinate at which it is relaxed, not length")
        return self

    @property
    def named_model(self) -> tuple[ForceLaw, dict[str, float]]:
        """Force model, and the parameters that the file gives."""
        if self.law is None:
            return SPRING, {"stiffness": self.stiffness or 0.0}
        ((name, given),) = self.law.items()
        return FORCE_MODELS[name], given

    @property
    def parameters(self) -> tuple[float, ...]:
        """Parameter values of the force model, in its order."""
        law, given = self.named_model
        return tuple(float(given.get(name, item.default or 0.0)) for name, item in law.parameters.items())

    @property
    def about_relaxed(self) -> Along:
        """Values of the force model at the relaxed coordinate, which describe a linear model completely."""
        return Along(*self.named_model[0].along(self.parameters, 0.0))

    @property
    def without_length(self) -> bool:
        """Whether the spring is relaxed when its two ends coincide."""
        return self.between is not None and not self.length

    @property
    def relaxed_value(self) -> float:
        return float((self.rest if self.joint is not None else self.length) or 0.0)


class Damper(Acting):
    """Linear damper."""

    damping: NotNegativeOfCoordinate
    """Damping coefficient, N s/m, or N m s/rad about a joint."""


class Force(Acting):
    """Constant applied force or moment."""

    at: str | None = None
    """Point that the force (and the moment) acts at."""
    force: OfCoordinate | ForceVector | None = None
    """Force, N: a vector at a point. Along a joint coordinate or a distance one number, which is positive if it
    increases the coordinate (N m about a joint)."""
    moment: Torque | Moment | None = None
    """Moment at the point, N m; in the plane one number."""
    follower: bool = False
    """Whether the vector turns with the body. True: it is given in the axes of its frame (along the rod for a rod).
    False: it keeps its direction in space."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.at is None:
            if not isinstance(self.force, float) or self.moment is not None or self.follower:
                raise ValueError("a force along a joint or a distance must be one number, without moment or follower")
        elif self.force is None and self.moment is None:
            raise ValueError("a force at a point needs a force vector or a moment")
        elif isinstance(self.force, float):
            raise ValueError("a force at a point must be a vector")
        return self
