from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.approximation.fits.chebyshev_products import total_degree
from supple.approximation.fits.fits import fit
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import Forest, cut_box
from supple.reduced.layout import CoefficientLayout, packed_triangles
from supple.reduced.model import ReducedModel

EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path.insert(0, str(Path(__file__).parents[1] / "control"))  # the flexible mechanism of its tests


def chebyshev_grid(s, count):
    line = np.cos(np.pi * (np.arange(count) + 0.5) / count)
    return np.stack(np.meshgrid(*[line] * s, indexing="ij"), axis=-1).reshape(-1, s)


def local_columns(model, *, structured):
    """Columns of a local model's batch as a reduced model keeps them, their gradients, and where they are."""
    values = {"M": packed_triangles(model.M)}
    slopes = {"M": np.swapaxes(packed_triangles(np.moveaxis(model.dM, -1, 1)), 1, 2)}
    if not structured:
        values["christoffel"] = packed_triangles(model.christoffel).reshape(len(model.M), -1)
        values["force"] = model.force
    values["potential"] = model.potential[:, None]
    slopes["potential"] = -model.force[:, None]
    values["outputs"] = np.stack([output.value for output in model.outputs.values()], axis=1)
    slopes["outputs"] = np.stack([output.rigid for output in model.outputs.values()], axis=1)
    return values, slopes


def reduced(example, lower, upper, *, degree, levels=None, structured=True):
    """A reduced model fitted by hand on halves of one box; B and damping as in the examples, constant."""
    mechanism = supple.load(EXAMPLES / example / "mechanism.yaml")
    box = Box(lower, upper)
    s = box.dimension
    root, indices = cut_box(box, levels or (0,) * s), total_degree(s, degree)
    xi = chebyshev_grid(s, degree + 1)
    for leaf in root.leaves():
        model = supple.local(mechanism, leaf.box.from_unit(xi))
        values, slopes = local_columns(model, structured=structured)
        gradients = np.concatenate([slopes[name] for name in values], axis=1) * leaf.box.half if structured else None
        leaf.coefficients = fit(xi, np.hstack(list(values.values())), indices, gradients)
    ends = np.cumsum([0, *(part.shape[1] for part in values.values())]).tolist()
    layout = CoefficientLayout(
        coordinates=model.coordinates,
        theta=s,
        inputs=model.inputs,
        outputs=tuple(model.outputs),
        columns={name: (ends[i], ends[i + 1]) for i, name in enumerate(values)},
        constants={"input_map": model.input_map[0].ravel()},
        christoffel="from-mass" if structured else "fitted",
        force="from-potential" if structured else "fitted",
        limits={name: (lower[i], upper[i]) for i, name in enumerate(model.coordinates)},
    )
    return ReducedModel(mechanism.name, layout, Forest([root], indices).piecewise(), {"M": 1e-3}, {"samples": len(xi)})


@pytest.fixture(scope="session")
def four_bar():
    return reduced("four-bar", (-0.9,), (0.5,), degree=12)


@pytest.fixture(scope="session")
def orthoglide():
    return reduced("orthoglide", (-0.26,) * 3, (0.06,) * 3, degree=5)


@pytest.fixture(scope="session")
def orthoglide_direct():
    """Every coefficient fitted by itself, quadratics on 64 boxes."""
    return reduced("orthoglide", (-0.26,) * 3, (0.06,) * 3, degree=2, levels=(2, 2, 2), structured=False)


@pytest.fixture(scope="session", params=["four_bar", "orthoglide", "orthoglide_direct"])
def rigid(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def flexible():
    """M(θ, δ) and Γ that follows from it."""
    return invented("mass_slope")


@pytest.fixture(scope="session")
def stiffened():
    """The same with M_θθ to second order in δ."""
    return invented("mass_curvature")


@pytest.fixture(scope="session")
def flexible_direct():
    """M(θ) beside a Γ of its own, as the papers' fits have it, and files of before."""
    return invented("christoffel")


def invented(inertia):
    """Two θ, two δ, one of them stiff; every coefficient some polynomial of θ, with damping and dry friction."""
    rng = np.random.default_rng(7)
    n, s = 4, 2
    indices = total_degree(s, 3)

    def polynomial(width, size):
        """A constant of the given size and small higher terms."""
        found = 0.05 * rng.normal(size=(len(indices), width)) * size
        found[0] = size
        return found

    half = rng.normal(size=(n, n))
    mass = half @ half.T / n + 2.0 * np.eye(n)
    K = np.zeros((n, n))
    K[s:, s:] = [[400.0, 30.0], [30.0, 9e4]]
    parts = {
        "M": polynomial(10, packed_triangles(mass)),
        "K": polynomial(10, packed_triangles(K)),
        "christoffel": polynomial(40, 0.3 * rng.normal(size=40)),
        "mass_slope": polynomial(14, 0.03 * rng.normal(size=14)),
        "damping": polynomial(10, packed_triangles(np.diag([0.2, 0.1, 0.5, 3.0]))),
        "potential": polynomial(1, 2.0),
        "force": polynomial(4, np.array([0.0, 0.0, 3.0, -40.0])),
        "input_map": polynomial(8, np.eye(n, 2).ravel()),
        "outputs": polynomial(2, np.array([0.3, -0.2])),
        "output_modes": polynomial(4, np.array([1.0, 0.2, 0.0, 1.0])),
        "friction_map": polynomial(4, np.array([1.0, -1.0, 0.0, 0.0])),
    }
    if inertia == "mass_curvature":
        parts["mass_curvature"] = polynomial(9, 0.2 * rng.normal(size=9))
        parts["mass_slope"] = polynomial(20, 0.03 * rng.normal(size=20))
    del parts["mass_slope" if inertia == "christoffel" else "christoffel"]
    ends = np.cumsum([0, *(part.shape[1] for part in parts.values())]).tolist()
    root = cut_box(Box((-1.0, -1.0), (1.0, 1.0)), (0, 0))
    root.coefficients = np.hstack(list(parts.values()))
    layout = CoefficientLayout(
        coordinates=("a", "b", "tip.z", "mode 1"),
        theta=s,
        inputs=("a", "b"),
        outputs=("tip.x", "tip.z"),
        columns={name: (ends[i], ends[i + 1]) for i, name in enumerate(parts)},
        dry_forces={"hinge": 0.3},
        christoffel="from-mass",
        force="from-potential",
    )
    return ReducedModel("élastique", layout, Forest([root], indices).piecewise())
