"""Models to export, what their equations say, and the exported code called through ctypes."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from itertools import combinations_with_replacement
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the modules beside the tests

import supple
from supple.approximation.fits.chebyshev_products import total_degree
from supple.approximation.fits.fits import fit
from supple.approximation.fits.scattered_fit import leja
from supple.approximation.piecewise.piecewise import Piecewise
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import BoxNode, Forest, cut_box
from supple.export.export import export
from supple.hardware.hardware import NO_HARDWARE
from supple.reduced.layout import CoefficientLayout, packed_triangles, unpack_triangles

EXAMPLES = Path(__file__).parents[2] / "examples"
STRICT = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
SLIP_RATE = 1e-3


def compiler(*names: str) -> str:
    found = next((path for name in names if name and (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no compiler: none of {', '.join(name for name in names if name)} was found")
    return found


@pytest.fixture(scope="session")
def cc() -> str:
    return compiler(os.environ.get("CC", ""), "gcc", "cc", "clang")


@pytest.fixture(scope="session")
def strict() -> list[str]:
    """Every warning is an error."""
    return STRICT


@pytest.fixture(scope="session")
def cxx() -> str:
    return compiler(os.environ.get("CXX", ""), "g++", "c++", "clang++")


def forest(box: Box, levels: tuple[int, ...], degrees, function) -> Piecewise:
    """Leaves in turn of the given degrees, fitted to function (N, s) -> (N, t). Of several degrees: not a grid."""
    root, top = cut_box(box, levels), max(degrees)
    if len(degrees) > 1:
        uneven = root.leaves()[1]
        uneven.axis, uneven.children = 0, tuple(BoxNode(part) for part in uneven.box.split(0))
    indices = total_degree(box.dimension, top)
    for n, leaf in enumerate(root.leaves()):
        degree = degrees[n % len(degrees)]
        xi = leja(box.dimension, degree)
        leaf.coefficients = fit(xi, function(leaf.box.from_unit(xi)), total_degree(box.dimension, degree))
    return Forest([root], indices).piecewise()


def sampled(name: str, box: Box, levels, degrees, *, structured: bool) -> SimpleNamespace:
    """A model of an example, from its local models; structured: Γ from the mass, p from the potential."""
    mechanism = supple.load(EXAMPLES / name / "mechanism.yaml")
    germ = supple.local(mechanism, box.center)
    n, outputs = len(germ.coordinates), tuple(germ.outputs)
    names = ["M", "potential"] if structured else ["M", "christoffel", "force"]

    def values(theta):
        model = supple.local(mechanism, theta)
        parts = {
            "M": packed_triangles(model.M), "christoffel": packed_triangles(model.christoffel).reshape(len(theta), -1),
            "force": model.force, "potential": model.potential[:, None],
        }  # fmt: skip
        return np.hstack([*(parts[item] for item in names), *(model.outputs[item].value[:, None] for item in outputs)])

    fitted = forest(box, levels, degrees, values)
    pairs = n * (n + 1) // 2
    widths = {"M": pairs, "christoffel": n * pairs, "force": n, "potential": 1, "outputs": len(outputs)}
    ends = np.cumsum([0, *(widths[item] for item in [*names, "outputs"])]).tolist()
    columns = {item: (ends[i], ends[i + 1]) for i, item in enumerate([*names, "outputs"])}
    kind = ("from-mass", "from-potential") if structured else ("fitted", "fitted")
    layout = CoefficientLayout(
        germ.coordinates, n, germ.inputs, outputs, columns,
        constants={"input_map": germ.input_map.ravel()}, christoffel=kind[0], force=kind[1],
    )  # fmt: skip
    return SimpleNamespace(name=name, layout=layout, fitted=fitted, error={"M": 1e-3}, hardware=NO_HARDWARE)


def invented(seed: int, s: int, elastic: int, levels, degrees, *, structured: bool, names=None) -> SimpleNamespace:
    """Smooth functions under the names of coefficients: every family there is, elastic coordinates and dry friction."""
    rng = np.random.default_rng(seed)
    n, u, y, f = s + elastic, 2, 3, 2
    names = names or {"coordinates": [f"q{i}" for i in range(n)], "inputs": ["a", "b"], "outputs": ["x", "y", "z"]}
    layout = CoefficientLayout(
        tuple(names["coordinates"]), s, tuple(names["inputs"]), tuple(names["outputs"]), {},
        dry_forces={names["coordinates"][0]: 0.7, "slide": 1.3},
        christoffel="from-mass" if structured else "fitted", force="from-potential" if structured else "fitted",
    )  # fmt: skip
    assert (len(layout.inputs), len(layout.outputs), len(layout.dry_forces)) == (u, y, f)
    at = 0
    if structured and elastic:  # it decides how many rows of ∂M/∂δ there are
        at = layout.widths["mass_curvature"]
        layout.columns["mass_curvature"] = (0, at)
    for item, width in layout.widths.items():
        if item in ("mass_curvature", "christoffel" if structured and elastic else "mass_slope"):
            continue
        if item == "damping":
            layout.constants[item] = packed_triangles(np.eye(n) + 0.1)
        elif width:
            layout.columns[item] = (at, at + width)
            at += width
    waves, shifts = rng.uniform(-1.5, 1.5, (at, s)), rng.uniform(0.0, 6.0, at)
    offset = np.zeros(at)
    offset[slice(*layout.columns["M"])] = packed_triangles(3.0 * n * np.eye(n))  # so that M is positive definite
    size, soft = np.ones(at), np.arange(n) >= s
    if "K" in layout.columns:
        size[slice(*layout.columns["K"])] = packed_triangles(np.outer(soft, soft))  # none along θ
    box = Box(tuple(rng.uniform(-1.0, -0.5, s)), tuple(rng.uniform(0.4, 1.2, s)))
    fitted = forest(box, levels, degrees, lambda x: offset + size * np.sin(x @ waves.T + shifts))
    return SimpleNamespace(name="invented", layout=layout, fitted=fitted, error={}, hardware=NO_HARDWARE)


def _deformed(n, s, M, dM, slope, dslope, curvature, dcurvature, delta) -> dict[str, np.ndarray]:
    """M, ∂M/∂θ, ∂M/∂δ and Γ at θ and δ from M, ∂M/∂θ (s, n, n) at θ, and packed ∂M/∂δ and ∂²M_θθ/∂δ² with their
    gradients."""

    def whole(packed):
        found, entries = np.zeros((n, n, n - s)), iter(packed.reshape(-1, n - s))
        for i, j in combinations_with_replacement(range(n), 2):
            found[i, j] = found[j, i] = next(entries, np.zeros(n - s))
        return found

    def curved(packed):
        found, entries, d = np.zeros((n, n, n - s, n - s)), iter(packed), n - s
        for i, j in combinations_with_replacement(range(s), 2):
            for a, b in combinations_with_replacement(range(d), 2):
                found[i, j, a, b] = found[j, i, a, b] = found[i, j, b, a] = found[j, i, b, a] = next(entries)
        return found

    Q = curved(curvature)
    M_a = whole(slope) + Q @ delta
    there = M + whole(slope) @ delta + 0.5 * Q @ delta @ delta
    along = np.array(
        [dM[k] + whole(dslope[:, k]) @ delta + 0.5 * curved(dcurvature[:, k]) @ delta @ delta for k in range(s)]
    )
    full = np.concatenate([np.moveaxis(along, 0, -1), M_a], axis=-1)
    gamma = 0.5 * (full + full.transpose(0, 2, 1) - full.transpose(2, 0, 1))
    return {"M": there, "mass_gradient": along, "mass_slope": M_a, "christoffel": gamma}


def coefficients(rom, theta, delta=None) -> dict[str, np.ndarray]:
    """The coefficients of the equations at one θ and δ, from the fitted function and its gradient."""
    layout = rom.layout
    n, s = layout.size, layout.theta
    f, df = rom.fitted.with_gradient(theta)

    def part(name, source=f):
        if name in layout.columns:
            return source[slice(*layout.columns[name])]
        constant = np.ravel(layout.constants.get(name, np.zeros(layout.widths[name])))
        return constant if source is f else np.zeros((len(constant), s))

    found = {name: unpack_triangles(part(name), n) for name in ("M", "K", "damping")}
    found["christoffel"] = unpack_triangles(part("christoffel").reshape(n, -1), n)
    if layout.bent:
        changes = [part(name, source) for name in ("mass_slope", "mass_curvature") for source in (f, df)]
        there = np.zeros(n - s) if delta is None else delta
        found |= _deformed(n, s, found["M"], unpack_triangles(part("M", df).T, n), *changes, there)
    elif layout.christoffel == "from-mass":
        dM = np.moveaxis(unpack_triangles(part("M", df).T, n)[:, :s, :s], 0, -1)
        found["christoffel"][:s, :s, :s] = 0.5 * (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 0, 1))
    found["force"] = part("force").copy()
    if layout.force == "from-potential":
        found["force"][:s] = -part("potential", df)[0]
    found["force_gradient"] = part("force", df)[s:]
    found["stiffness_gradient"] = unpack_triangles(part("K", df).T, n)
    found["input_map"] = part("input_map").reshape(n, -1)
    found["outputs"], found["rigid"] = part("outputs"), part("outputs", df)
    found["output_modes"] = part("output_modes").reshape(len(layout.outputs), n - s)
    found["friction_map"] = part("friction_map").reshape(-1, n)
    return found


def resistance(rom, eta, rates) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Coefficients, and Γ[η̇, η̇] + D η̇ + K η + Jᵀ f tanh(J η̇ / v₀) - p.

    p_θ = p_θ(θ) + (∂p_δ/∂θ)ᵀ δ - ½ δᵀ ∂K/∂θ δ: all forces follow from one potential.
    """
    s, c = rom.layout.theta, coefficients(rom, eta[: rom.layout.theta], eta[rom.layout.theta :])
    force = c["force"].copy()
    delta = eta[s:]
    force[:s] += c["force_gradient"].T @ delta - 0.5 * c["stiffness_gradient"][:, s:, s:] @ delta @ delta
    J, dry = c["friction_map"], np.array(list(rom.layout.dry_forces.values()))
    bend = np.einsum("ijk,j,k->i", c["christoffel"], rates, rates)
    return c, bend + c["damping"] @ rates + c["K"] @ eta - force + J.T @ (dry * np.tanh(J @ rates / SLIP_RATE))


