"""An input shaper from one file: ZV four times over, which forgives more wrong frequencies than ZVDD."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple import control
from supple.control.feedforward.input_shaping import ShaperKind

FOURFOLD = """
from supple.control.feedforward.input_shaping import ShaperKind

FOURFOLD = ShaperKind("zvddd", "Nor at third.", lambda K, V: (1.0, 4.0 * K, 6.0 * K**2, 4.0 * K**3, K**4))
"""
SHAPED = """
import json
from supple import control
made = control.shaper("zvddd", 3.0, 0.05)
print(json.dumps([made.amplitudes.tolist(), made.delays.tolist()]))
"""
HERTZ, RATIO = 3.0, 0.05


@pytest.mark.slow
def test_a_package_adds_a_shaper(installed):
    amplitudes, delays = installed(FOURFOLD, "FOURFOLD").python(SHAPED)
    fourfold, zv = control.Shaper(np.array(amplitudes), np.array(delays)), control.shaper("zv", HERTZ, RATIO)
    assert_allclose(amplitudes, np.polynomial.polynomial.polypow(zv.amplitudes, 4), rtol=1e-12)  # four ZV in a row
    assert_allclose(fourfold.delay, 4.0 * zv.delay, rtol=1e-12)
    assert fourfold.residual(HERTZ, RATIO) < 1e-12  # rounding
    beside = HERTZ * np.array([0.9, 0.95, 1.05, 1.1])
    assert (fourfold.residual(beside, RATIO) < 0.5 * control.shaper("zvdd", HERTZ, RATIO).residual(beside, RATIO)).all()


def test_a_script_registers_one():
    supple.register(ShaperKind("twice-zv", "ZV twice over.", lambda K, V: (1.0, 2.0 * K, K**2)))
    made, known = control.shaper("twice-zv", HERTZ, RATIO), control.shaper("zvd", HERTZ, RATIO)
    assert_allclose(made.amplitudes, known.amplitudes, rtol=1e-12)
    with pytest.raises(supple.InputError, match="twice-zw"):
        control.shaper("twice-zw", HERTZ, RATIO)
