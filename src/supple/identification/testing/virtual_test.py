"""Simulated tests: impacts or shakers on a mechanism, sensors with noise and quantization, records and responses.

Records are computed from the linear model at the posture, line by line over a padded period, F(ω) → H(ω) F(ω), and
transformed back to time. This is exact for every damping model, within a band below half the sample rate and a period
in which the motion decays (docs/theory/measurements.md). Structural damping has no causal motion in time; the part of
its response that precedes the impact is reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Complex
from supple.description.elastic.material import Damping
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.limits import require_memory, require_within
from supple.formats.measurements import universal_responses
from supple.formats.measurements.universal_channels import Nodes
from supple.formats.measurements.universal_file import UniversalFile, write_universal
from supple.identification.testing.estimate_responses import Estimator, estimate_responses
from supple.identification.testing.excitation import Shaker, impact_spectrum, shaker_signals, usual_band
from supple.identification.testing.model_responses import model_responses, place_channels
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.results.channel import Channel
from supple.results.responses import UNIVERSAL, Responses
from supple.results.result import Result, picture
from supple.results.table import Table
from supple.results.text import Text, number_text
from supple.results.time_records import TimeRecords

# Measurement channels: noise, quantization and clipping.


_ROOM = 1.25  # of the largest value: the default full scale


class ChannelErrors(NamedTuple):
    """Errors of measurement channels.

    noise, floor : of the RMS, as in `virtual_test`; bits : of the converter, or None; ranges : full scale by name
    """

    noise: float
    floor: float
    bits: int | None
    ranges: Mapping[str, float]


def measured_signals(
    x: Array,
    y: Array,
    channels: Sequence[Channel],
    digits: ChannelErrors,
    rng: np.random.Generator,
) -> tuple[Array, Array, Array | None]:
    """Return the signals with noise, quantization and clipping, and their full scales."""
    both = np.concatenate([x, y], axis=1)
    noise, floor, bits, ranges = digits
    for name in ranges:
        if name not in {one.name for one in channels} | {one.quantity for one in channels}:
            raise InputError(
                "the test has no such channel or quantity", part=f'ranges "{name}"',
                hint='give a channel, or a quantity such as "force"',
            )  # fmt: skip
    if noise:
        size = np.sqrt(np.mean(both**2, axis=2, keepdims=True))
        least = [max(size[:, k].max() for k, other in enumerate(channels) if other.quantity == one.quantity)
                 for one in channels]  # fmt: skip
        size = np.maximum(size, floor * np.array(least)[:, None])
        both = both + noise * size * rng.normal(size=both.shape)
    if bits is None and not ranges:
        return both[:, : x.shape[1]], both[:, x.shape[1] :], None
    needed = _ROOM * np.abs(both).max(axis=(0, 2))
    full = np.array(
        [ranges.get(one.name, ranges.get(one.quantity, n)) for one, n in zip(channels, needed, strict=True)]
    )
    full = np.where(full > 0.0, full, 1.0)
    if bits is not None:
        step = full / 2.0 ** (bits - 1)
        both = np.round(both / step[:, None]) * step[:, None]
    both = np.clip(both, -full[:, None], full[:, None])
    return both[:, : x.shape[1]], both[:, x.shape[1] :], full


_FASTEST = 1e12  # samples per second: an upper limit
_BEFORE = 0.04  # of a record: the part before the trigger
_SOFT = 1.25  # of the period of half the sample rate: duration of an impact, 17 dB down at the end of the band
_SPREAD = 0.15  # of peak and duration: variation between impacts
_FEW = 6  # channels that determine how long the motion lasts
_DEAD = 1e-5  # of the largest: the response must decay below it by the middle of the padded period
_STILL = 1e-9  # of the largest: a smaller response is zero
_PAIRS = 24  # in a listing
_SHORTEST, _LONGEST = 4, 64  # times a record: the padded period


@dataclass(frozen=True, eq=False, repr=False)
class VirtualTest(Result):
    """Result of a simulated test.

    Attributes
    ----------
    records : TimeRecords
        Records as sampled, with noise and quantization.
    responses : Responses
        Responses estimated from the records.
    exact : Responses
        Responses of the model at the same lines.
    """

    records: TimeRecords
    responses: Responses
    exact: Responses
    bench: _Bench = field(repr=False)

    def repeat(self, seed: int) -> VirtualTest:
        """Repeat the test with other impacts and noise, without new responses of the model.

        Parameters
        ----------
        seed : int
            Random seed.
        """
        return self.bench(seed)

    def summary(self) -> str:
        """Return a one-line summary."""
        return f"{self.records.summary()}; {self.responses.summary()}"

    def table(self) -> Table:
        """Return for every pair the RMS of the response, its relative error, and its mean coherence.

        With an exponential window the estimate is H(σ + iω), and its error is unknown: NaN. It is NaN also for a
        response that is zero.
        """
        pairs = [(i, j) for i in range(len(self.exact.responses)) for j in range(len(self.exact.references))]
        size = np.sqrt(np.mean(np.abs(self.exact.H) ** 2, axis=0))
        error = np.sqrt(np.mean(np.abs(self.responses.H - self.exact.H) ** 2, axis=0))
        share = np.divide(error, size, out=np.full_like(error, np.nan), where=size > _STILL * size.max())
        if self.responses.window_rate:
            share = np.full(size.shape, np.nan)
        gamma = self.responses.coherence
        mean = np.full(size.shape, np.nan) if gamma is None else gamma.mean(axis=0)
        return Table(
            {
                "pair": np.array([f"{self.exact.responses[i].name}/{self.exact.references[j].name}" for i, j in pairs]),
                "rms": np.array([size[i, j] for i, j in pairs]), "error": np.array([share[i, j] for i, j in pairs]),
                "coherence": np.array([mean[i, j] for i, j in pairs]),
            },
            index="pair",
        )  # fmt: skip

    def data(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        table = self.table().columns
        return {
            "records": self.records.count, "samples": self.records.samples, "sampling_hz": self.records.sampling_hz,
            "frequencies_hz": self.responses.frequencies_hz, "window_rate": self.responses.window_rate,
            "averages": self.responses.averages, "pairs": list(table["pair"]), "rms": table["rms"],
            "error": table["error"], "coherence": table["coherence"],
            "real": self.responses.H.real, "imag": self.responses.H.imag, "notes": list(self.responses.notes),
        }  # fmt: skip

    def text(self) -> Text:
        """Return RMS, error and coherence of the first pairs."""
        out, table = Text(self.records.summary()), self.table().columns
        columns = (table[key].tolist() for key in ("pair", "rms", "error", "coherence"))
        rows = []
        for pair, rms, error, share in zip(*columns, strict=True):
            off = "" if error != error else f"{100.0 * error:.2g} %"
            rows.append((pair, number_text(rms), off, "" if share != share else f"{share:.3f}"))
        out.table(("pair", "RMS of H", "error", "coherence"), rows[:_PAIRS])
        if len(rows) > _PAIRS:
            out.line(f"and {len(rows) - _PAIRS} more pairs; --json lists all")
        for note in self.responses.notes:
            out.line(f"note: {note}")
        return out

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by name, as saved in .npz and .mat files."""
        return {**self.records.arrays(), **self.responses.arrays(), "exact_H": self.exact.H}

    def save(self, path: str | Path, *, binary: bool = False) -> Path:
        """Write the test to a file.

        Parameters
        ----------
        path : str or path-like
            Universal file (.unv, .uff), .npz or .mat with responses and records, or .csv with the responses only.
        binary : bool, optional
            Write binary data in a universal file. Default: False.

        Returns
        -------
        pathlib.Path
            The file.
        """
        if Path(path).suffix.lower() in UNIVERSAL:
            return write_universal(path, universal_test(self.responses, self.records, binary=binary))
        if Path(path).suffix.lower() == ".csv":
            return self.responses.save(path)
        return super().save(path)

    def plot(self, *pairs: tuple[str, str], axes: Any = None) -> Any:
        """Draw the responses with those of the model dashed, and return the panels.

        Parameters
        ----------
        *pairs : (str, str)
            Pairs (response, reference). Default: the first few.
        axes : optional
            Axes to draw on. Default: a new figure.
        """
        return picture("identification.testing.plot.virtual_test_plot")(self, pairs, axes)


