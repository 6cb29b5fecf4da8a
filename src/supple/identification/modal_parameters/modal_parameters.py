"""Modes identified from measured responses: frequencies, damping, shapes, and their uncertainty."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array, Complex
from supple.diagnostics import InputError
from supple.identification.modal_parameters.modal_model import Poles, synthesise_receptances
from supple.identification.modal_parameters.stabilisation import Stabilisation
from supple.modal_analysis.mode_set import mac
from supple.results.responses import UNIVERSAL, Responses
from supple.results.result import Result, picture
from supple.results.table import Table
from supple.results.text import Text, list_names, number_text

# Complexity of shapes: whether the points move in phase, as those of normal modes do.


def phase_collinearity(shapes: Complex) -> Array:
    """Return the modal phase collinearity, MPC (R,): 1 if all entries of a shape (R, n) are in phase or opposite phase.

    ((S_xx - S_yy)² + 4 S_xy²) / (S_xx + S_yy)² with S the products of real and imaginary parts        [Pappa; eq. 17]

    It is 0 if there is no common phase. The mean of the parts is not subtracted: a shape of one entry, or one with
    uniform motion, is in phase, too.
    """
    x, y = shapes.real, shapes.imag
    xx, yy, xy = (np.sum(a * b, axis=-1) for a, b in ((x, x), (y, y), (x, y)))
    whole = np.maximum((xx + yy) ** 2, np.finfo(float).tiny)
    return np.asarray(((xx - yy) ** 2 + 4.0 * xy**2) / whole)


def mean_phase(shapes: Complex) -> Array:
    """Return the phase (R,), rad, of the line through zero closest to the entries of a shape.

    It is half the angle of Σ ψ².
    """
    return np.asarray(0.5 * np.angle(np.sum(shapes**2, axis=-1)))


def phase_deviation(shapes: Complex) -> Array:
    """Return the mean phase deviation, MPD (R,), rad (eq. 18).

    It is the mean angle between the entries of a shape and its mean phase, weighted by their size.
    """
    turned = shapes * np.exp(-1j * mean_phase(shapes))[..., None]
    size = np.abs(turned)
    angle = np.arctan2(np.abs(turned.imag), np.abs(turned.real))
    return np.asarray(np.sum(size * angle, axis=-1) / np.maximum(size.sum(axis=-1), np.finfo(float).tiny))


def rotate_to_real(shapes: Complex) -> Complex:
    """Return the shapes rotated by their mean phase, with a largest entry of 1, so that they are nearly real."""
    turned = shapes * np.exp(-1j * mean_phase(shapes))[..., None]
    rows = np.arange(len(turned))
    largest = turned[rows, np.abs(turned).argmax(axis=1)] if turned.size else np.ones(len(turned))
    size = np.maximum(np.abs(largest), np.finfo(float).tiny)
    return np.asarray(turned / (np.where(largest.real < 0.0, -1.0, 1.0) * size)[:, None])


# The modes of a band.


_FAINT = 1e-3  # of the largest response of the same quantity
PICTURES = ("stabilisation", "responses", "mac")


@dataclass(frozen=True, eq=False, repr=False)
class ModalParameters(Result):
    """Modes in a frequency band, in order of frequency, with their standard deviations.

    Attributes
    ----------
    poles : ndarray, shape (R,)
        Poles s, 1/s, without the decay that an exponential window added (`Responses.window_rate`).
    shapes : ndarray, shape (R, No)
        Complex displacements at the response channels, with a largest entry of 1 and as real as possible.
    participation : ndarray, shape (R, Ni)
        Complex participation factors: shapes[r, o] participation[r, i] is the residue of H_oi at s_r.
    frequency_deviations_hz, damping_deviations : ndarray, shape (R,)
        Standard deviations of frequencies, Hz, and of damping ratios.
    correlation : ndarray, shape (R,)
        Correlation of each frequency with its damping ratio.
    shape_deviations : ndarray, shape (R, No)
        Standard deviations of the entries of `shapes`, of both real and imaginary parts.
    lower, upper : ndarray, shape (No, Ni)
        Residual terms for modes below and above the band.
    responses : Responses
        Lines that were fitted.
    noise : ndarray, shape (n, No, Ni)
        Standard deviation of the noise of each response at each line, in its unit.
    stabilisation : Stabilisation
        Poles of all orders, and the clusters from which the fit started.
    method, order, refined : str, int, bool
        Estimation method, its highest order, and whether the poles were refined by maximum likelihood.
    structural : bool or None
        True if the damping is structural (the other pole of s is -s), False if it is viscous (it is s*), None if the
        responses do not determine it.
    notes : tuple of str
        Assumptions, omissions and doubts.
    """

    poles: Complex
    shapes: Complex
    participation: Complex
    frequency_deviations_hz: Array
    damping_deviations: Array
    correlation: Array
    shape_deviations: Array
    lower: Complex
    upper: Complex
    responses: Responses
    noise: Array
    stabilisation: Stabilisation
    method: str
    order: int
    refined: bool = True
    beside: tuple[Poles, Complex] | None = None  # modes outside the band that were fitted along, and their shapes
    structural: bool | None = None
    notes: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.poles)

    @property
    def frequencies_hz(self) -> Array:
        """Frequencies |s| / 2π (R,), Hz."""
        return np.asarray(np.abs(self.poles) / (2.0 * np.pi))

    @property
    def natural_frequencies_hz(self) -> Array:
        """Undamped natural frequencies (R,), Hz: |s| / 2π for viscous, √(-Re s²) / 2π for structural damping (eq. 24).

        If the kind of damping is unknown, it is the mean of both.
        """
        share = {True: 1.0, False: 0.0, None: 0.5}[self.structural]
        return np.asarray(self.frequencies_hz * np.sqrt(1.0 - 2.0 * share * np.square(self.damping)))

    @property
    def damping(self) -> Array:
        """Damping ratios ζ = -Re s / |s| (R,)."""
        return np.asarray(-self.poles.real / np.abs(self.poles))

    @property
    def phase_collinearity(self) -> Array:
        """Modal phase collinearity, MPC (R,): 1 if all points of a shape move in phase or in opposite phase."""
        return phase_collinearity(self.shapes)

    @property
    def phase_deviation(self) -> Array:
        """Mean phase deviation, MPD (R,), rad: 0 for a normal mode."""
        return phase_deviation(self.shapes)

    @property
    def real_shapes(self) -> Array:
        """Real part of the shapes (R, No), to compare with normal modes of a model."""
        return np.ascontiguousarray(self.shapes.real)

    @cached_property
    def modal_masses(self) -> Array:
        """Modal masses (R,), kg, for shapes with a largest entry of 1; NaN without a driving-point response.

        For a normal mode the residue is φ_o φ_i / (2i ω_d m), so that m = φ_i / (2i ω_d l_i). The mean is over the
        references that have a response at their own point and direction, weighted by |l_i|². With structural damping 2s
        replaces 2i ω_d.
        """
        twice = 2.0 * self.poles if self.structural else 2j * self.poles.imag
        weight, total = np.zeros(len(self)), np.zeros(len(self))
        for i, (o, sign) in self._own_responses().items():
            l_i, phi = self.participation[:, i], sign * self.shapes[:, o]
            share = np.abs(l_i) ** 2
            total += share * (phi / (twice * l_i)).real
            weight += share
        return np.divide(total, weight, out=np.full(len(self), np.nan), where=weight > 0.0)

    def _own_responses(self) -> dict[int, tuple[int, float]]:
        """Return for each reference the response at the same point in the same direction, and its sign."""
        names = {one.name: o for o, one in enumerate(self.responses.responses)}
        found: dict[int, tuple[int, float]] = {}
        for i, one in enumerate(self.responses.references):
            if one.name in names:
                found[i] = names[one.name], 1.0
            elif one.reverse().name in names:
                found[i] = names[one.reverse().name], -1.0
        return found

    # ------------------------------------------------------------------------------------------ the fit itself

    def synthesise(self, frequencies_hz: ArrayLike | None = None) -> Complex:
        """Return the fitted responses Ĥ (n, No, Ni), in the units of the responses.

        Parameters
        ----------
        frequencies_hz : array_like, shape (n,), optional
            Lines, Hz, above 0. Default: those of the responses.
        """
        hertz = np.asarray(self.responses.frequencies_hz if frequencies_hz is None else frequencies_hz, float)
        if (hertz <= 0.0).any():
            raise InputError(
                f"lines must be above 0 Hz (got {hertz.min():g} Hz)", part="synthesised", hint="give lines above 0 Hz"
            )
        omega = 2.0 * np.pi * hertz
        seen = Poles(
            self.poles - self.responses.window_rate, self.participation
        )  # with the exponential window, as in the records
        mirror = 2.0 * self.responses.window_rate if self.structural else None
        found = synthesise_receptances(omega, seen, self.shapes, self.lower, self.upper, mirror)
        if self.beside is not None:
            found = found + synthesise_receptances(omega, *self.beside, 0.0 * self.lower, 0.0 * self.upper, mirror)
        return np.asarray(found * derivatives(self.responses, omega)[:, :, None])

    @cached_property
    def misfit(self) -> float:
        """Misfit Σ|H - Ĥ|² / Σ|H|² over lines and channels, each over its mean square, without `faint` ones."""
        H, fitted = self.responses.H, self.synthesise()
        size = np.maximum((np.abs(H) ** 2).mean(axis=0), np.finfo(float).tiny)
        share = (np.abs(H - fitted) ** 2 / size).mean(axis=0)
        return float(share[~self.faint].mean() if not self.faint.all() else share.mean())

    @cached_property
    def faint(self) -> NDArray[np.bool_]:
        """Responses (No, Ni) that are small compared with the largest of their quantity and mostly noise."""
        size = np.sqrt((np.abs(self.responses.H) ** 2).mean(axis=0))
        kinds = [one.quantity for one in self.responses.responses]
        largest = np.array([max(size[i].max() for i, other in enumerate(kinds) if other == one) for one in kinds])
        return np.asarray((size <= _FAINT * largest[:, None]) & (self.assurance < 0.5))

    @cached_property
    def residual_power(self) -> float:
        """Fraction of the responses' power that the fit does not explain, without `faint` responses (eq. 21)."""
        return unexplained_share(*self._without_faint)

    @cached_property
    def missing_hz(self) -> Array:
        """Frequencies near which a mode seems missing, Hz: peaks of the residuals."""
        return missing_modes(self.responses.frequencies_hz, *self._without_faint)

    @cached_property
    def _without_faint(self) -> tuple[Complex, Complex]:
        """H and Ĥ, zero for `faint` responses, unless all are faint."""
        seen = ~self.faint | self.faint.all()
        return np.asarray(self.responses.H * seen), np.asarray(self.synthesise() * seen)

    @cached_property
    def assurance(self) -> Array:
        """Similarity of each response and its fit (No, Ni), |ΣĤ*H|² / (Σ|Ĥ|² Σ|H|²): 1 for a constant factor."""
        H, fitted = self.responses.H, self.synthesise()
        both = np.abs(np.sum(fitted.conj() * H, axis=0)) ** 2
        sizes = np.sum(np.abs(fitted) ** 2, axis=0) * np.sum(np.abs(H) ** 2, axis=0)
        return np.asarray(both / np.maximum(sizes, np.finfo(float).tiny))

    def mac(self, other: ModalParameters | ArrayLike | None = None) -> Array:
        """Return the modal assurance criterion, MAC (R, R'), of these shapes with others in the same channels.

        Parameters
        ----------
        other : ModalParameters or array_like, shape (R', No), optional
            Other shapes. Default: these shapes themselves (auto-MAC).
        """
        if other is None:
            return mac(self.shapes, self.shapes)
        return mac(self.shapes, other.shapes if isinstance(other, ModalParameters) else other)

    # ------------------------------------------------------------------------------------------ text, files, plots

    def summary(self) -> str:
        """Return a one-line summary."""
        hertz = self.responses.frequencies_hz
        found = ", ".join(f"{f:.4g}" for f in self.frequencies_hz[:8]) + (", ..." if len(self) > 8 else "")
        of = f' of "{self.responses.title}"' if self.responses.title else ""
        return (
            f"{len(self)} modes{of} from {hertz[0]:.4g} to {hertz[-1]:.4g} Hz: {found or 'none'} Hz; "
            f"{self.residual_power:.2%} of the responses' power unexplained{self._describe_missing()}"
        )

    def _describe_missing(self) -> str:
        if not len(self.missing_hz):
            return ""
        return f"; a mode may be missing near {list_names([f'{f:.4g} Hz' for f in self.missing_hz])}"

    def table(self) -> Table:
        """Return one row for each mode, with its frequency, damping, phases, modal mass and shape."""
        columns: dict[str, NDArray[Any]] = {
            "mode": np.arange(1, len(self) + 1),
            "frequency_hz": self.frequencies_hz, "frequency_deviation_hz": self.frequency_deviations_hz,
            "damping_ratio": self.damping, "damping_deviation": self.damping_deviations,
            "phase_collinearity": self.phase_collinearity, "phase_deviation": self.phase_deviation,
            "modal_mass": self.modal_masses,
        }  # fmt: skip
        columns |= {f"shape {one.name}": self.shapes[:, o] for o, one in enumerate(self.responses.responses)}
        units = {
            "frequency_hz": "Hz", "frequency_deviation_hz": "Hz", "phase_deviation": "rad", "modal_mass": "kg",
            "damping_ratio": "1", "damping_deviation": "1", "phase_collinearity": "1",
        }  # fmt: skip
        return Table(columns, units, index="mode")

    def data(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        test = self.responses
        return {
            "frequencies_hz": self.frequencies_hz, "frequency_deviations_hz": self.frequency_deviations_hz,
            "damping": self.damping, "damping_deviations": self.damping_deviations, "structural": self.structural,
            "natural_frequencies_hz": self.natural_frequencies_hz,
            "phase_collinearity": self.phase_collinearity, "phase_deviation": self.phase_deviation,
            "modal_masses": self.modal_masses,
            "responses": [one.name for one in test.responses], "references": [one.name for one in test.references],
            "shapes": {"real": self.shapes.real, "imag": self.shapes.imag},
            "shape_deviations": self.shape_deviations,
            "participation": {"real": self.participation.real, "imag": self.participation.imag},
            "auto_mac": self.mac(), "misfit": self.misfit, "left_over": self.residual_power,
            "missing_hz": self.missing_hz,
            "assurance": self.assurance, "faint": self.faint,
            "method": self.method, "order": self.order, "refined": self.refined, "lines": len(test.frequencies_hz),
            "band_hz": [float(test.frequencies_hz[0]), float(test.frequencies_hz[-1])], "notes": list(self.notes),
        }  # fmt: skip

    def text(self) -> Text:
        """Return frequency, damping and phases of each mode, and how well the modes explain the responses."""
        test = self.responses
        hertz = test.frequencies_hz
        out = Text(
            f"{len(self)} modes from {hertz[0]:g} to {hertz[-1]:g} Hz: {len(test.responses)} responses to "
            f"{len(test.references)} references, {len(hertz)} lines, {self.method} up to order {self.order}"
            + ("" if self.refined else ", not refined")
        )
        weighed = bool(np.isfinite(self.modal_masses).any())
        rows = [
            (
                str(r + 1),
                f"{self.frequencies_hz[r]:.3f} ± {self.frequency_deviations_hz[r]:.2g} Hz",
                f"{100.0 * self.damping[r]:.3f} ± {100.0 * self.damping_deviations[r]:.2g} %",
                f"{self.phase_collinearity[r]:.3f}",
                f"{np.degrees(self.phase_deviation[r]):.1f}°",
                *((number_text(self.modal_masses[r], "kg"),) if weighed else ()),
            )
            for r in range(len(self))
        ]
        titles = ("mode", "frequency", "damping ratio", "MPC", "MPD", *(("modal mass",) if weighed else ()))
        out.table(titles, rows)
        if self.structural and len(self):
            most = float(np.max(1.0 - self.natural_frequencies_hz / self.frequencies_hz))
            out.line(
                f"the damping is structural: undamped natural frequencies are up to {100.0 * most:.2g} % lower "
                "(natural_frequencies_hz of --json and -o)"
            )
        fits = np.where(self.faint, np.inf, self.assurance)
        worst = np.unravel_index(int(fits.argmin()), fits.shape)
        out.line(
            f"{self.residual_power:.2%} of the responses' power is unexplained; the worst fit is "
            f"{test.responses[worst[0]].name} "
            f"from {test.references[worst[1]].name} (assurance {self.assurance[worst]:.4f})"
        )
        faint = [test.responses[i].name for i in np.flatnonzero(self.faint.all(axis=1))]
        if faint:
            out.line(f"not counted, because they are mostly noise: {', '.join(faint)}")
        return out

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by name, as saved in .npz and .mat files."""
        return {
            "frequencies_hz": self.frequencies_hz, "frequency_deviations_hz": self.frequency_deviations_hz,
            "damping": self.damping, "damping_deviations": self.damping_deviations, "correlation": self.correlation,
            "natural_frequencies_hz": self.natural_frequencies_hz,
            "structural": np.array(-1 if self.structural is None else int(self.structural)),
            "poles": self.poles, "shapes": self.shapes, "shape_deviations": self.shape_deviations,
            "participation": self.participation, "phase_collinearity": self.phase_collinearity,
            "phase_deviation": self.phase_deviation, "modal_masses": self.modal_masses,
            "lower": self.lower, "upper": self.upper,
            "left_over": np.array(self.residual_power), "missing_hz": self.missing_hz,
            "responses": np.array([one.name for one in self.responses.responses], dtype=str),
            "references": np.array([one.name for one in self.responses.references], dtype=str),
            "response_positions": np.array([one.position or (np.nan,) * 3 for one in self.responses.responses]),
            "lines_hz": self.responses.frequencies_hz, "fitted": self.synthesise(),
            "notes": np.array(self.notes, dtype=str),
        }  # fmt: skip

    def save(self, path: str | Path) -> Path:
        """Write the modes to a file.

        Parameters
        ----------
        path : str or path-like
            .csv for the table, .npz or .mat for all arrays, .uff for the shapes (data sets 55, without deviations).

        Returns
        -------
        pathlib.Path
            The file.
        """
        if Path(path).suffix.lower() not in UNIVERSAL:
            return super().save(path)
        from supple.formats.measurements.universal_file import write_universal
        from supple.formats.measurements.universal_modes import universal_modes

        test = self.responses
        return write_universal(path, universal_modes(test.responses, self.poles, self.shapes, test.title))

    def plot(self, kind: str = "stabilisation", **options: Any) -> Any:
        """Draw the modes with matplotlib and return the panels.

        Parameters
        ----------
        kind : {"stabilisation", "responses", "mac"}, optional
            Stabilisation diagram with the mode indicator; measured and fitted responses; or the MAC of the shapes with
            themselves, or with `other`. Default: "stabilisation".
        **options : Any
            Options of the plot, such as `axes`, `pairs` of responses, or `other` shapes.
        """
        if kind not in PICTURES:
            raise InputError(f'unknown kind of plot "{kind}"', part="plot", hint=f"use {', '.join(PICTURES)}")
        function = {"stabilisation": "stabilisation_plot", "responses": "fitted_plot", "mac": "mac_plot"}[kind]
        name = f"identification.modal_parameters.plot.{function}"
        if kind == "mac":
            other = options.pop("other", None)
            hertz = self.frequencies_hz if other is None else getattr(other, "frequencies_hz", None)
            return picture(name)(self.mac(other), self.frequencies_hz, hertz, **options)
        return picture(name)(self, **options)


def derivatives(test: Responses, omega: Array) -> Complex:
    """Return the factors (iω)^m (n, No), m the order of differentiation of each response channel."""
    orders = np.array([one.order or 0 for one in test.responses])
    return np.asarray((1j * omega[:, None]) ** orders)


# Power of the responses that no mode explains, and frequencies near which it looks like a mode.


_SHARE = 0.1  # of the power of the responses near a line: less may be noise, or an error of another mode
_STANDS_OUT = 10.0  # over the residual power on the lines around
_ABOUT = 41  # lines around a mode for the residual power
_APART = 4  # lines: closer ones belong to one resonance


def powers(H: Complex, fitted: Complex) -> tuple[Array, Array]:
    """Return the power (N,) of the residuals and of the responses, Σ_oi |.|² / p_o (eq. 21).

    p_o is the mean square of a response, so that every response counts equally, regardless of its unit. A reference
    that does not move it, for example because of symmetry, adds only its noise.
    """
    p = np.maximum((np.abs(H) ** 2).sum(axis=2, keepdims=True).mean(axis=0, keepdims=True), np.finfo(float).tiny)
    left, whole = (np.sum(np.abs(one) ** 2 / p, axis=(1, 2)) for one in (H - fitted, H))
    return np.asarray(left), np.asarray(whole)


def unexplained_share(H: Complex, fitted: Complex) -> float:
    """Return the fraction of the power of all lines that is unexplained."""
    left, whole = powers(H, fitted)
    return float(left.sum() / max(float(whole.sum()), np.finfo(float).tiny))


def missing_modes(hertz: Array, H: Complex, fitted: Complex) -> Array:
    """Return the frequencies, Hz, of residual peaks above the noise, where a mode seems missing.

    The median of three lines must be a tenth of the responses' power and ten times the residual power around it; a
    single line is a disturbance.
    """
    left, whole = powers(H, fitted)
    if len(left) < 3:
        return np.zeros(0)
    three = np.median(np.stack([_shift_by_line(left, -1), left, _shift_by_line(left, 1)]), axis=0)
    size = np.median(np.stack([_shift_by_line(whole, -1), whole, _shift_by_line(whole, 1)]), axis=0)
    half = _ABOUT // 2
    about = np.array([np.median(left[max(k - half, 0) : k + half + 1]) for k in range(len(left))])
    found: list[int] = []
    for k in np.argsort(-three, kind="stable").tolist():
        if (
            three[k] > _SHARE * size[k]
            and three[k] > _STANDS_OUT * about[k]
            and all(abs(k - other) > _APART for other in found)
        ):
            near = slice(max(k - 1, 0), k + 2)
            found.append(max(k - 1, 0) + int(left[near].argmax()))
    return np.sort(hertz[found])


def _shift_by_line(values: Array, by: int) -> Array:
    """Return the values shifted by one line, with the end repeated."""
    return np.asarray(values[np.clip(np.arange(len(values)) + by, 0, len(values) - 1)])
