"""How many operations the functions of the exported code take at most: additions, multiplications, divisions.

A call of sqrt, tanh or fabs counts as one; moving numbers and counting are left out. Bounds, not measurements: a
compiler leaves out what is zero. `tests/export/test_operations.py` counts them in the code as it runs.
"""

from __future__ import annotations

from supple.export.c.equations import needs_slopes
from supple.export.c.family import CFamily
from supple.export.c.model import CModel
from supple.export.c.polynomial import highest_degree, term_counts


def worst_operations(model: CModel) -> dict[str, int]:
    """By the name of the function, in the largest box."""
    n, _, u, _, _ = model.sizes
    one, jacobian = _accelerate(model), _jacobian(model)
    found = {"columns": _basis(model, slopes=False) + 2 * _terms(model) * model.fitted.outputs}
    found["inverse"] = _equations(model) + _resistance(model) + 2 * n * n
    found["forward, derivative"] = one
    found["jacobian"] = jacobian + (2 * n + u) * 2 * n * n
    found["step_explicit"] = 4 * one + 2 * n * 4 * 5 + 2 * n * 5
    solved = 4 * (2 * n * 12 + 4 * n * n + 2 * n * n + 5 * n)
    found["step_implicit"] = jacobian + 2 * one + n * n * 6 + n**3 + 4 * n * n + solved + 20 * n
    if model.family is not None:
        found["set_parameters"] = _set(model, model.family)
    return found


def _set(model: CModel, family: CFamily) -> int:
    """Every term of every box that may be met, once."""
    parameters, whole = len(family.family.parameters), family.whole.arrays
    boxes, top = family.largest[1], int(whole.indices[:, family.theta :].max(initial=1))
    rest = 2 * int(family.order[1][1]) + 1 if model.exact else 0
    term = parameters + 2 * model.fitted.outputs
    return boxes * (
        parameters * (2 + 3 * top) + int(whole.leaves_i[:, 1].max()) * term + rest * model.coefficients["M"].width
    )


def _terms(model: CModel) -> int:
    return term_counts(model.fitted)[-1]


def _basis(model: CModel, *, slopes: bool) -> int:
    s, terms, more = model.layout.theta, _terms(model), highest_degree(model.fitted) - 1
    plain = s * (2 + 3 * more) + terms * max(1, s - 1)
    return plain + (s * 6 * more + s * terms * s if slopes else 0)


def _equations(model: CModel) -> int:
    return _basis(model, slopes=needs_slopes(model)) + _assemble(model) + 2 * model.layout.theta


def _assemble(model: CModel) -> int:
    """Sums over terms for values, and for slopes along each θ; what δ adds."""
    n, s, terms = model.layout.size, model.layout.theta, _terms(model)
    ranges = [*model.inertia_columns, model.elastic_force_columns, model.stiffness_columns]
    ranges += [model.coefficients["potential"].columns] if model.potential_gives_force else []
    slopes = sum(stop - first for first, stop in (item for item in ranges if item is not None))
    total = 2 * terms * (model.force_columns + s * slopes) + (3 * s**3 if model.mass_gives_christoffel else 0) + s
    if model.bent:
        rows = model.layout.sloped * n
        total += (1 + s) * rows * (2 * (n - s) + 2)
        curvature = model.coefficients.get("mass_curvature")
        total += (1 + s) * 12 * curvature.width if curvature is not None else 0
    return total


def _resistance(model: CModel) -> int:
    n, s, _, _, f = model.sizes
    names = {name for name, _, _ in model.members()}
    total = n * n * (2 * n + 2) if "christoffel" in names else 0
    total += 3 * n * n * ("damping" in names) + 2 * n * n * ("K" in names) + n
    total += 2 * s * (n - s) * ("force_gradient" in names) + 4 * s * (n - s) ** 2 * ("stiffness_gradient" in names)
    if model.bent:
        total += s * (n * (2 * n + 4) + 2) + model.layout.sloped * n * (2 + 4 * (n - s) + 4)
    return total + f * (4 * n + 8)


def _solve(n: int) -> int:
    return n**3 + 4 * n * n + 4 * n


def _accelerate(model: CModel) -> int:
    n, _, u, _, _ = model.sizes
    return _equations(model) + _resistance(model) + 2 * n * u + n + _solve(n)


def _jacobian(model: CModel) -> int:
    """`tangent`: products with second derivatives, coefficients and their slopes along each θ, slopes of forces."""
    n, s, u, _, f = model.sizes
    d, more, terms = n - s, highest_degree(model.fitted) - 1, _terms(model)
    total = s * (2 + 14 * more) + terms * (1 + s + s * (s + 1) // 2)
    total += (1 + s) * (_assemble(model) + _resistance(model)) + _solve(n) + 2 * n * u + n
    total += s * (n * (1 + 2 * n + 2 * u) + f * (4 * n + 12 + 4 * n)) + f * (2 * n + 8 + 3 * n * n)
    total += n * n * (3 * n + 4) + n * d * (2 + 3 * d)
    if model.bent:
        total += n * n * (2 * n + 1) + n * n * (4 * n + 2) + model.layout.sloped * n * d * (7 * s + 8) + 2 * n * n
        curvature = model.coefficients.get("mass_curvature")
        total += 25 * curvature.width if curvature is not None else 0
    return total