def virtual_test(
    mechanism: Mechanism,
    at: At | Configuration,
    hammer: str | tuple[str, Any] | Sequence[str] = (),
    sensors: str | Sequence[str] = (),
    *,
    sampling_hz: float,
    samples: int = 1024,
    impacts: int = 3,
    noise: float = 0.0,
    floor: float = 0.01,
    bits: int | None = None,
    ranges: Mapping[str, float] | None = None,
    peak: float = 100.0,
    duration: float | None = None,
    shaker: Shaker | None = None,
    estimator: Estimator = "H1",
    force_length: float | None = None,
    exponential: float | None = None,
    quantity: str = "acceleration",
    free_actuators: bool = False,
    damping: Damping | Mapping[str, Any] | float | None = None,
    drives: bool = True,
    seed: int = 0,
) -> VirtualTest:
    """Simulate an impact-hammer or shaker test and estimate its frequency responses.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism under test.
    at : str, mapping or Configuration
        Posture of the test.
    hammer : str, tuple or sequence of str
        Excitation points with directions: "platform.-z" or ("platform", (0.6, 0, 0.8)). Several points are excited one
        after another by the hammer, `impacts` times each, or simultaneously by shakers.
    sensors : str or sequence of str
        Channels that are measured: "platform.x". A place alone stands for all its directions; `arm[0.25]` is a quarter
        of the way along the beams of a body.
    sampling_hz : float
        Sample rate, Hz.
    samples : int, optional
        Number of samples in each record. Default: 1024.
    impacts : int, optional
        Number of impacts at each excitation point; with shakers, the number of records. Default: 3.
    noise : float, optional
        Noise of every channel as a fraction of the RMS of its record. It is white and normally distributed.
        Default: 0.
    floor : float, optional
        Smallest RMS from which noise is computed, relative to the largest RMS of the quantity. A sensor
        that hardly moves, for example because of symmetry, then shows noise. Default: 0.01.
    bits : int, optional
        Resolution of the analogue-to-digital converter over ± full scale. Default: no quantization.
    ranges : mapping of str to float, optional
        Full scale by channel or quantity, in SI units; larger values are clipped. Default: 1.25 times the largest
        value.
    peak : float, optional
        Peak force of an impact, or RMS force of a shaker, N. Default: 100. Impacts vary by up to 15 %.
    duration : float, optional
        Duration of an impact, s. Default: 2.5 samples.
    shaker : {"random", "burst", "chirp", "multisine"}, optional
        Shaker signal that replaces the impacts. Default: impact hammer.
    estimator : {"H1", "H2", "Hv"}, optional
        FRF estimator. Default: "H1".
    force_length : float, optional
        Length of the force window after the trigger, s. Default: no force window.
    exponential : float, optional
        Remainder of the exponential window at the end of a record, such as 0.01. Default: no exponential window.
    quantity : {"acceleration", "velocity", "displacement"}, optional
        Quantity that the sensors measure. Default: "acceleration".
    free_actuators : bool, optional
        Let the actuators move freely instead of locking them. Default: False.
    damping : Damping, mapping or float, optional
        Damping model, as in `frf`. Default: the mechanism's.
    drives : bool, optional
        Include drives, as in `frf`. Default: True.
    seed : int, optional
        Random seed for measurement noise and impact variation. Default: 0.

    Returns
    -------
    VirtualTest
        Records, the responses estimated from them, and the exact responses of the model.

    Raises
    ------
    InputError
        If the motion has not decayed within 64 times the length of a record: the mechanism has no damping.

    See Also
    --------
    estimate_responses : Estimate responses from records.
    check_measurement : Look for errors in a test.
    modal_parameters : Identify modes from the responses.

    Notes
    -----
    Records are computed from the linear model at the posture by F(ω) → H(ω) F(ω) on the lines of a padded period;
    equations 10-12 of docs/theory/measurements.md.

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("ralf")
    >>> test = supple.virtual_test(arm, "home", "tip.-z", ["tip", "link1[0.5]"], sampling_hz=256.0, noise=0.01)
    >>> test.records.count
    3
    >>> [channel.name for channel in test.responses.responses]
    ['tip.x', 'tip.z', 'link1[0.5].x', 'link1[0.5].z']
    """
    require_arguments(virtual_test, locals())
    _require(samples >= 16, "samples", f"must be at least 16 (got {samples})")
    _require(impacts >= 1, "impacts", f"must be at least 1 (got {impacts})")
    _require(0.0 <= noise < np.inf, "noise", f"must not be negative (got {noise:g})", "give a fraction, such as 0.01")
    _require(0.0 <= floor < np.inf, "floor", f"must not be negative (got {floor:g})", "give a fraction, such as 0.01")
    _require(
        0.0 < sampling_hz < _FASTEST, "sampling_hz", f"must be positive and below 1e12 Hz (got {sampling_hz:g} Hz)"
    )
    _require(bits is None or 2 <= bits <= 32, "bits", f"must be 2 to 32 (got {bits})", "give, e.g., 16")
    configuration = at if isinstance(at, Configuration) else assemble(mechanism, at)
    references = _hammers(configuration, hammer)
    responses = [one for name in _texts(sensors, "sensors") for one in place_channels(configuration, name, quantity)]
    channels = len(references) + len(responses)
    require_within("lines", _SHORTEST * samples / 2, part="samples")
    require_memory(8.0 * samples * channels * impacts * max(1, len(references)), "records take", part="impacts")
    named = at if isinstance(at, str) else {name: float(x) for name, x in configuration.coordinates.items()}
    model = _Model(mechanism, configuration, references, responses, free_actuators, damping, drives)
    setup = _Setup(float(sampling_hz), samples, impacts, peak, duration, shaker)
    period = _period(model, setup)
    H = model(_lines(period, setup))
    sizes = ChannelErrors(noise, floor, bits, ranges or {})
    options = {"estimator": estimator, "force_length": force_length, "exponential": exponential}
    return _Bench(model, setup, period, H, sizes, options, named, _notes(model, H, period, setup))(seed)