def reference_step(rom, x, u, h, method):
    """The two methods from Python's derivative and linear model, written by the book."""
    n, s = rom.layout.size, rom.layout.theta

    def f(z):
        return np.concatenate([z[n:], rom.forward(z[:s], z[n:], u, delta=z[s:n])])

    if method == "explicit":
        k1 = f(x)
        k2 = f(x + h / 2 * k1)
        k3 = f(x + h / 2 * k2)
        return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(x + h * k3))
    J = rom.linearize(x[:s], rates=x[n:], inputs=u, delta=x[s:n], drives=False).A
    W = np.eye(2 * n) * 2.0 / h - J
    k1 = np.linalg.solve(W, f(x))
    k2 = np.linalg.solve(W, f(x) + 4.0 / h * k1)
    k3 = np.linalg.solve(W, f(x + 2 * k1) + (k1 - k2) / h)
    return x + 2 * k1 + k3 + np.linalg.solve(W, f(x + 2 * k1 + k3) + (k1 - k2 - 8 / 3 * k3) / h)


class Library:
    """The compiled code; arrays in, arrays and the flag out."""

    def __init__(self, file: Path, prefix: str, kind=float):
        self.library, self.prefix, self.kind = ctypes.CDLL(str(file)), prefix, kind

    def call(self, name: str, *given, width: int) -> tuple[int, np.ndarray]:
        out = np.full(width, 12345.0, dtype=self.kind)
        arrays = [np.ascontiguousarray(item, dtype=self.kind) for item in given]
        pointers = [ctypes.c_void_p(item.ctypes.data) for item in (*arrays, out)]
        return getattr(self.library, f"{self.prefix}_{name}")(*pointers), out


