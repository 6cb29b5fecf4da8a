"""The local model: the equations of motion of a mechanism in η = (θ, δ), at one configuration or a batch.

    M(θ) η̈ + Γ(θ)[η̇, η̇] + D_d(θ) η̇ + K(θ) η = p + B(θ) u,    y = ρ_o(θ) + Ψ_o(θ) δ

A rigid mechanism has no δ.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.description.mechanism import Mechanism, require_rigid_alone, treat_as_rigid
from supple.diagnostics import InputError, NumericalError, SuppleWarning
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.errors import values_text
from supple.equations.equations_of_motion import EquationsOfMotion, Labels
from supple.equations.observation import Curved
from supple.equations.row import RowLayout
from supple.formats.mechanism_text import to_yaml
from supple.formats.varied_mechanism import first_of, require_parameters
from supple.formulations.coefficients import get_coefficients, model_units
from supple.formulations.data_slopes import neighbours
from supple.formulations.elastic_rest.loads import carries_loads
from supple.formulations.elastic_rest.preload import held_loads
from supple.kinematics.closing import locked_coordinates
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.posture_coordinates import coordinate_values
from supple.kinematics.rest import rest
from supple.parameterization.internal_modes import DONE, SINGULAR, TOO_FEW
from supple.parameterization.modal_parameterization import ModalParameterization, modal_parameterization
from supple.parameterization.modal_rows import modal_layout, modal_rows
from supple.parameterization.mode_choice import RIGID, ModeChoice, require_deformation
from supple.parameterization.parameter_slopes import KNOWN, parameter_slopes
from supple.parameterization.rigid_rows import rigid_layout as rigid_layout_of
from supple.parameterization.rigid_rows import rigid_rows
from supple.results.basis import CoordinateBasis
from supple.results.result import arrays_repr
from supple.results.text import Text
from supple.results.units import Units


class LocalOutput(NamedTuple):
    """One output y = ρ_o(θ) + Ψ_o(θ) δ, with its derivatives.

    value       : ρ_o
    rigid       : ∂ρ_o/∂θ (..., s)
    modes       : Ψ_o (..., n - s), empty for a rigid mechanism
    bend        : ∂²ρ_o/∂θ² (..., s, s)
    modes_slope : ∂Ψ_o/∂θ (..., n - s, s)

    At δ = 0, ÿ = rigid θ̈ + modes δ̈ + θ̇ᵀ bend θ̇ + 2 δ̇ᵀ modes_slope θ̇.
    """

    value: Array
    rigid: Array
    modes: Array
    bend: Array
    modes_slope: Array

    def __repr__(self) -> str:
        return arrays_repr(self)


@dataclass(frozen=True, eq=False, repr=False)
class LocalModel(EquationsOfMotion):
    """Equations of motion at θ and δ = 0 with their exact derivatives, returned by `local`.

    The n coordinates are η = (θ, δ), s of them θ. For a batch every array has a leading axis (N, ...).

    Attributes
    ----------
    configuration : Configuration
        Configuration at which the equations are valid.
    modes : ndarray, shape (n, z), or None
        Mode shapes Ψ in the coordinates of `system.rest`; None for a rigid mechanism.
    rigid : tuple of str
        Names of the elastic parts that are treated as rigid.
    slopes : mapping of str to mapping of str to ndarray
        {parameter: {coefficient: ∂/∂μ}} for the parameters given in `along`, at constant θ. The coefficients are M, K,
        force, potential, input_map, outputs, dM, ...; the damping excludes the damping model of the mechanism.

    See Also
    --------
    local : Compute the local model.
    reduce : Fit a model that is valid over a region.
    """

    configuration: Configuration
    system: ModalParameterization | None = None
    modes: Array | None = None
    rigid: tuple[str, ...] = ()
    slopes: Mapping[str, Mapping[str, Array]] = field(default_factory=dict)

    def summary(self) -> str:
        """Return a one-line summary."""
        return f"of {self.configuration!r}, {self.named()}"

    def data(self) -> dict[str, Any]:
        """Return the data that `--json` prints."""
        found = super().data() | {
            "at": self.configuration.coordinates, "singularity": self.singularity, "rigid": self.rigid,
            "stiffening": self.stiffening, "basis": None if self.basis is None else self.basis.data(),
        }  # fmt: skip
        return found | {"slopes": self.slopes} if self.slopes else found

    def text(self, title: str = "", units: Units | None = None, delta: Sequence[float] | None = None) -> Text:
        """Return a report of the equations, with slopes of M, K and p along parameters."""
        if self.M.ndim > 2:
            return super().text()
        name = f"{self.configuration.mechanism.name} (singularity {float(self.singularity):.3g}, 0 is singular)"
        out = super().text(title or name, units, delta)
        for along, slopes in self.slopes.items():
            out.matrix(f"∂M per {along}", self.coordinates, self.coordinates, slopes["M"])
            if slopes["K"].any():
                out.matrix(f"∂K per {along}", self.coordinates, self.coordinates, slopes["K"])
            out.matrix(f"∂p per {along}", self.coordinates, ("force",), slopes["force"][:, None])
        if self.slopes:
            out.line("--json gives all others")
        return out

    @cached_property
    def outputs(self) -> dict[str, LocalOutput]:
        """Outputs by name."""
        blocks = ("outputs", "rigid", "modes", "bend", "modes_slope")
        return {name: LocalOutput(*parts) for name, parts in self.output_parts(*blocks).items()}

    @cached_property
    def measures(self) -> Curved:
        """Measures of which the outputs consist, with their derivatives."""
        blocks = ("outputs", "rigid", "bend", "modes", "modes_slope")
        return Curved(*(self.row.part(self.rows, name) for name in blocks))

    @cached_property
    def dforce(self) -> Array:
        """∂p/∂η, (n, n)."""
        s, slope = self.theta.shape[-1], self.row.part(self.rows, "dforce_theta")
        if self.system is None:
            return slope
        found = np.zeros_like(self.M)
        found[..., :s, :s], found[..., :s, s:] = slope, self.force_slope
        found[..., s:, :s] = np.swapaxes(self.force_slope, -1, -2)
        return found

    @cached_property
    def dK(self) -> Array | None:
        """∂K/∂θ, (n, n, s); None for a rigid mechanism."""
        if self.system is None:
            return None
        s = self.theta.shape[-1]
        found = np.zeros((*self.K.shape, s))
        found[..., s:, s:, :] = np.moveaxis(self.stiffness_slope, -3, -1)
        return found

    @cached_property
    def ddamping(self) -> Array:
        """∂D_d/∂θ, (n, n, s), without the damping model of the mechanism."""
        return self.row.part(self.rows, "ddamping")

    @cached_property
    def dinput_map(self) -> Array:
        """∂B/∂θ, (n, inputs, s)."""
        return self.row.part(self.rows, "dinput_map")

    @cached_property
    def dfriction_map(self) -> Array:
        """∂J_j/∂θ, (f, n, s)."""
        return self.row.part(self.rows, "dfriction_map")

    @cached_property
    def overlap(self) -> Array | None:
        """Smallest overlap of the internal modes with the reference; None for a rigid mechanism."""
        return None if self.system is None else self.row.part(self.rows, "overlap")[..., 0]

    def mass(self, delta: ArrayLike) -> Array:
        """Return the mass matrix at a deformation δ.

        Parameters
        ----------
        delta : array_like, shape (..., n - s)
            Deformation coordinates δ.

        Returns
        -------
        ndarray, shape (..., n, n)
            M(θ, δ) = M + Σ_a δ_a ∂M/∂δ_a, as evaluated by a reduced model. With stiffening, M_θθ also contains
            ½ δᵀ ∂²M/∂δ² δ.

        Notes
        -----
        Γ at δ ≠ 0 also needs ∂²M/∂δ∂θ, second derivatives of the modes, which a local model does not have: its Γ is
        that at δ = 0. A reduced model takes them from its fit.
        """
        require_arguments(LocalModel.mass, locals())
        s = self.theta.shape[-1]
        given = np.asarray(delta, float)
        found = np.asarray(self.M + np.einsum("...ija,...a->...ij", self.dM[..., s:], given))
        if self.stiffening:
            found[..., :s, :s] += 0.5 * np.einsum("...ijab,...a,...b->...ij", self.mass_curvature, given, given)
        return found

    @property
    def basis(self) -> CoordinateBasis | None:
        """Basis of the deformation coordinates δ; None for a rigid mechanism."""
        return None if self.system is None else basis_of(self.configuration.mechanism, self.system.choice)

    @property
    def stiffening(self) -> bool:
        """Whether the model includes terms of second order in δ."""
        return self.system is not None and self.system.choice.stiffening

    @property
    def singularity(self) -> Array:
        """Singularity measure of the configuration; 0 is singular."""
        return self.configuration.singularity

    def displacements(self, body: str, delta: ArrayLike) -> Array:
        """Return the displacements u = Ψ_δ δ of the nodes of a body.

        Parameters
        ----------
        body : str
            Name of the body.
        delta : array_like, shape (..., n - s)
            Deformation coordinates δ.

        Returns
        -------
        ndarray, shape (..., degrees)
            Displacements of all degrees of freedom of the body's nodes, in its axes. With the configuration's pose of
            the body, node i is at x_b + R_b (X_i + u_i).

        Raises
        ------
        InputError
            If the model treats the body as rigid.
        """
        require_arguments(LocalModel.displacements, locals())
        if self.system is None or self.modes is None:
            raise InputError(f'body "{body}" is treated as rigid', hint="keep constraint or internal modes")
        found = self.system.rest.bodies[self.system.rest.numbering.body_index(body)]
        s = self.theta.shape[-1]
        z = np.einsum("...a,...az->...z", np.asarray(delta, float), self.modes[..., s:, found.start : found.stop])
        return z @ found.shapes.T


def local(
    mechanism: Mechanism,
    at: At | Configuration = None,
    *,
    constraint_modes: Sequence[str] = (),
    internal_modes: int = 0,
    tracking: str = "none",
    germ: At = None,
    rigid: bool = False,
    stiffening: bool = False,
    preload: bool = True,
    along: str | Sequence[str] = (),
) -> LocalModel:
    """Compute the equations of motion at a posture, with exact derivatives.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism to model.
    at : str, mapping, array_like or Configuration, optional
        Posture, as for `assemble`; a batch (N, s) gives the equations at N postures. Default: rest.
    constraint_modes : sequence of str, optional
        Displacements `point.axis` that become coordinates γ of the deformation. Default: none.
    internal_modes : int, optional
        Number of internal modes ι to keep. Default: 0.

        Without constraint and internal modes, elastic parts are treated as rigid.
    tracking : {"none", "subspace", "modes", "strain"}, optional
        Order of the internal modes: sorted by frequency, or aligned with those at `germ`. Default: "none".

        "none" gives the largest displacement of each mode a positive sign. "subspace" aligns the subspace of the modes
        by their motion, "strain" by their strain, and "modes" follows each mode; see docs/theory/parameterization.md.
    germ : str, mapping or array_like, optional
        Posture whose internal modes are the reference for `tracking`. Default: rest.
    rigid : bool, optional
        Treat elastic parts as rigid without a warning. Default: False.

        `LocalModel.rigid` names them.
    stiffening : bool, optional
        Include terms of second order in the deformation, for links that rotate fast or loads near buckling.
        Default: False.

        These are `mass_curvature`, the foreshortening of links in ∂M/∂δ, and in K the geometric stiffness of the loads
        at rest; see docs/theory/stiffening.md.
    preload : bool, optional
        Add the geometric stiffness of gravity and all forces at rest to K. Default: True.

        It acts on the kept modes, which are those without loads: keep more of them near buckling.
    along : str or sequence of str, optional
        Parameters of the file for the slopes in `LocalModel.slopes`. Default: none.

    Returns
    -------
    LocalModel
        Equations of motion with M, K, Γ, B, the outputs, and their derivatives.

    Raises
    ------
    InputError
        If the configuration is singular, or a mode or parameter is unknown.
    NumericalError
        If fewer internal modes exist than requested.

    Warns
    -----
    SuppleWarning
        If elastic parts are treated as rigid, or a motion has no inertia.

    See Also
    --------
    reduce : Fit a model that is valid over a region.
    linearize : Linear model in state space.
    modes : Natural frequencies and mode shapes.

    Notes
    -----
    M(θ) η̈ + Γ(θ)[η̇, η̇] + D_d(θ) η̇ + K(θ) η = p + B(θ) u and y = ρ_o(θ) + Ψ_o(θ) δ with η = (θ, δ), see
    docs/theory/parameterization.md [Brüls 2004, Brüls 2007].

    Examples
    --------
    >>> import supple
    >>> supple.local(supple.load("four-bar"), "home").M.round(3)
    array([[0.173]])
    >>> model = supple.local(supple.load("flexible-four-bar"), "home", internal_modes=2)
    >>> model.coordinates
    ('crank', 'mode1', 'mode2')
    >>> abs(model.M).round(3)
    array([[0.173, 0.414, 0.   ],
           [0.414, 1.   , 0.   ],
           [0.   , 0.   , 1.   ]])
    """
    require_arguments(local, locals())
    configuration = at if isinstance(at, Configuration) else assemble(mechanism, at)
    choice = mode_choice(
        mechanism, constraint_modes, internal_modes, tracking, germ, stiffening=stiffening, preload=preload
    )
    require_rigid_alone(rigid, choice.flexible)
    parameters = (along,) if isinstance(along, str) else tuple(along)
    single = configuration.X.ndim == 2
    if not choice.flexible:
        configuration.rest.numbering.require_coordinates()
        names = treat_as_rigid(mechanism, rigid, "keep modes of deformation (internal_modes)")
        rows, regular = rigid_rows(configuration)
        _require_regular(configuration, regular)
        layout = local_row(configuration)
        return LocalModel(
            configuration.theta, labels_of(configuration, None), layout, rows[0] if single else rows, configuration,
            rigid=names, slopes=local_slopes(configuration, choice, layout, parameters),
        )  # fmt: skip
    configuration.rest.numbering.require_coordinates()
    system = modal_parameterization(mechanism, choice)
    found = modal_rows(configuration, system)
    _require_regular(configuration, (found.status != SINGULAR).astype(np.int64))
    _require_modes(configuration, found.status)
    rows, modes = (found.rows[0], found.modes[0]) if single else (found.rows, found.modes)
    slopes = local_slopes(configuration, choice, modal_layout(system), parameters)
    model = LocalModel(
        configuration.theta, labels_of(configuration, system), modal_layout(system), rows, configuration, system, modes,
        slopes=slopes,
    )  # fmt: skip
    words = massless_warning(mechanism, model.labels.coordinates, model.M if single else model.M[0])
    if words is not None:
        warnings.warn(words, SuppleWarning, stacklevel=2)
    return model


def mode_choice(
    mechanism: Mechanism,
    constraint: Sequence[str],
    internal: int,
    tracking: str,
    germ: At = None,
    *,
    stiffening: bool = False,
    preload: bool = True,
) -> ModeChoice:
    """Return the requested choice of modes, with θ of the germ as numbers."""
    require_arguments(mode_choice, locals())
    theta = None if germ is None else tuple(coordinate_values(mechanism, germ).tolist())
    found = ModeChoice(tuple(constraint), internal, tracking, theta, stiffening, preload)
    require_deformation(found)
    if not found.flexible:
        return replace(found, preload=False)
    if preload and not stiffening and mechanism.elastic and carries_loads(mechanism):
        return replace(found, preload=held_loads(mechanism, "coefficients"))
    return found


def coefficient_rows(
    configuration: Configuration, choice: ModeChoice = RIGID, *, load_slopes: bool = True
) -> tuple[Array, NDArray[np.int64]]:
    """Return all coefficients at each configuration in one row (N, width), and whether they exist (N,).

    The layout is that of `local_row`. A row depends on its own configuration alone, bit for bit, whatever the rest of
    the batch. Without load_slopes the part of the loads at rest is in K and not in ∂K/∂θ, see `modal_rows`.
    """
    configuration.rest.numbering.require_coordinates()
    if not choice.flexible:
        return rigid_rows(configuration)
    system = modal_parameterization(configuration.mechanism, choice)
    found = modal_rows(configuration, system, loads="slopes" if load_slopes else "values")
    return found.rows, (found.status == DONE).astype(np.int64)


def local_row(configuration: Configuration, choice: ModeChoice = RIGID) -> RowLayout:
    """Return the layout of the coefficients in a row."""
    if choice.flexible:
        return modal_layout(modal_parameterization(configuration.mechanism, choice))
    return rigid_layout_of(configuration.rest.numbering, get_coefficients(configuration.rest))


def labels_of(configuration: Configuration, system: ModalParameterization | None = None) -> Labels:
    """Return the names of coordinates, inputs and outputs, and their units; computed once for each choice of modes."""
    numbering, load = configuration.rest.numbering, get_coefficients(configuration.rest)
    choice = RIGID if system is None else system.choice

    def make_labels() -> Labels:
        names = numbering.coordinates if system is None else system.coordinates
        inputs, outputs = (*numbering.mechanism.actuators, *choice.constraint), load.observation.names
        units = model_units(configuration.rest, names, inputs, outputs, choice.internal)
        return Labels(names, inputs, outputs, load.dry_forces, choice.internal, units, load.observation)

    return numbering.mechanism.compute_once(f"labels {choice}", make_labels)


def _require_modes(configuration: Configuration, status: NDArray[np.int64]) -> None:
    if (status == DONE).all():
        return
    n = int(np.flatnonzero(status != DONE)[0])
    theta = np.atleast_2d(configuration.theta)[n]
    where = values_text(configuration.coordinates, theta)
    few = status[n] == TOO_FEW
    raise NumericalError(
        f"{'fewer internal modes exist than requested' if few else 'the modes were not found'} at {where}",
        part=f'mechanism "{configuration.mechanism.name}"',
        hint="request fewer internal modes" if few else "choose a configuration away from where a coordinate locks",
    )


def _require_regular(configuration: Configuration, regular: NDArray[np.int64]) -> None:
    if regular.all():
        return
    n = int(np.flatnonzero(regular == 0)[0])
    at = configuration.batch.part(n)
    for key, row in at.rest.numbering.measures.items():
        if key[0] == "between" and len(key) == 3 and at.w[row - at.rest.numbering.constraints] == 0.0:
            raise InputError(
                f'the distance between "{key[1]}" and "{key[2]}" is zero, and has no direction',
                part=f'mechanism "{configuration.mechanism.name}"',
                hint="choose a configuration in which they do not coincide",
            )
    locked = ", ".join(f'"{name}"' for name in locked_coordinates(at)) or "no coordinate"
    values = ", ".join(f"{name}={value:.6g}" for name, value in at.coordinates.items())
    raise InputError(
        f"{values} is a singular configuration (measure {float(at.singularity):.1g}); {locked} locks there",
        part=f'mechanism "{configuration.mechanism.name}"',
        hint="choose a configuration away from the singularity, or other coordinates",
    )


# Motions without mass, where the mass matrix is singular, and the motors whose inertia would remove them.


LEAST = 1e-9  # smallest eigenvalue of M scaled to a unit diagonal; accelerations lose as many digits
_PART = 0.1  # smallest share in a motion of a listed coordinate, relative to the largest


def massless_warning(mechanism: Mechanism, names: Sequence[str], M: Array) -> str | None:
    """Return a warning about motions without inertia, for M (n, n) over the coordinates `names`; else None."""
    scale = 1.0 / np.sqrt(np.diag(M))
    values, vectors = np.linalg.eigh(scale[:, None] * M * scale)
    if not values[0] < LEAST:
        return None
    parts = np.abs(vectors[:, 0])
    moving = ", ".join(name for name, part in zip(names, parts, strict=True) if part > _PART * parts.max())
    idle = [name for name, joint in mechanism.joints.items() if joint.drive is not None and joint.motor is None]
    cure = f"give the motors of {', '.join(idle)} their inertia (motor: {{inertia: ..., gear: ...}})" if idle else ""
    return (
        f"a motion of {moving} has no inertia (smallest eigenvalue of M scaled to a unit diagonal: {values[0]:.1e}): "
        "do not use accelerations, time integration or exports of this model; "
        f"{cure or 'give the moving parts a mass'}, or keep fewer modes"
    )


# Slopes of all coefficients of a local model along parameters of the file, at constant θ.
#
# For a rigid mechanism M, V, p, B, D_d, the outputs and J_j have exact slopes (`parameter_slopes`). Their derivatives
# (∂M/∂θ, Γ, ∂p/∂θ, ...), and everything of a flexible mechanism, whose modes change with the parameter, are evaluated
# at six values around the parameter's own, with the mechanism read again at each. The slopes are accurate to about
# 1e-10 relative (docs/theory/parameters.md, eqs. 1 and 2).


_JUDGED = ("M", "K", "outputs")  # if these are smooth, all are
_COUNTED = ("overlap", "places")  # data on the search for modes, no coefficients


def local_slopes(
    configuration: Configuration, choice: ModeChoice, layout: RowLayout, along: Sequence[str]
) -> dict[str, dict[str, Array]]:
    """Return {parameter: {coefficient: ∂/∂μ}}, with shapes as in `equations.row`; a batch has a leading axis."""
    mechanism = configuration.mechanism
    if along:
        require_parameters(mechanism, along)
    single, found = configuration.theta.ndim == 1, {}
    for name in along:
        around = neighbours(mechanism, name)
        rows = around.slopes(
            lambda item: {
                key: values
                for key, values in layout.split(
                    coefficient_rows(assemble(item, configuration.theta), choice)[0]
                ).items()
                if key not in _COUNTED
            },
            _JUDGED,
        )
        if not choice.flexible:
            exact = parameter_slopes(configuration, name)
            rows |= {key: layout.part(exact, key) for key in KNOWN}
        found[name] = {key: values[0] if single else values for key, values in rows.items()}
    return found


# Conversion between a choice of modes and its basis.


_DIGITS = 10  # digits of θ at the germ: a posture reached in two ways gives the same basis


def basis_of(mechanism: Mechanism, choice: ModeChoice) -> CoordinateBasis | None:
    """Return the basis of δ; None if nothing deforms."""
    if not choice.flexible:
        return None
    mechanism = first_of(mechanism) or mechanism  # one germ for all of a family
    return mechanism.compute_once(f"basis {choice}", lambda: _make_basis(mechanism, choice))


def choice_of(mechanism: Mechanism, basis: CoordinateBasis) -> ModeChoice:
    """Return the choice of modes of a basis; a basis of another mechanism is an error that names both."""
    germ = tuple(basis.germ.values()) if basis.germ else None
    names = rest(mechanism).numbering.coordinates
    if not basis.germ or tuple(basis.germ) == names:
        found = ModeChoice(basis.constraint, basis.internal, basis.tracking, germ)
        if basis_of(mechanism, found) == basis:
            return found
        ours = str(_make_basis(mechanism, found))
    else:
        ours = f"the coordinates {', '.join(names)}"
    raise InputError(
        f"the basis belongs to another mechanism: {basis}, but the basis of this one is {ours}",
        part="basis",
        hint="load the mechanism that the model was reduced from, with the same parameters",
    )


def _make_basis(mechanism: Mechanism, choice: ModeChoice) -> CoordinateBasis:
    position = rest(mechanism)
    germ: dict[str, float] = {}
    if choice.internal and choice.tracking != "none":
        theta = position.theta.tolist() if choice.germ is None else choice.germ
        germ = dict(zip(position.numbering.coordinates, theta, strict=True))
    tracking = choice.tracking if choice.internal else "none"
    place = {name: float(f"{value:.{_DIGITS}g}") + 0.0 for name, value in germ.items()}
    parts = [_bare_text(mechanism), choice.constraint, choice.internal, tracking, place]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:8]
    return CoordinateBasis(choice.constraint, choice.internal, tracking, germ, digest)


def _bare_text(mechanism: Mechanism) -> str:
    """Return the text of the mechanism without names and descriptions."""

    def make_text() -> str:
        bare = mechanism.replace(
            name="mechanism", description=None, parameters={}, configurations={}, motions={}, scenarios={}
        )
        return to_yaml(bare)

    return mechanism.compute_once("text of the mechanism alone", make_text)