class _Bench(NamedTuple):
    """A test without its random part: H (lines, responses, references) of a padded period, and how it is measured."""

    model: _Model
    setup: _Setup
    period: int
    H: Complex
    digits: ChannelErrors
    options: dict[str, Any]
    at: Any
    notes: tuple[str, ...]

    def __call__(self, seed: int) -> VirtualTest:
        """Simulate the impacts, noise and estimates of one seed."""
        model, setup = self.model, self.setup
        rng = np.random.default_rng(seed)
        x, y = _motion(setup, self.H, self.period, rng)
        x, y, full = measured_signals(x, y, [*model.references, *model.responses], self.digits, rng)
        records = TimeRecords(
            setup.sampling_hz, tuple(model.references), tuple(model.responses), x, y, setup.before, full, self.at,
            f"virtual test of {model.mechanism.name}", notes=self.notes,
        )  # fmt: skip
        found = estimate_responses(records, **self.options)
        if model.free:
            found = found.select(lines=found.frequencies_hz > 0.0)
        if setup.shaker is not None:
            found = found.select(band_hz=usual_band(setup.sampling_hz, setup.samples))
        return VirtualTest(records, found, self._exact(found.frequencies_hz), self)

    def _exact(self, lines: Array) -> Responses:
        """Return the responses of the model at the lines of a test, which are among those of the padded period."""
        model, number = self.model, np.rint(lines * self.period / self.setup.sampling_hz).astype(int)
        title = model.mechanism.name
        return Responses(
            lines, tuple(model.responses), tuple(model.references), self.H[number], at=self.at, title=title
        )


