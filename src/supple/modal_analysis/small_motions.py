"""Small motions about the deformed mechanism, at rest or in steady rotation (docs/theory/flexible-statics.md).

    M p̈ + (D + G) ṗ + K_t p + Jᵀλ = 0,   J p = C λ

about r(q₀) = 0: K_t is the elastic stiffness and the stiffness of all forces and of inertia at q₀; G is gyroscopic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eig, eigh, null_space

from supple.array_types import Array, Complex
from supple.compilation.threads import single_blas_thread
from supple.description.mechanism import Mechanism, treat_as_rigid
from supple.diagnostics import InputError, NumericalError
from supple.diagnostics.arguments import require_arguments
from supple.formulations.absolute.settling import Saddle
from supple.formulations.absolute.tangent import Tangent
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.modal_analysis.modes import require_count
from supple.reduced.state_arguments import in_order
from supple.results.result import Entries, Result, eigenvalue_entries, picture
from supple.results.table import Table
from supple.results.text import Text, number_text, posture_heading
from supple.statics.deformed_rest import DeformedRest, deformed_rest
from supple.statics.equilibrium import undeformed_equilibrium


@dataclass(frozen=True, eq=False, repr=False)
class SmallMotions(Result):
    """Free motions about a state, the slowest first; returned by `small_motions`.

    Attributes
    ----------
    eigenvalues : ndarray of complex, shape (k,)
        s of p = φ exp(s t), 1/s; of each conjugate pair the one with positive imaginary part.
    shapes : ndarray of complex, shape (k, frames, d)
        Displacements φ of every frame in its own axes.
    rates : ndarray, shape (s,)
        Rates θ̇ of the steady motion, rad/s or m/s.
    found : DeformedRest
        Equilibrium about which the mechanism moves.

    See Also
    --------
    small_motions : Compute the free motions.
    """

    eigenvalues: Complex
    shapes: Complex
    rates: Array
    found: DeformedRest

    def __len__(self) -> int:
        return len(self.eigenvalues)

    def summary(self) -> str:
        """Return a one-line summary."""
        low, high = (f"{value:.4g}" for value in (self.frequencies_hz.min(), self.frequencies_hz.max()))
        moving = " in steady motion" if self.rates.any() else ""
        return f"of {self.configuration!r}{moving}: {len(self)} modes, {low} to {high} Hz"

    def table(self) -> Table:
        """Return a table with number, frequency and damping ratio of each mode."""
        numbers = np.arange(1, len(self) + 1)
        columns = {"mode": numbers, "frequency_hz": self.frequencies_hz, "damping_ratio": self.damping_ratios}
        return Table(columns, {"frequency_hz": "Hz", "damping_ratio": "1"}, index="mode")

    def data(self) -> dict[str, Any]:
        """Return the data that `--json` prints."""
        names = self.configuration.rest.numbering.coordinates
        return {
            "frequencies_hz": self.frequencies_hz,
            "damping_ratios": self.damping_ratios,
            "at": self.configuration.coordinates,
            "rates": dict(zip(names, self.rates.tolist(), strict=True)),
            "rigid": self.configuration.rigid,
        }

    def text(self) -> Text:
        """Return a report: frequency and damping ratio of each mode."""
        moving = " by steady motion" if self.rates.any() else ""
        out = Text(f"{posture_heading(self.configuration)}, deformed{moving}")
        rows = [
            (str(i + 1), f"{hertz:.5g}", number_text(ratio))
            for i, (hertz, ratio) in enumerate(zip(self.frequencies_hz, self.damping_ratios, strict=True))
        ]
        out.table(("mode", "Hz", "damping ratio"), rows)
        return out

    def map_entries(self) -> Entries:
        """Return frequency and damping ratio of each mode, for maps."""
        return eigenvalue_entries(self.eigenvalues)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the table, the eigenvalues and the shapes."""
        return {"theta": self.configuration.theta, **self.table().arrays(), "eigenvalues": self.eigenvalues,
                "shapes": self.shapes}  # fmt: skip

    def plot(self, *, axes: Any = None) -> Any:
        """Draw the eigenvalues in the complex plane with matplotlib and return the panels."""
        return picture("linearization.plot.pole_plot")({"": self.eigenvalues}, axes=axes)

    @property
    def configuration(self) -> Configuration:
        """Deformed configuration of the mechanism."""
        return self.found.configuration

    @property
    def frequencies_hz(self) -> Array:
        """Frequencies |s| / 2π, Hz; 0 for a motion without stiffness."""
        return np.abs(self.eigenvalues) / (2.0 * np.pi)

    @property
    def damping_ratios(self) -> Array:
        """Damping ratios -Re s / |s|; negative for an unstable motion."""
        size = np.abs(self.eigenvalues)
        return np.divide(-self.eigenvalues.real, size, out=np.zeros(len(size)), where=size > 0.0)


