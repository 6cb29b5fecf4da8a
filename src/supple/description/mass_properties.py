"""Mass, centre and inertia of every body as drawn, including point masses."""

from __future__ import annotations

import numpy as np

from supple.array_types import Array
from supple.description.body import Body, Inertia, Solid
from supple.description.drawing import Drawing, Path, from_to
from supple.description.elastic.placed_beam import beam_mass, find_oversized, placed_beams
from supple.diagnostics.errors import fault_at, quote
from supple.geometry.inertia import MassProperties, unphysical, zero_mass
from supple.geometry.rotation import axes_from_z

_STATED = 1e-2  # relative tolerance of a mass or centre that the file states, which is rounded


def mass_properties(drawing: Drawing) -> dict[str, MassProperties]:
    """Return the mass properties of each body about its centre, in its own axes; computed once per mechanism."""
    return dict(drawing.mechanism.compute_once("mass properties", lambda: _mass_properties(drawing)))


def _mass_properties(drawing: Drawing) -> dict[str, MassProperties]:
    mechanism = drawing.mechanism
    found = {name: _of_body(drawing, name, body) for name, body in mechanism.bodies.items()}
    for name, point_mass in mechanism.point_masses.items():
        place = drawing.find_frame(point_mass.at, ("point_masses", name, "at"))
        if place.body not in found:
            raise fault_at(
                ("point_masses", name, "at"), "the point mass is on the ground", "put it on a body that moves"
            )
        found[place.body] += MassProperties(point_mass.mass, place.pose.position, point_inertia(drawing, name))
    return found


def point_inertia(drawing: Drawing, name: str) -> Array:
    """Return the inertia (3, 3) of a point mass about its own centre, in the axes of its body, kg m².

    J_b = R J Rᵀ, R the axes of the mounting frame in those of the body.
    """
    value = drawing.mechanism.point_masses[name].inertia
    path: Path = ("point_masses", name)
    if value is None:
        return np.zeros((3, 3))
    if isinstance(value, float):
        return value * np.eye(3)
    if drawing.mechanism.planar:
        raise fault_at(
            (*path, "inertia"),
            "in the plane the inertia must be one number",
            "give the inertia about the normal of the plane",
        )
    J = _inertia_matrix(drawing, value, path)
    reason = unphysical(J)
    if reason is not None:
        raise fault_at((*path, "inertia"), reason, "check the units (kg m²) and that it is about its own centre")
    return _in_body_axes(drawing, name, J)


def point_inertia_slope(drawing: Drawing, name: str, entry: tuple[str, ...]) -> Array:
    """Return the derivative of a point mass's inertia by one of its numbers, (3, 3) in the axes of its body.

    entry : () for one number for every axis, ("0",) for one of three, ("xy",) for one of six
    """
    return np.eye(3) if not entry else _in_body_axes(drawing, name, _unit_inertia(entry[0]))


def _in_body_axes(drawing: Drawing, name: str, J: Array) -> Array:
    R = drawing.find_frame(drawing.mechanism.point_masses[name].at, ("point_masses", name, "at")).pose.axes
    return R @ J @ R.T


def _unit_inertia(key: str) -> Array:
    J = np.zeros((3, 3))
    i, j = ("xyz".index(key[0]), "xyz".index(key[1])) if not key.isdecimal() else (int(key), int(key))
    J[i, j] = J[j, i] = 1.0
    return J


def _of_body(drawing: Drawing, name: str, body: Body) -> MassProperties:
    path: Path = ("bodies", name)
    if body.solids:
        total = zero_mass()
        for solid in body.solids:
            total += _of_solid(drawing, name, solid, (*path, "solid"))
        return total
    if body.superelement is not None:
        return _of_superelement(drawing, name, body)
    if body.elastic:
        total = zero_mass()
        for beam in placed_beams(drawing, name):
            total += beam_mass(beam)
        return total
    length = drawing.lengths.get(name, 0.0)
    mass = body.mass if body.mass is not None else (body.line_mass or 0.0) * length
    center = _center(drawing, name, body, length)
    if body.inertia is not None:
        inertia = _inertia_matrix(drawing, body.inertia, path)
    else:
        inertia = np.diag([0.0, 1.0, 1.0]) * mass * length**2 / 12.0
    reason = unphysical(inertia) if not drawing.mechanism.planar else None
    if drawing.mechanism.planar and inertia[2, 2] < 0.0:
        reason = f"the moment of inertia {inertia[2, 2]:g} kg m² is negative"
    may = _is_allowable(inertia)
    if reason is not None and not (may and body.allow is not None and body.allow.inertia is not None):
        allowing = '; if it is intended, add allow: {inertia: "reason"}' if may else ""
        raise fault_at(
            (*path, "inertia"),
            reason,
            f"check the units (kg m²) and that it is about the centre of mass{allowing}",
        )
    return MassProperties(mass, center, inertia)