class _Setup(NamedTuple):
    """Sampling and excitation of a test."""

    sampling_hz: float
    samples: int
    impacts: int
    peak: float
    duration: float | None
    shaker: Shaker | None

    @property
    def before(self) -> float:
        """Time before the trigger, s; zero for a shaker."""
        return 0.0 if self.shaker else round(_BEFORE * self.samples) / self.sampling_hz

    @property
    def impact_duration(self) -> float:
        """Duration of an impact, s."""
        return 2.0 * _SOFT / self.sampling_hz if self.duration is None else self.duration


class _Model(NamedTuple):
    """A mechanism at its posture, which returns H at lines."""

    mechanism: Mechanism
    configuration: Configuration
    references: list[Channel]
    responses: list[Channel]
    free: bool
    damping: Any
    drives: bool

    def __call__(self, lines: Array, few: int | None = None) -> Complex:
        """Return H (lines, responses, references).

        With free actuators, accelerations at 0 Hz are those of the first line.
        """
        first = 1 if self.free else 0  # free actuators have no response at 0 Hz
        if self.free and any(one.quantity != "acceleration" for one in self.responses):
            raise InputError(
                "must be acceleration with free actuators, because positions and velocities drift",
                part="quantity",
                hint='use quantity="acceleration", or lock the actuators',
            )
        found = model_responses(
            self.mechanism, self.configuration, self.references, self.responses[:few], lines[first:],
            free_actuators=self.free, damping=self.damping, drives=self.drives,
        ).H  # fmt: skip
        return np.concatenate([found[:1].real + 0j, found]) if first else found


