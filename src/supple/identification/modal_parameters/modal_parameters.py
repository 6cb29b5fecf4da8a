"""Modes found from measured responses: frequencies, damping, shapes, and how sure each is."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array, Complex
from supple.diagnostics import InputError
from supple.identification.modal_parameters.modal_model import Poles, synthesised
from supple.identification.modal_parameters.stabilisation import Stabilisation
from supple.modal_analysis.mode_set import mac
from supple.results.responses import UNIVERSAL, Responses
from supple.results.result import Result, picture
from supple.results.table import Table
from supple.results.text import Text, listed, number_text

# How complex a shape is: whether its places move in phase, as those of normal modes do.


def phase_collinearity(shapes: Complex) -> Array:
    """MPC (R,): 1 if all entries of a shape (R, n) are in phase or against it, 0 if there is no common phase.

    ((S_xx - S_yy)² + 4 S_xy²) / (S_xx + S_yy)² with S the products of real and imaginary parts        [Pappa; eq. 17]
    Parts are not taken about their mean: a shape of one entry, or one that moves as a whole, is no less in phase.
    """
    x, y = shapes.real, shapes.imag
    xx, yy, xy = (np.sum(a * b, axis=-1) for a, b in ((x, x), (y, y), (x, y)))
    whole = np.maximum((xx + yy) ** 2, np.finfo(float).tiny)
    return np.asarray(((xx - yy) ** 2 + 4.0 * xy**2) / whole)


def mean_phase(shapes: Complex) -> Array:
    """(R,) rad, of the line through zero that lies closest to the entries of a shape: the half angle of Σ ψ²."""
    return np.asarray(0.5 * np.angle(np.sum(shapes**2, axis=-1)))


def phase_deviation(shapes: Complex) -> Array:
    """MPD (R,) rad: mean angle between the entries of a shape and its mean phase, weighed by their size.  [eq. 18]"""
    turned = shapes * np.exp(-1j * mean_phase(shapes))[..., None]
    size = np.abs(turned)
    angle = np.arctan2(np.abs(turned.imag), np.abs(turned.real))
    return np.asarray(np.sum(size * angle, axis=-1) / np.maximum(size.sum(axis=-1), np.finfo(float).tiny))


def turned_real(shapes: Complex) -> Complex:
    """The shapes over their largest entry's size, turned by their mean phase, that entry positive: nearly real."""
    turned = shapes * np.exp(-1j * mean_phase(shapes))[..., None]
    rows = np.arange(len(turned))
    largest = turned[rows, np.abs(turned).argmax(axis=1)] if turned.size else np.ones(len(turned))
    size = np.maximum(np.abs(largest), np.finfo(float).tiny)
    return np.asarray(turned / (np.where(largest.real < 0.0, -1.0, 1.0) * size)[:, None])


# The modes of a band.


_FAINT = 1e-3  # of the largest response of its quantity
PICTURES = ("stabilisation", "responses", "mac")