def mass_slope(drawing: Drawing, name: str, number: tuple[str, ...]) -> MassProperties:
    """Return the derivative of a rigid body's mass properties by one number, at fixed centre.

    Everything is linear in masses and moments.

    number : as in the file: ("mass",), ("line_mass",), ("inertia", "xx"), ("solid", "0", "density"), ...
    """
    body = drawing.mechanism.bodies[name]
    path: Path = ("bodies", name)
    if number[0] == "solid":
        solid = body.solids[int(number[1]) if len(number) > 2 else 0]
        whole = _of_solid(drawing, name, solid, (*path, "solid"))
        given = getattr(solid, number[-1])
        return MassProperties(whole.mass / given, whole.center, whole.inertia / given)
    length = drawing.lengths.get(name, 0.0)
    center = _center(drawing, name, body, length)
    if number[0] == "inertia":
        return MassProperties(0.0, center, _unit_inertia(number[1] if len(number) > 1 else "2"))
    mass = length if number[0] == "line_mass" else 1.0
    own = np.zeros((3, 3)) if body.inertia is not None else np.diag([0.0, 1.0, 1.0]) * mass * length**2 / 12.0
    return MassProperties(mass, center, own)


def _is_allowable(inertia: Array) -> bool:
    """Return whether `allow` may accept an inertia: no principal moment is negative, so kinetic energy is positive."""
    moments = np.linalg.eigvalsh(inertia)
    return bool(np.allclose(inertia, inertia.T) and moments[0] >= -1e-12 * np.abs(moments).max())


def allowances(drawing: Drawing) -> tuple[str, ...]:
    """Return the checks that the file allows to fail, with their reasons, as lines for `supple check`."""
    found = []
    for name, body in drawing.mechanism.bodies.items():
        for field in () if body.allow is None else body.allow.chosen("inertia", "section"):
            needed = _inertia_excess(drawing, name, body) if field == "inertia" else find_oversized(drawing, name)
            why = getattr(body.allow, field)
            text = f"body {quote(name)}: {needed or f'its {field} passes the check, so allow: is not needed'}"
            found.append(f"{text} (allowed: {why})")
    return tuple(found)


def _inertia_excess(drawing: Drawing, name: str, body: Body) -> str | None:
    if drawing.mechanism.planar or body.inertia is None:
        return None
    return unphysical(_inertia_matrix(drawing, body.inertia, ("bodies", name)))


def _of_superelement(drawing: Drawing, name: str, body: Body) -> MassProperties:
    """Return the mass properties from a mass matrix; a `mass` or `center` in the file must agree with them."""
    # Sparse matrices and their files take a while to import, and few mechanisms have them.
    from supple.description.elastic.superelement_files import rigid_mass, superelement_matrices
    from supple.description.elastic.superelement_modes import modal_arrays

    path: Path = ("bodies", name)
    assert body.superelement is not None
    modal = modal_arrays(body.superelement, (*path, "superelement"))
    if modal is not None:
        found, positions, whose = modal.mass(drawing.offsets[name]), modal.positions, "its mass matrix"
    else:
        arrays = superelement_matrices(body.superelement, (*path, "superelement"))
        found, positions = rigid_mass(arrays, drawing.offsets[name]), arrays.positions
        whose = f"{arrays.reader}: its mass matrix" if arrays.reader else "its mass matrix"
    if found.mass <= 0.0:
        raise fault_at(
            (*path, "superelement"),
            f"{whose} gives a total mass of {found.mass:g} kg, which must be positive",
            "check that mass and stiffness are not swapped",
        )
    if body.mass is not None and abs(found.mass - body.mass) > _STATED * body.mass:
        raise fault_at(
            (*path, "mass"),
            f"{whose} gives {found.mass:.6g} kg, but the file states {body.mass:.6g} kg",
            _unit_hint(found.mass, body.mass),
        )
    size = float(np.linalg.norm(np.ptp(positions, axis=0)))
    center = None if body.center is None else _center(drawing, name, body, 0.0)
    if center is not None and np.linalg.norm(found.center - center) > _STATED * size:
        listed = ", ".join(f"{value:.4g}" for value in found.center + drawing.offsets[name])
        raise fault_at(
            (*path, "center"),
            f"{whose} has its centre of mass at ({listed}) in body axes, "
            f"{np.linalg.norm(found.center - center):.4g} m from the centre in the file",
            "check the units of the node table (m) and where the body is drawn: at, rotation",
        )
    return found