@pytest.fixture(scope="session")
def built(cc, tmp_path_factory):
    """Export and compile, with every warning an error: built(rom) -> Library. Once for each model and precision."""
    libraries: dict[tuple[int, str], tuple[SimpleNamespace, Library]] = {}

    def build(rom, precision="double") -> Library:
        key = id(rom), precision
        if key not in libraries:
            folder = tmp_path_factory.mktemp("built")
            _, source, *_ = export(rom, folder, precision=precision)
            target = source.with_suffix(".so")
            done = subprocess.run(
                [cc, *STRICT, "-fPIC", "-shared", str(source), "-lm", "-o", str(target)],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr[:3000]
            kind = float if precision == "double" else np.float32
            libraries[key] = rom, Library(target, source.stem, kind)  # the model is kept, and with it its id
        return libraries[key][1]

    return build


OBSERVED = """
supple: 1
name: observed
plane: xz
points: {A: [0, 0], B: [0.2, 0.3], C: [0.9, 0.5], D: [0.8, 0]}
gravity: [0, -9.81]
bodies:
  crank: {rod: [A, B], mass: 1}
  coupler: {rod: [B, C], mass: 2}
  rocker: {rod: [D, C], mass: 1.5}
joints:
  A: {revolute: [ground, crank], viscous: 0.1, dry: 0.2}
  B: {revolute: [crank, coupler]}
  C: {revolute: [coupler, rocker]}
  D: {revolute: [rocker, ground]}
actuators: {crank: {joint: A}}
sensors:
  C: {position: C}
  v: {velocity: C, axis: x}
  imu: {acceleration: coupler.C, axes: body, gravity: true}
  B: {reaction: B}
"""


@pytest.fixture(scope="session")
def observed() -> supple.ReducedModel:
    """A reduced model whose sensors see rates, accelerations and forces inside."""
    machine = supple.loads(OBSERVED)
    here = float(supple.assemble(machine).theta[0])
    return supple.reduce(machine, region={"crank": (here - 0.3, here + 0.3)}, tolerance=1e-4, progress=False)


@pytest.fixture(scope="session")
def models() -> dict[str, SimpleNamespace]:
    orthoglide, four_bar = Box((-0.26,) * 3, (0.06,) * 3), Box((-1.5,), (1.5,))
    return {
        "orthoglide": sampled("orthoglide", orthoglide, (1, 1, 1), (2,), structured=False),
        "orthoglide structured": sampled("orthoglide", orthoglide, (1, 1, 0), (4,), structured=True),
        "four-bar": sampled("four-bar", four_bar, (2,), (6,), structured=True),
        "four-bar mixed degrees": sampled("four-bar", four_bar, (2,), (3, 8, 5), structured=False),
        "elastic": invented(1, 2, 2, (1, 2), (3, 5), structured=False),
        "elastic structured": invented(2, 2, 1, (1, 1), (4,), structured=True),
        "many terms": invented(3, 3, 0, (0, 0, 0), (8,), structured=True),
    }


@pytest.fixture(scope="session")
def machines() -> dict[str, supple.ReducedModel]:
    """Models of four examples, as the command line reduces them, small enough to be made in a moment."""

    def load(name: str) -> supple.Mechanism:
        return supple.load(EXAMPLES / name / "mechanism.yaml")

    ralf = load("ralf")
    return {
        "orthoglide": supple.reduce(load("orthoglide"), tolerance=1e-2),
        "flexible-four-bar": supple.reduce(load("flexible-four-bar"), constraint_modes=["E.z"], internal_modes=1,
                                           checks=200, region={"crank": (-0.6, 0.4)}, tolerance=1e-2),
        "ralf": supple.reduce(ralf, checks=200, internal_modes=2, tolerance=2e-2),
        "four-bar-redundant": supple.reduce(load("four-bar-redundant"), region={"A": (-0.5, 0.5)}, tolerance=1e-2),
    }  # fmt: skip


MACHINES = ("orthoglide", "flexible-four-bar", "ralf", "four-bar-redundant")


@pytest.fixture(params=MACHINES)
def machine(request, machines):
    return machines[request.param]


@pytest.fixture(scope="session")
def fmus(machines, cc, tmp_path_factory):
    """An FMU of each machine and version, made once, with the folder it is unpacked to."""
    fmpy = pytest.importorskip("fmpy")
    known: dict[tuple[str, str], SimpleNamespace] = {}

    def fmu(name: str, version: str) -> SimpleNamespace:
        if (name, version) not in known:
            rom = machines[name]
            lower, upper = rom.fitted.arrays.roots_f[0]
            (file,) = export(
                rom, tmp_path_factory.mktemp("fmu"), to="fmu", fmi=version, start=0.4 * lower + 0.6 * upper, step=1e-4
            )
            folder = fmpy.extract(str(file), unzipdir=str(tmp_path_factory.mktemp("unpacked")))
            description = fmpy.read_model_description(folder)
            references = {item.name: item.valueReference for item in description.modelVariables}
            known[name, version] = SimpleNamespace(
                rom=rom, file=file, folder=folder, version=version, description=description, references=references
            )
        return known[name, version]

    return fmu


CASES = (
    "orthoglide", "orthoglide structured", "four-bar", "four-bar mixed degrees", "elastic", "elastic structured",
    "many terms",
)  # fmt: skip


@pytest.fixture(params=CASES)
def rom(request, models):
    return models[request.param]


@pytest.fixture(scope="session")
def reference():
    """The equations in numpy, independent of the kernels of a reduced model."""
    known = {"coefficients": coefficients, "resistance": resistance, "invented": invented, "sampled": sampled}
    known["forest"] = forest
    return SimpleNamespace(**known, step=reference_step)