@dataclass(frozen=True, eq=False, repr=False)
class ModalParameters(Result):
    """R modes of a band, by rising frequency; deviations are standard deviations.

    poles                   : (R,) s, 1/s; without the decay that an exponential window added (`Responses.window_rate`)
    shapes                  : (R, No) complex, displacements at the response channels: the largest entry 1, turned so
                              that they are as real as they can be
    participation           : (R, Ni) complex: shapes[r, o] participation[r, i] is the residue of H_oi at s_r
    frequency_deviations_hz, damping_deviations : (R,)
    shape_deviations        : (R, No) of the entries of `shapes`, of their real and imaginary parts alike
    correlation             : (R,) of each frequency with its damping
    lower, upper            : (No, Ni) residual terms for modes below and above the band
    responses               : the lines that were fitted; noise : (n, No, Ni) standard deviation of each, in its unit
    stabilisation           : poles of all orders, and the clusters that were the start
    structural              : whether the damping is structural (True: the other pole of s is -s) or viscous (False: it
                              is s*), as the lines tell; None where they do not
    method, order, refined  : how it was done
    notes                   : what was assumed, left out, or is doubtful
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
        """(R,) |s| / 2π."""
        return np.asarray(np.abs(self.poles) / (2.0 * np.pi))

    @property
    def natural_frequencies_hz(self) -> Array:
        """(R,) of the undamped structure: |s| / 2π of viscous damping, √(-Re s²) / 2π of structural damping.  [eq. 24]

        Where the lines do not tell which it is, the mean of both.
        """
        share = {True: 1.0, False: 0.0, None: 0.5}[self.structural]
        return np.asarray(self.frequencies_hz * np.sqrt(1.0 - 2.0 * share * np.square(self.damping)))

    @property
    def damping(self) -> Array:
        """(R,) ratios ζ = -Re s / |s|."""
        return np.asarray(-self.poles.real / np.abs(self.poles))

    @property
    def phase_collinearity(self) -> Array:
        """(R,) MPC: 1 of a shape whose places all move in phase or against it."""
        return phase_collinearity(self.shapes)

    @property
    def phase_deviation(self) -> Array:
        """(R,) MPD, rad: how far places are out of phase on average; 0 of a normal mode."""
        return phase_deviation(self.shapes)

    @property
    def real_shapes(self) -> Array:
        """(R, No) the real part of the shapes, the largest entry 1: to compare with normal modes of a model."""
        return np.ascontiguousarray(self.shapes.real)

    @cached_property
    def modal_masses(self) -> Array:
        """(R,) kg, for shapes whose largest entry is 1; NaN without a response where, and along which, it was pushed.

        Of a normal mode the residue is φ_o φ_i / (2i ω_d m), so that m = φ_i / (2i ω_d l_i), the mean over the
        references that have a response of their own, weighed by |l_i|². With structural damping 2s takes the place of
        2i ω_d.
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
        """Of references, the response at the same point along the same direction, and its sign."""
        names = {one.name: o for o, one in enumerate(self.responses.responses)}
        found: dict[int, tuple[int, float]] = {}
        for i, one in enumerate(self.responses.references):
            if one.name in names:
                found[i] = names[one.name], 1.0
            elif one.reversed().name in names:
                found[i] = names[one.reversed().name], -1.0
        return found

    # ------------------------------------------------------------------------------------------ the fit itself

    def synthesised(self, frequencies_hz: ArrayLike | None = None) -> Complex:
        """Ĥ (n, No, Ni) of the fit, in the units of the responses, at their lines if none are given."""
        hertz = np.asarray(self.responses.frequencies_hz if frequencies_hz is None else frequencies_hz, float)
        if (hertz <= 0.0).any():
            raise InputError("a line at 0 Hz has no accelerance", part="synthesised", hint="ask for lines above 0 Hz")
        omega = 2.0 * np.pi * hertz
        seen = Poles(self.poles - self.responses.window_rate, self.participation)  # as the records had them
        mirror = 2.0 * self.responses.window_rate if self.structural else None
        found = synthesised(omega, seen, self.shapes, self.lower, self.upper, mirror)
        if self.beside is not None:
            found = found + synthesised(omega, *self.beside, 0.0 * self.lower, 0.0 * self.upper, mirror)
        return np.asarray(found * derivatives(self.responses, omega)[:, :, None])

    @cached_property
    def misfit(self) -> float:
        """Σ|H - Ĥ|² / Σ|H|² over all lines and channels, each over its mean square; without those that are `faint`."""
        H, fitted = self.responses.H, self.synthesised()
        size = np.maximum((np.abs(H) ** 2).mean(axis=0), np.finfo(float).tiny)
        share = (np.abs(H - fitted) ** 2 / size).mean(axis=0)
        return float(share[~self.faint].mean() if not self.faint.all() else share.mean())

    @cached_property
    def faint(self) -> NDArray[np.bool_]:
        """(No, Ni) where a response is small beside the largest of its quantity, and noise: unlike its fit."""
        size = np.sqrt((np.abs(self.responses.H) ** 2).mean(axis=0))
        kinds = [one.quantity for one in self.responses.responses]
        largest = np.array([max(size[i].max() for i, other in enumerate(kinds) if other == one) for one in kinds])
        return np.asarray((size <= _FAINT * largest[:, None]) & (self.assurance < 0.5))

    @cached_property
    def left_over(self) -> float:
        """Share of the responses' power that the fit leaves over, all responses alike, `faint` pairs aside. [eq. 21]"""
        return left_over_share(*self._counted)

    @cached_property
    def missing_hz(self) -> Array:
        """Near which frequencies a mode seems missing: peaks in what is left over."""
        return missing_modes(self.responses.frequencies_hz, *self._counted)

    @cached_property
    def _counted(self) -> tuple[Complex, Complex]:
        """H and Ĥ, zero where a pair is `faint`, unless all are."""
        seen = ~self.faint | self.faint.all()
        return np.asarray(self.responses.H * seen), np.asarray(self.synthesised() * seen)

    @cached_property
    def assurance(self) -> Array:
        """(No, Ni) how alike each response and its fit are, |ΣĤ*H|² / (Σ|Ĥ|² Σ|H|²): 1 if but for a factor."""
        H, fitted = self.responses.H, self.synthesised()
        both = np.abs(np.sum(fitted.conj() * H, axis=0)) ** 2
        sizes = np.sum(np.abs(fitted) ** 2, axis=0) * np.sum(np.abs(H) ** 2, axis=0)
        return np.asarray(both / np.maximum(sizes, np.finfo(float).tiny))

    def mac(self, other: ModalParameters | ArrayLike | None = None) -> Array:
        """(R, R') of these shapes with others in the same channels; with themselves (auto-MAC) if none are given."""
        if other is None:
            return mac(self.shapes, self.shapes)
        return mac(self.shapes, other.shapes if isinstance(other, ModalParameters) else other)

    # ------------------------------------------------------------------------------------------ told, kept, drawn

    def summary(self) -> str:
        hertz = self.responses.frequencies_hz
        found = ", ".join(f"{f:.4g}" for f in self.frequencies_hz[:8]) + (", ..." if len(self) > 8 else "")
        of = f' of "{self.responses.title}"' if self.responses.title else ""
        return (
            f"{len(self)} modes{of} from {hertz[0]:.4g} to {hertz[-1]:.4g} Hz: {found or 'none'} Hz; "
            f"{self.left_over:.2%} of the responses left over{self._missing()}"
        )

    def _missing(self) -> str:
        if not len(self.missing_hz):
            return ""
        return f"; a mode seems missing near {listed([f'{f:.4g} Hz' for f in self.missing_hz])}"

    def table(self) -> Table:
        """A row for each mode; shapes are among the `arrays`."""
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
        """What `--json` prints."""
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
            "auto_mac": self.mac(), "misfit": self.misfit, "left_over": self.left_over, "missing_hz": self.missing_hz,
            "assurance": self.assurance, "faint": self.faint,
            "method": self.method, "order": self.order, "refined": self.refined, "lines": len(test.frequencies_hz),
            "band_hz": [float(test.frequencies_hz[0]), float(test.frequencies_hz[-1])], "notes": list(self.notes),
        }  # fmt: skip

    def text(self) -> Text:
        """Frequency, damping and phases of each mode, and how well they explain the responses."""
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
            f"{self.left_over:.2%} of the responses is left over; the worst fit is {test.responses[worst[0]].name} "
            f"from {test.references[worst[1]].name} (assurance {self.assurance[worst]:.4f})"
        )
        faint = [test.responses[i].name for i in np.flatnonzero(self.faint.all(axis=1))]
        if faint:
            out.line(f"not counted, since there is hardly more than noise: {', '.join(faint)}")
        return out

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "frequencies_hz": self.frequencies_hz, "frequency_deviations_hz": self.frequency_deviations_hz,
            "damping": self.damping, "damping_deviations": self.damping_deviations, "correlation": self.correlation,
            "natural_frequencies_hz": self.natural_frequencies_hz,
            "structural": np.array(-1 if self.structural is None else int(self.structural)),
            "poles": self.poles, "shapes": self.shapes, "shape_deviations": self.shape_deviations,
            "participation": self.participation, "phase_collinearity": self.phase_collinearity,
            "phase_deviation": self.phase_deviation, "modal_masses": self.modal_masses,
            "lower": self.lower, "upper": self.upper,
            "left_over": np.array(self.left_over), "missing_hz": self.missing_hz,
            "responses": np.array([one.name for one in self.responses.responses], dtype=str),
            "references": np.array([one.name for one in self.responses.references], dtype=str),
            "response_positions": np.array([one.position or (np.nan,) * 3 for one in self.responses.responses]),
            "lines_hz": self.responses.frequencies_hz, "fitted": self.synthesised(),
            "notes": np.array(self.notes, dtype=str),
        }  # fmt: skip

    def save(self, path: str | Path) -> Path:
        """Write its table as .csv, its arrays as .npz or .mat, or its shapes as .uff (sets 55, without deviations)."""
        if Path(path).suffix.lower() not in UNIVERSAL:
            return super().save(path)
        from supple.formats.measurements.universal_file import write_universal
        from supple.formats.measurements.universal_modes import universal_modes

        test = self.responses
        return write_universal(path, universal_modes(test.responses, self.poles, self.shapes, test.title))

    def plot(self, kind: str = "stabilisation", **options: Any) -> Any:
        """Draw it (matplotlib) and return the panels.

        kind : "stabilisation", the diagram over the mode indicator; "responses", measured and fitted; "mac", the shapes
               against each other, or against `other`
        """
        if kind not in PICTURES:
            raise InputError(f'"{kind}" is no picture of modal parameters', part="plot", hint=", ".join(PICTURES))
        function = {"stabilisation": "stabilisation_plot", "responses": "fitted_plot", "mac": "mac_plot"}[kind]
        name = f"identification.modal_parameters.plot.{function}"
        if kind == "mac":
            other = options.pop("other", None)
            hertz = self.frequencies_hz if other is None else getattr(other, "frequencies_hz", None)
            return picture(name)(self.mac(other), self.frequencies_hz, hertz, **options)
        return picture(name)(self, **options)


