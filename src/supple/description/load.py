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
    """Something that acts along a joint's coordinate or along the line between two places."""

    joint: str | None = None
    """A joint, or `joint.coordinate` where it has several."""
    between: tuple[str, str] | None = None
    """Two frames, points of joints, or `body.point`; what acts is along their distance."""

    @property
    def placed_by(self) -> str:
        """The key that says what it acts on."""
        return self.chosen(*(name for name in ("joint", "between", "at") if name in type(self).model_fields))[0]

    @property
    def places(self) -> tuple[str, ...]:
        """The places that it acts at; none if it acts along a joint's coordinate."""
        named = getattr(self, self.placed_by)
        return {"joint": (), "between": named, "at": (named,)}[self.placed_by]

    @model_validator(mode="after")
    def _on_one_thing(self) -> Self:
        alternatives = [name for name in ("joint", "between", "at") if name in type(self).model_fields]
        if len(self.chosen(*alternatives)) != 1:
            raise ValueError(f"exactly one of {', '.join(alternatives)} says what it acts on")
        return self


class Spring(Acting):
    """A spring, linear unless another law is named."""

    stiffness: NotNegativeOfCoordinate | None = None
    """N/m, or N m/rad about a joint."""
    law: dict[str, dict[str, OfCoordinate]] | None = None
    """A registered law and its parameters in place of stiffness, such as {hardening: {stiffness: 100, cubic: 1e4}}."""
    rest: OfCoordinate | None = None
    """Coordinate of the joint at which it is relaxed; 0 if left out."""
    length: NotNegativeLength | None = None
    """Length at which a spring between two places is relaxed."""

    @model_validator(mode="after")
    def _of_one_model(self) -> Self:
        if len(self.chosen("stiffness", "law")) != 1 or (self.law is not None and len(self.law) != 1):
            raise ValueError("a spring needs a stiffness, or one law with its parameters")
        try:
            law, given = self.named_model
            missing = [key for key, item in law.parameters.items() if item.default is None and key not in given]
            unknown = [key for key in given if key not in law.parameters]
        except InputError as error:
            raise ValueError(f"{error.message}; {error.hint}") from error
        if missing or unknown:
            problem = f"needs {', '.join(missing)}" if missing else f"knows no {', '.join(unknown)}"
            raise ValueError(f'the law "{law.name}" {problem}; its parameters are {", ".join(law.parameters)}')
        if not law.linear and self.without_length:
            raise ValueError(f'the law "{law.name}" needs a length at which it is relaxed, greater than 0')
        return self

    @model_validator(mode="after")
    def _relaxed_somewhere(self) -> Self:
        if self.between is not None and (self.length is None or self.rest is not None):
            raise ValueError("a spring between two places needs the length at which it is relaxed (and no rest)")
        if self.joint is not None and self.length is not None:
            raise ValueError("a spring on a joint is relaxed at rest:, not at a length")
        return self

    @property
    def named_model(self) -> tuple[ForceLaw, dict[str, float]]:
        """The force model, and the parameters that are written."""
        if self.law is None:
            return SPRING, {"stiffness": self.stiffness or 0.0}
        ((name, given),) = self.law.items()
        return FORCE_MODELS[name], given

    @property
    def parameters(self) -> tuple[float, ...]:
        """Of its law, in order."""
        law, given = self.named_model
        return tuple(float(given.get(name, item.default or 0.0)) for name, item in law.parameters.items())

    @property
    def about_relaxed(self) -> Along:
        """What its law gives where it is relaxed: for a linear one, all there is to know."""
        return Along(*self.named_model[0].along(self.parameters, 0.0))

    @property
    def without_length(self) -> bool:
        """Whether it is relaxed where its two ends meet."""
        return self.between is not None and not self.length

    @property
    def relaxed(self) -> float:
        return float((self.rest if self.joint is not None else self.length) or 0.0)


class Damper(Acting):
    """A linear damper."""

    damping: NotNegativeOfCoordinate
    """N s/m, or N m s/rad about a joint."""


class Force(Acting):
    """A constant applied force or moment."""

    at: str | None = None
    """The place a force (and moment) acts at."""
    force: OfCoordinate | ForceVector | None = None
    """N: a vector at a place; a number along a joint's coordinate or a distance (it drives it to grow)."""
    moment: Torque | Moment | None = None
    """N m, at a place; one number in the plane."""
    follower: bool = False
    """True: the vector is written in the axes of its frame (a rod's run along it) and turns with the body;
    False: it keeps its direction in space."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.at is None:
            if not isinstance(self.force, float) or self.moment is not None or self.follower:
                raise ValueError("along a joint or a distance a force is one number")
        elif self.force is None and self.moment is None:
            raise ValueError("a force at a place needs a force vector or a moment")
        elif isinstance(self.force, float):
            raise ValueError("a force at a place is a vector")
        return self
