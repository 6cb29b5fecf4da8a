"""Digests of the generated C, for coefficients that every processor computes bit for bit.

An intended change of the text, comments included, changes the digests; the failure message shows the new ones.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from supple.export.c.generated_model import CModel
from supple.export.c.model_source import c_source
from supple.export.c.source_text import single_precision
from supple.export.casadi_files.target import dynamics_source, second_source
from supple.export.fmu.target import _token
from supple.export.fmu.unit import FmuContents, FmuQuantity

DIGESTS = {"rigid": "c2cf8d779af99e80", "flexible": "b8a768df97cd7c1d"}


def text(reference, name: str) -> str:
    """Sources of a model whose coefficients are eighths; nothing in it is fitted or computed."""
    s, elastic, degrees, structured = {"rigid": (2, 0, (3,), False), "flexible": (2, 1, (2, 3), True)}[name]
    rom = reference.invented(1, s, elastic, (1,) * s, degrees, structured=structured)
    arrays = rom.fitted.arrays
    k, o = np.indices(arrays.coefficients.shape)
    numbers = ((7 * k + 3 * o) % 11 - 5) / 8.0
    bounds = np.where(arrays.roots_f > 0.0, 1.0, -1.0)
    leaves = np.stack([np.zeros((len(arrays.leaves_f), s)), np.full((len(arrays.leaves_f), s), 2.0)], axis=1)
    cuts = np.zeros_like(arrays.nodes_f)
    rom.fitted = replace(
        rom.fitted, arrays=arrays._replace(coefficients=numbers, roots_f=bounds, leaves_f=leaves, nodes_f=cuts)
    )
    model = c_source(CModel("code", rom))
    return model + single_precision(model) + dynamics_source(rom, "code") + second_source(rom, "code")


@pytest.mark.parametrize("name", ["rigid", "flexible"])
def test_the_text_is_what_it_was(reference, name):
    assert hashlib.sha256(text(reference, name).encode()).hexdigest()[:16] == DIGESTS[name]


def test_an_fmu_keeps_its_token():
    """Programs that have stored a model find it again by its token, whatever classes are called here."""
    states = (FmuQuantity("q", "rad", 0.5), FmuQuantity("q.rate", "rad/s"))
    inputs, parameters = (
        (FmuQuantity("q.force", "N m", description="input"),),
        (FmuQuantity("m", "kg", 2.0, range=(1.0, 3.0)),),
    )
    unit = FmuContents("arm", "arm", "", states, inputs, (), parameters, (), (), {})
    assert _token(unit, "2", {"unit.c": "int x;"}) == "{ead7ae39-0a4a-ba1a-1d31-2ff8696bfa8b}"