def derivatives(test: Responses, omega: Array) -> Complex:
    """(n, No): (iω)^m, m how often a displacement is differentiated in each response channel."""
    orders = np.array([one.order or 0 for one in test.responses])
    return np.asarray((1j * omega[:, None]) ** orders)


# How much of the responses no mode explains, and near which frequencies that looks like a mode.


_SHARE = 0.1  # of the power of the responses about a line: less may be noise, or what is wrong with another mode
_STANDS_OUT = 10.0  # over the power that is left over on the lines about
_ABOUT = 41  # lines, as many as say how much is left over near a mode
_APART = 4  # lines: nearer ones are of one resonance


def powers(H: Complex, fitted: Complex) -> tuple[Array, Array]:
    """(N,) of what is left over and of the responses, Σ_oi |.|² / p_o, p_o the mean square of a response.    [eq. 21]

    A response counts as one, whatever its unit; one of its references that does not move it, as by symmetry, adds
    nothing but its noise to either.
    """
    p = np.maximum((np.abs(H) ** 2).sum(axis=2, keepdims=True).mean(axis=0, keepdims=True), np.finfo(float).tiny)
    left, whole = (np.sum(np.abs(one) ** 2 / p, axis=(1, 2)) for one in (H - fitted, H))
    return np.asarray(left), np.asarray(whole)


def left_over_share(H: Complex, fitted: Complex) -> float:
    """Of the power of all lines, what is left over."""
    left, whole = powers(H, fitted)
    return float(left.sum() / max(float(whole.sum()), np.finfo(float).tiny))


def missing_modes(hertz: Array, H: Complex, fitted: Complex) -> Array:
    """Hz, where what is left over has a peak that no noise has: a mode seems missing there.

    The median of three lines must be a tenth of the responses' power and ten times what is left over about it; one
    line alone is a disturbance.
    """
    left, whole = powers(H, fitted)
    if len(left) < 3:
        return np.zeros(0)
    three = np.median(np.stack([_shifted(left, -1), left, _shifted(left, 1)]), axis=0)
    size = np.median(np.stack([_shifted(whole, -1), whole, _shifted(whole, 1)]), axis=0)
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


def _shifted(values: Array, by: int) -> Array:
    """The same one line on, with the end repeated."""
    return np.asarray(values[np.clip(np.arange(len(values)) + by, 0, len(values) - 1)])