def _period(model: _Model, setup: _Setup) -> int:
    """Return the samples of a period in which the motion after an impact decays, from the first few channels."""
    length = _SHORTEST * setup.samples
    while True:
        lines = _lines(length, setup)
        u = np.fft.irfft(_impact_response(model(lines, _FEW), model.responses[:_FEW], lines, setup, 0.0), axis=0)
        late = np.abs(u[int(0.45 * length) : int(0.55 * length)]).max()
        if late <= _DEAD * np.abs(u).max():
            return length
        length *= 2
        if length > _LONGEST * setup.samples:
            raise InputError(
                f"the motion has decayed only to {100.0 * late / np.abs(u).max():.2g} % after "
                f"{0.25 * length / setup.sampling_hz:.3g} s", part="damping",
                hint="give damping, such as {'modal': 0.01} (--damping 0.01), or longer records",
            )  # fmt: skip


def _lines(period: int, setup: _Setup) -> Array:
    return np.asarray(np.fft.rfftfreq(period, 1.0 / setup.sampling_hz), dtype=np.float64)


def _impact_response(H: Complex, channels: Sequence[Channel], lines: Array, setup: _Setup, start: float) -> Complex:
    """Return spectra of displacements for an impact, tapered at both ends of the band.

    The end of the band rings, and structural damping, which is not zero at 0 Hz, fades as 1/t; neither belongs to the
    decay of the motion.
    """
    band = np.sin(np.pi * lines / lines[-1]) ** 2
    omega = 2.0 * np.pi * np.maximum(lines, lines[1])
    orders = np.array([one.order or 0 for one in channels])
    push = impact_spectrum(lines, 1.0, setup.impact_duration, start) * band
    return np.asarray(H / (omega[:, None] ** orders)[:, :, None] * push[:, None, None])


