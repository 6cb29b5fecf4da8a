"""A kind of damping that is found from responses, from one file: viscous, in proportion to stiffness alone."""

from __future__ import annotations

import numpy as np
import pytest

import supple

KELVIN = """
import numpy as np

from supple.identification.damping.damping_kind import DampingKind, DampingNumber

KELVIN = DampingKind(
    "kelvin", "Viscous damping beside every stiffness, in proportion to it.", hysteretic=False, law=True,
    numbers=lambda tested: (DampingNumber("damping.beta"),),
    over=lambda spectrum, numbers, k: np.ones(len(spectrum.mu)),
    like=lambda eta, omega, k: eta / omega,
    without=lambda mechanism, numbers: mechanism.replace(damping=None),
    written=lambda numbers, values: {("damping",): {"rayleigh": [0.0, float(values[0])]}},
)
"""
ROD = """
supple: 1
name: rod
plane: xz
points: {O: [0, 0]}
bodies: {rod: {mass: 2, center: [1, 0], inertia: 0.1, at: [1, 0]}}
joints: {O: {weld: [ground, rod], stiffness: {angle: 3e3, x: 1e6}}}
sensors: {tip: {position: rod}}
"""


def test_its_number_is_found_and_written(tmp_path, installed):
    package = installed(KELVIN, "KELVIN")
    lines = np.linspace(2.0, 150.0, 60)
    truth = supple.loads(ROD).replace(damping={"rayleigh": (0.0, 4e-5)})
    H = supple.frf(truth, None, ["rod.x", "rod.z"], ["rod.x", "rod.z"], lines, kind="accelerance").values
    pushed = [supple.Channel("rod", way, "force") for way in "xz"]
    supple.Responses(lines, [supple.Channel("rod", way) for way in "xz"], pushed, H).save(tmp_path / "test.npz")
    (tmp_path / "rod.yaml").write_text(ROD, encoding="utf-8")
    found = package.supple(
        "identify", str(tmp_path / "rod.yaml"), str(tmp_path / "test.npz"), "--damping", "kelvin",
        "-o", str(tmp_path / "new.yaml"),
    )  # fmt: skip
    assert found["damping"]["damping.beta"] == pytest.approx(4e-5, rel=1e-3)
    assert supple.load(tmp_path / "new.yaml").damping.rayleigh == pytest.approx((0.0, 4e-5), rel=1e-3)
