"""Force models: forces along a measure ℓ of the mechanism (a joint coordinate or a distance), one record each.

    f(ℓ, ℓ̇, ℓ̈) = -V'(x) - c(x) ℓ̇ - m ℓ̈,    x = ℓ - ℓ₀

V is an energy, c a damping, m an inertia; ℓ₀ is the measure at which the part is relaxed. Simulation, local models,
linear models and all other code read a force model through its record alone (`supple.formulations.force_models`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from supple.compilation import kernel
from supple.kinds import Registry


class Along(NamedTuple):
    """Values of a force model along its measure ℓ: V, f = -V', f', c, c', m."""

    energy: float
    force: float
    slope: float
    damping: float
    damping_slope: float
    inertia: float


@dataclass(frozen=True)
class LawParameter:
    """Parameter of a force model.

    Parameters
    ----------
    of : {"force", "stiffness", "damping", "inertia", "value"}
        Physical quantity, relative to the coordinate.
    per : int, optional
        Power of the coordinate's unit that divides it: 2 for a stiffness per m² or per rad². Default: 0.
    default : float, optional
        Value if the file does not give one. Default: the parameter is required.
    """

    of: str
    per: int = 0
    default: float | None = None


@dataclass(frozen=True)
class ForceLaw:
    """Model of a force that acts along a measure of the mechanism.

    Parameters
    ----------
    name : str
        Name of the model: key under `law:` of a spring in the mechanism file.
    parameters : mapping of str to LawParameter
        Parameters of the model, in the order in which `along` receives them.
    along : callable
        ``along(p, x) -> (V, f, f', c, c', m)`` with the parameter values p, x = ℓ - ℓ₀ and f = -V'.

        The function is compiled: use arithmetic and `math` only.

    linear : bool, optional
        Whether f', c and m are the same for all x, so that constant matrices hold them. Default: False.

    Notes
    -----
    The force along the measure ℓ, a joint coordinate or a distance, is f(ℓ, ℓ̇, ℓ̈) = -V'(x) - c(x) ℓ̇ - m ℓ̈.

    Examples
    --------
    >>> import supple
    >>> def hardening(p, x):
    ...     k, c = p[0], p[1]
    ...     return 0.5 * k * x**2 + 0.25 * c * x**4, -k * x - c * x**3, -k - 3.0 * c * x**2, 0.0, 0.0, 0.0
    >>> parameters = {"stiffness": supple.LawParameter("stiffness"), "cubic": supple.LawParameter("stiffness", per=2)}
    >>> supple.ForceLaw("hardening", parameters, hardening).name
    'hardening'
    """

    name: str
    parameters: Mapping[str, LawParameter]
    along: Callable
    linear: bool = False

    def __post_init__(self) -> None:
        kernel(self.along)


def _spring(p, x):
    """Return the values of a linear spring, V = ½ k x²."""
    return 0.5 * p[0] * x * x, -p[0] * x, -p[0], 0.0, 0.0, 0.0


def _constant(p, x):
    """Return the values of a constant force, V = -f x."""
    return -p[0] * x, p[0], 0.0, 0.0, 0.0, 0.0


def _damper(p, x):
    """Return the values of a linear damper, c."""
    return 0.0, 0.0, 0.0, p[0], 0.0, 0.0


def _inertia(p, x):
    """Return the values of an inertia m, such as J g² of a motor behind a gear."""
    return 0.0, 0.0, 0.0, 0.0, 0.0, p[0]


SPRING = ForceLaw("spring", {"stiffness": LawParameter("stiffness")}, _spring, linear=True)
CONSTANT = ForceLaw("constant", {"force": LawParameter("force")}, _constant, linear=True)
DAMPER = ForceLaw("damper", {"damping": LawParameter("damping")}, _damper, linear=True)
INERTIA = ForceLaw("inertia", {"inertia": LawParameter("inertia")}, _inertia, linear=True)

BUILTIN_FORCE_MODELS = SPRING, CONSTANT, DAMPER, INERTIA
FORCE_MODELS = Registry("force law", ForceLaw, *BUILTIN_FORCE_MODELS)