def _motion(setup: _Setup, H: Complex, period: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return forces (records, references, samples) and motions (records, responses, samples), without noise."""
    p = H.shape[2]
    lines = _lines(period, setup)
    N = setup.samples
    if setup.shaker in (
        "chirp",
        "multisine",
    ):  # steady: a period is a record, whose lines are among those of the padded one
        force = _shaker_forces(setup, N, p, rng)
        H = H[:: period // N]
        y = np.fft.irfft(np.einsum("lrp,npl->nrl", H, np.fft.rfft(force, axis=2)), N, axis=2)
        return force, y
    if setup.shaker is not None:
        length = N if setup.shaker == "burst" else period
        F = np.fft.rfft(_shaker_forces(setup, length, p, rng), period, axis=2) / setup.sampling_hz
    else:
        F = np.zeros((setup.impacts * p, p, len(lines)), dtype=complex)
        for n in range(len(F)):
            size, long = (
                setup.peak * rng.uniform(1.0 - _SPREAD, 1.0),
                setup.impact_duration * rng.uniform(1.0, 1.0 + _SPREAD),
            )
            start = setup.before + rng.uniform(0.0, 1.0) / setup.sampling_hz
            F[n, n // setup.impacts] = impact_spectrum(lines, size, long, start)
    x = np.fft.irfft(F, period, axis=2)[:, :, :N] * setup.sampling_hz
    y = np.empty((len(F), H.shape[1], N))
    for n in range(len(F)):  # one record at a time: a padded one of all channels is large
        y[n] = np.fft.irfft(np.einsum("lrp,pl->rl", H, F[n]), period, axis=1)[:, :N] * setup.sampling_hz
    return np.ascontiguousarray(x), y


def _shaker_forces(setup: _Setup, samples: int, inputs: int, rng: np.random.Generator) -> Array:
    assert setup.shaker is not None
    return shaker_signals(
        setup.shaker, sampling_hz=setup.sampling_hz, samples=samples, records=setup.impacts, inputs=inputs,
        band_hz=usual_band(setup.sampling_hz, setup.samples), rms=setup.peak, seed=int(rng.integers(2**31)),
    )  # fmt: skip


def _notes(model: _Model, H: Complex, period: int, setup: _Setup) -> tuple[str, ...]:
    notes = [f"simulated test, band-limited to {0.5 * setup.sampling_hz:.6g} Hz by an ideal filter"]
    damping = model.mechanism.damping if model.damping is None else model.damping
    structural = (
        damping.structural
        if isinstance(damping, Damping)
        else damping.get("structural")
        if isinstance(damping, Mapping)
        else 0
    )
    size = np.abs(H).max(axis=0).max(axis=-1)
    still = [one.name for one, moves in zip(model.responses, size > _STILL * size.max(), strict=True) if not moves]
    if still:
        verb = "does" if len(still) == 1 else "do"
        notes.append(f"{', '.join(still)} {verb} not move at this posture: the records are noise or rounding")
    if structural:
        half = 0.5 * period / setup.sampling_hz  # so that the motion before the impact is visible
        u = np.fft.irfft(_impact_response(H, model.responses, _lines(period, setup), setup, half), axis=0)
        before = u[: period // 2 - 2]
        early = float(np.sqrt(np.sum(before**2) / np.sum(u**2))) if u.any() else 0.0
        notes.append(
            "structural damping has no causal motion in time; the motion is that of its frequency response, of which "
            f"{100.0 * early:.2g} % (RMS of displacements) precede the impact"
        )
    return tuple(notes)


def _hammers(configuration: Configuration, given: Any) -> list[Channel]:
    if isinstance(given, tuple) and len(given) == 2 and not (isinstance(given[1], str) and "." in given[1]):
        given = [Channel(str(given[0]), given[1], "force").name]
    found = []
    for name in _texts(given, "hammer"):
        channels = place_channels(configuration, name, "force")
        if len(channels) != 1:
            raise InputError("no direction is given", part=f'hammer "{name}"', hint=f"give a direction: {name}.-z")
        found += channels
    return found


def _texts(given: str | Sequence[str], what: str) -> list[str]:
    names = [given] if isinstance(given, str) else list(given)
    if not names:
        raise InputError("no point is given", part=what, hint="give a point with direction, such as platform.z")
    return names


def _require(holds: bool, part: str, message: str, hint: str = "") -> None:
    if not holds:
        raise InputError(message, part=part, hint=hint)


# A test in one universal file: responses, coherences and the records they are estimated from, with common points.


def universal_test(responses: Responses, records: TimeRecords, *, binary: bool = False) -> UniversalFile:
    """Return responses, then records, as a universal file; the node numbers are the same in both."""
    nodes = Nodes([*responses.responses, *responses.references, *records.channels])
    one = universal_responses.universal_of_responses(responses, binary=binary, nodes=nodes)
    other = universal_responses.universal_of_records(records, binary=binary, nodes=nodes)
    return replace(one, functions=(*one.functions, *other.functions))