def _unit_hint(found: float, stated: float) -> str:
    """Return a hint; a ratio near a power of a thousand indicates wrong units."""
    ratio = np.log10(found / stated) if found > 0.0 and stated > 0.0 else 0.0
    power = 3 * round(ratio / 3.0)
    if power and abs(ratio - power) < 0.5:
        return f"they differ by a factor of 1e{power}: check that the matrices are in SI units (kg, not t; m, not mm)"
    return "correct the wrong one"


def _center(drawing: Drawing, name: str, body: Body, length: float) -> Array:
    if body.center is None:
        return drawing.own(name, np.array([0.5 * length, 0.0, 0.0]))
    if isinstance(body.center, float):
        return drawing.own(name, np.array([body.center, 0.0, 0.0]))
    return drawing.on_body(name, body.center, ("bodies", name, "center"))


def _inertia_matrix(
    drawing: Drawing, value: float | tuple[float, ...] | tuple[tuple[float, ...], ...] | Inertia, path: Path
) -> Array:
    if isinstance(value, Inertia):
        return value.matrix
    if isinstance(value, float):
        if not drawing.mechanism.planar:
            raise fault_at(
                (*path, "inertia"),
                "a body in space needs more than one moment of inertia",
                "write [xx, yy, zz] or {xx: ..., yy: ..., zz: ..., xy: ...}",
            )
        return np.diag([0.0, 0.0, value])
    table = np.array(value, dtype=np.float64)
    return table if table.ndim == 2 else np.diag(table)


def _of_solid(drawing: Drawing, name: str, solid: Solid, path: Path) -> MassProperties:
    """Return the mass properties of a solid by closed formulas, in the body's axes."""
    axes = np.eye(3)
    if solid.box is not None:
        a, b, c = solid.box
        volume, moments = a * b * c, np.array([b * b + c * c, a * a + c * c, a * a + b * b]) / 12.0
    elif solid.sphere is not None:
        r = solid.sphere
        volume, moments = 4.0 / 3.0 * np.pi * r**3, np.full(3, 0.4 * r * r)
    else:
        if solid.tube is not None:
            outer, inner, h = solid.tube
        else:
            assert solid.cylinder is not None
            outer, inner, h = solid.cylinder[0], 0.0, solid.cylinder[1]
        square = outer**2 + inner**2
        volume = np.pi * (outer**2 - inner**2) * h
        moments = np.array([square / 4.0 + h * h / 12.0] * 2 + [square / 2.0])
        if solid.axis is not None:
            z = drawing.direction(solid.axis, (*path, "axis"))
            axes = axes_from_z(drawing.bodies[name].axes.T @ z if from_to(solid.axis) else z)
    mass = solid.mass if solid.mass is not None else (solid.density or 0.0) * volume
    center = drawing.own(name, np.zeros(3))
    if solid.center is not None:
        center = drawing.on_body(name, solid.center, (*path, "center"))
    elif name in drawing.lengths:
        center = drawing.own(name, np.array([0.5 * drawing.lengths[name], 0.0, 0.0]))
    return MassProperties(mass, center, mass * (axes @ np.diag(moments) @ axes.T))