def small_motions(
    mechanism: Mechanism,
    at: At | Configuration = None,
    *,
    rates: Mapping[str, float] | ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    count: int = 6,
    free_actuators: bool = False,
) -> SmallMotions:
    """Compute the slowest free motions about the loaded equilibrium or a steady motion, from the full equations.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism to analyse.
    at : str, mapping, array_like or Configuration, optional
        Posture, as for `assemble`; one posture, not a batch. Default: rest.
    rates : mapping of str to float or array_like, optional
        Rates θ̇ of a steady motion, rad/s or m/s, by name or in order. Default: at rest.

        The coordinates are prescribed; the bodies rotate as if rigid and are deformed by inertia. Frequencies are
        meaningful if the mechanism rotates as a whole.
    inputs : array_like, shape (actuators,), optional
        Forces of the actuators at rest, N or N m. Default: 0.
    count : int, optional
        Number of modes, the slowest first. Default: 6.
    free_actuators : bool, optional
        Let the coordinates θ move freely, about the equilibrium close to `at`. Default: False, coordinates are locked.

    Returns
    -------
    SmallMotions
        Eigenvalues and shapes.

    Raises
    ------
    InputError
        If several postures are given, or `rates` together with `free_actuators`.
    NumericalError
        If nothing can move, or the equilibrium is not found.

    See Also
    --------
    modes : Modes about the undeformed mechanism.
    linearize : Linear model in state space.

    Notes
    -----
    M p̈ + (D + G) ṗ + K_t p + Jᵀλ = 0, J p = C λ about the equilibrium; see docs/theory/flexible-statics.md. K_t
    contains the elastic stiffness and the stiffness of all forces and of inertia at the equilibrium, G the gyroscopic
    terms.

    Examples
    --------
    >>> import supple
    >>> found = supple.small_motions(supple.load("flexible-four-bar"), "home", count=2)
    >>> found.frequencies_hz.round(1)
    array([10.3, 26.5])
    """
    require_arguments(small_motions, locals())
    require_count(count)
    here = at if isinstance(at, Configuration) else assemble(mechanism, at)
    if here.theta.ndim > 1:
        raise InputError("more than one posture is given", part="θ", hint="give one posture at a time")
    names = here.rest.numbering.coordinates
    v = np.zeros(len(names)) if rates is None else in_order("rates", rates, names)
    u = np.zeros(len(mechanism.actuators)) if inputs is None else in_order("inputs", inputs, tuple(mechanism.actuators))
    if free_actuators:
        if v.any():
            raise InputError(
                "not possible with rates, which prescribe the coordinates", part="free_actuators", hint="remove one"
            )
        if here.deformed is None:
            here = undeformed_equilibrium(here, u)
    found = deformed_rest(here, u, () if free_actuators else None, rates=v)
    treat_as_rigid(mechanism, False, "give them as beams", names=found.problem.frames.rigid)
    motions = free_motions(found.settled.tangent, count)
    shapes = motions.shapes.T.reshape(len(motions.eigenvalues), *found.state.V.shape)
    return SmallMotions(motions.eigenvalues, shapes, v, found)


# Free small motions about a state: eigenvalues of M p̈ + D ṗ + K p + Jᵀλ = 0, J p = C λ.
#
# Only the slowest of many motions are needed, so the inverse is iterated: with q = K⁻¹ under the rows,
#
#     (p, v) → (-K⁻¹ (M v + D p), p)                 has the eigenvalues 1/s of p̈ = s² p
#
# and without damping and rotation, K⁻¹ M is symmetric and has 1/ω². Small systems are solved densely, in the motions
# that the rows leave free.


_DENSE = 150  # largest number of coordinates of a dense solution
_NOTHING = 1e-13  # fraction of the largest entry below which a matrix is rounding
_RANK = 1e-10
_TRACE = 1e-11  # fraction of the largest stiffness that is added to detect motions without stiffness


class FreeMotions(NamedTuple):
    """Free motions by ascending magnitude of their eigenvalues.

    eigenvalues : (k,) 1/s; of conjugate pairs the one with Im s > 0
    shapes      : (n, k) displacements in the axes of the frames
    """

    eigenvalues: Complex
    shapes: Complex


@single_blas_thread()
def free_motions(tangent: Tangent, count: int) -> FreeMotions:
    """Return the slowest motions; motions without stiffness have the eigenvalue 0."""
    n = tangent.K.shape[0]
    steady = _is_negligible(tangent.D, tangent.M, tangent.K)
    if n <= _DENSE or count >= n // 4:
        return _dense(tangent, count, steady)
    if _has_free_motion(tangent):
        return _dense(tangent, count, steady)
    return _symmetric_modes(tangent, count) if steady else _damped_modes(tangent, count)


