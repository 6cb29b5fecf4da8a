"""Force models along measures, which kernels call by number through one kernel.

`law` looks a number up in a chain of small kernels, one per force model. A model that is used for the first time is
added before the chain. Kernels resolve names when they are compiled, so code with a shorter chain is dropped.
"""

from __future__ import annotations

import types

from supple.compilation import kernel
from supple.compilation.kernel import forget
from supple.description.force_model import BUILTIN_FORCE_MODELS, Along, ForceLaw

REFERENCE = -1
"""Position of ℓ₀ in the numbers of a use, after the parameters."""


@kernel(inline=True)
def law(number, p, length):
    """Return the force of model `number` at ℓ; p : its parameters and ℓ₀."""
    return CHAIN(number, p, length - p[REFERENCE])


@kernel
def _no_law(number, p, x):
    """Return zero at the end of the chain, which is never reached, since numbers come from `number_of`."""
    return Along(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def _link(number, p, x):
    """Evaluate one model or continue with the rest of the chain; names in capitals are replaced per link."""
    if number == NUMBER:  # type: ignore[name-defined]  # noqa: F821
        energy, force, slope, damping, damping_slope, inertia = LAW(p, x)  # type: ignore[name-defined]  # noqa: F821
        return Along(1.0 * energy, 1.0 * force, 1.0 * slope, 1.0 * damping, 1.0 * damping_slope, 1.0 * inertia)
    return OTHERWISE(number, p, x)  # type: ignore[name-defined]  # noqa: F821


CHAIN = _no_law
_used: list[ForceLaw] = []


def number_of(record: ForceLaw) -> int:
    """Return the number of a force model in kernels."""
    global CHAIN
    if record in _used:
        return _used.index(record)
    number = len(_used)
    names = {"NUMBER": number, "LAW": record.along, "OTHERWISE": CHAIN, "Along": Along, "__name__": __name__}
    CHAIN = kernel(types.FunctionType(_link.__code__, names, f"law_{record.name}"))
    _used.append(record)
    forget(law)
    return number


for _own in BUILTIN_FORCE_MODELS:
    number_of(_own)
