"""Equations of motion on the screen: M, Γ, D, K, p, B and outputs with their names and units, of a local or a reduced
model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from supple.equations.coefficients import Coefficients
    from supple.kinematics.rest import Rest
    from supple.parameterization.local_model import LocalModel

_MOST = 6  # coordinates whose Γ still fits a screen


class Units(NamedTuple):
    """coordinates, outputs : m or rad of each, by name; what is not named has none that is known."""

    coordinates: Mapping[str, str]
    outputs: Mapping[str, str]


def units_of(position: Rest) -> Units:
    """Units of θ and of what the sensors see."""
    from supple.formulations.measured_units import output_units

    numbering = position.numbering
    angles = numbering.angles()

    def unit(row: int) -> str:
        return "rad" if angles[row] else "m"

    theta = {name: unit(numbering.constraints + i) for i, name in enumerate(numbering.coordinates)}
    return Units(theta, output_units(position))


def equations_data(found: LocalModel | Coefficients, at: Mapping[str, Any]) -> dict[str, Any]:
    """The object for scripts: every coefficient by its name; at : the coordinates."""
    return {
        "coordinates": found.coordinates, "inputs": found.inputs, "at": at, "M": found.M, "K": found.K,
        "damping": found.damping, "christoffel": found.christoffel, "dM": found.dM, "force": found.force,
        "input_map": found.input_map,
        "outputs": {
            name: {"value": output.value, "rigid": output.rigid, "modes": output.modes}
            for name, output in found.outputs.items()
        },
        **({"efforts": found.efforts} if found.efforts else {}),
        "internal_hz": found.internal_hz, "potential": found.potential,
    }  # fmt: skip


def show_equations(
    title: str, found: LocalModel | Coefficients, units: Units, delta: Sequence[float] | None = None
) -> None:
    """Everything that stands in the equations at δ, zero if left out; coordinates, then matrices, then outputs."""
    from supple.cli.tables import Tables, angle, number

    out, names = Tables(), found.coordinates
    s, n, internal = len(found.theta), len(names), len(found.internal_hz)
    measured = [units.coordinates.get(name, "") for name in names[:s]] + ["m"] * (n - s - internal)
    measured += ["√kg m"] * internal
    pushed = {"rad": "N m", "m": "N", "√kg m": "N/√kg", "": ""}
    equation = f"M η̈ + Γ[η̇,η̇] + D η̇{' + K η' if n > s else ''} = p + B u"
    out.line(f"{title}: {equation}, potential {float(found.potential):.6g} J")
    values = [angle(x) if measured[i] == "rad" else number(x, measured[i]) for i, x in enumerate(found.theta)]
    bent = [0.0] * (n - s) if delta is None else list(delta)
    values += [number(x, "m") for x in bent[: n - s - internal]]
    values += [f"{x:.6g} ({hz:.6g} Hz)" for x, hz in zip(bent[n - s - internal :], found.internal_hz, strict=True)]
    rows = [(name, values[i], number(found.force[i], pushed[measured[i]])) for i, name in enumerate(names)]
    out.table(("coordinate", "value", "force p"), rows)
    labels = [f"{name} [{unit}]" if unit else name for name, unit in zip(names, measured, strict=True)]
    out.matrix("M [kg, m, rad]", labels, names, found.M)
    if n > s:
        out.matrix("K [N, m, kg]", labels[s:], names[s:], found.K[s:, s:])
    if found.damping.any():
        out.matrix("D [N, m, s, rad]", labels, names, found.damping)
    if found.inputs:
        out.matrix("B [N, m, kg]", labels, found.inputs, found.input_map)
    _show_christoffel(out, found.christoffel, names, labels)
    if found.outputs:
        lines = []
        for name, output in found.outputs.items():
            value = number(output.value, units.outputs.get(name, ""))
            lines.append((name, value, *(number(x) for x in [*output.rigid, *output.modes])))
        out.table(("output", "value", *(f"∂/∂{name}" for name in names)), lines)


def _show_christoffel(out: Any, symbols: Any, names: tuple[str, ...], labels: list[str]) -> None:
    """Γ as factors of products of rates, one line a product; those that are zero are left out."""
    import numpy as np

    n = len(names)
    if n > _MOST:
        out.line(f"Γ has {n * n * (n + 1) // 2} entries: --json gives them")
        return
    pairs = [(j, k) for j in range(n) for k in range(j, n)]
    factors = np.array([[(1 + (j < k)) * symbols[i, j, k] for i in range(n)] for j, k in pairs])
    kept = [row for row in range(len(pairs)) if np.abs(factors[row]).max() > 1e-13 * np.abs(factors).max()]
    if not kept:
        out.line("Γ is zero")
        return
    products = [f"{names[j]}'·{names[k]}'" for j, k in (pairs[row] for row in kept)]
    out.matrix("Γ, factors of", products, labels, factors[kept])