def _is_negligible(D: sp.csc_array, M: sp.csc_array, K: sp.csc_array) -> bool:
    """Return whether damping and gyroscopic terms are rounding compared with √(K M)."""
    reference = np.sqrt(float(np.abs(M).max()) * max(float(np.abs(K).max()), 0.0))
    return float(np.abs(D).max()) <= _NOTHING * reference


def _has_free_motion(tangent: Tangent) -> bool:
    """Return whether a motion has no stiffness, so that K alone cannot be inverted."""
    n = tangent.K.shape[0]
    push = tangent.M @ np.random.default_rng(1).standard_normal(n)
    stiffest = float(np.abs(tangent.K.diagonal()).max(initial=0.0))
    try:
        held = [
            Saddle(sp.csc_array(tangent.K + part * stiffest * sp.eye_array(n)), tangent.J, tangent.compliance)
            for part in (0.0, _TRACE)
        ]
        free, other = (np.linalg.norm(saddle.solve(push)[0]) for saddle in held)
    except NumericalError:
        return True
    return not free < 2.0 * other


def _symmetric_modes(tangent: Tangent, count: int) -> FreeMotions:
    """Return the lowest modes of K p = ω² M p."""
    M, K = _even(tangent.M), _even(tangent.K)
    saddle = Saddle(K, tangent.J, tangent.compliance)
    n = M.shape[0]
    begin = saddle.solve(M @ np.random.default_rng(0).standard_normal(n))[0]
    inverse = spla.LinearOperator((n, n), matvec=lambda x: saddle.solve(np.asarray(x).ravel())[0], dtype=float)
    squares, shapes = spla.eigsh(K, count, M, sigma=0.0, OPinv=inverse, v0=begin, tol=1e-13)
    order = np.argsort(np.abs(squares))
    return FreeMotions(np.sqrt((-squares[order]).astype(complex)), shapes[:, order].astype(complex))


def _damped_modes(tangent: Tangent, count: int) -> FreeMotions:
    saddle = Saddle(tangent.K, tangent.J, tangent.compliance)
    M, D, n = tangent.M, tangent.D, tangent.K.shape[0]

    def apply_inverse(x: Array) -> Array:
        p, v = x[:n], x[n:]
        return np.concatenate([-saddle.solve(M @ v + D @ p)[0], p])

    start = np.random.default_rng(0).standard_normal(n)
    begin = np.concatenate([saddle.solve(M @ start)[0], saddle.solve(D @ start + M @ start)[0]])
    operator = spla.LinearOperator((2 * n, 2 * n), matvec=lambda x: apply_inverse(np.asarray(x).ravel()), dtype=float)
    inverse, vectors = spla.eigs(operator, 2 * count, which="LM", v0=begin, tol=1e-12)
    return _select_slowest(1.0 / inverse, vectors[:n], count)


def _dense(tangent: Tangent, count: int, steady: bool) -> FreeMotions:
    J, c = tangent.J.toarray(), tangent.compliance
    soft = c > 0.0
    K = tangent.K.toarray() + J[soft].T @ (J[soft] / c[soft, None])
    hard = J[~soft]
    size = np.linalg.norm(hard, axis=1, keepdims=True)
    N = null_space(hard / np.where(size > 0.0, size, 1.0), rcond=_RANK) if len(hard) else np.eye(len(K))
    if N.shape[1] == 0:
        raise NumericalError("nothing can move", hint="free the actuators, or make a part elastic")
    M, D, K = (N.T @ item @ N for item in (tangent.M.toarray(), tangent.D.toarray(), K))
    if steady:
        M, K = 0.5 * (M + M.T), 0.5 * (K + K.T)
        try:  # the slowest are the largest of the inverse, which keeps their digits
            inverse, V = eigh(M, K)
            squares = 1.0 / np.where(inverse > 0.0, inverse, np.inf)[::-1]
            V = V[:, ::-1]
        except np.linalg.LinAlgError:
            squares, V = eigh(K, M)
        order = np.argsort(np.abs(squares), kind="stable")[:count]
        return FreeMotions(np.sqrt((-squares[order]).astype(complex)), (N @ V[:, order]).astype(complex))
    k = len(K)
    unit, none = np.eye(k), np.zeros((k, k))
    values, vectors = eig(np.block([[none, unit], [-K, -D]]), np.block([[unit, none], [none, M]]))
    return _select_slowest(values, N @ vectors[:k], count)


def _select_slowest(values: Complex, vectors: Complex, count: int) -> FreeMotions:
    """Return one of each conjugate pair, the slowest first."""
    finite = np.isfinite(values)
    kept = finite & (values.imag >= -1e-9 * np.abs(values))
    values, vectors = values[kept], vectors[:, kept]
    order = np.argsort(np.abs(values), kind="stable")[:count]
    return FreeMotions(values[order], vectors[:, order])


def _even(matrix: sp.csc_array) -> sp.csc_array:
    return sp.csc_array(0.5 * (matrix + matrix.T))
