"""`supple convert`."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

import supple as api

TABLES = """
supple: 1
name: slider
parameters: {stroke: 0.2}
tables:
  geometry: |
    joint, a,    mu, sigma, gamma, b, alpha, d, theta, r
    cart,  0,    1,  1,     pi/2,  0, pi/2,  0, 0,     stroke
    pole,  cart, 1,  0,     0,     0, pi/2,  0, q,     0
  masses: |
    body, mass, x,    Ixx,  Iyy,  Izz
    cart, 3,    0,    0.01, 0.01, 0.01
    pole, 1,    0.25, 1e-4, 0.02, 0.02
"""


def test_what_is_written_is_the_same_mechanism(supple, folder):
    (folder / "tables.yaml").write_text(TABLES, "utf-8")
    assert supple("convert", "tables.yaml", "-o", "plain.yaml").out == "written to plain.yaml\n"
    assert "tables:" not in (folder / "plain.yaml").read_text("utf-8")
    theta = {"cart": 0.3, "pole": 0.7}
    one, other = api.load(folder / "tables.yaml"), api.load(folder / "plain.yaml")
    assert_allclose(api.local(one, theta).M, api.local(other, theta).M, rtol=0.0, atol=1e-14)


def test_cart_and_pole_by_hand(folder):
    """M = [[m + m_p, ±m_p l cos q], [., J + m_p l²]]: at q = 0 the pole stands across the way."""
    (folder / "tables.yaml").write_text(TABLES, "utf-8")
    q = 0.7
    M = api.local(api.load(folder / "tables.yaml"), {"cart": 0.3, "pole": q}).M
    assert_allclose(np.diag(M), [4.0, 0.02 + 0.25**2], atol=1e-14)
    assert_allclose(abs(M[0, 1]), 0.25 * np.cos(q), atol=1e-14)


def test_it_prints_where_no_file_is_named_and_overwrites_nothing(supple, folder):
    (folder / "tables.yaml").write_text(TABLES, "utf-8")
    printed = supple("convert", "tables.yaml", "--set", "stroke=0.1")
    assert printed.status == 0
    assert printed.out.startswith("supple: 1\nname: slider\n")
    again = supple("convert", "tables.yaml", "-o", "tables.yaml")
    assert again.status == 1
    assert "tables.yaml: this file already exists" in again.err
    assert "--force" in again.err


def test_tables_and_back(supple, folder):
    (folder / "tables.yaml").write_text(TABLES, "utf-8")
    supple("convert", "tables.yaml", "-o", "plain.yaml")
    assert supple("convert", "plain.yaml", "--to", "tables", "-o", "back.yaml").status == 0
    theta = {"cart": 0.3, "pole": 0.7}
    one, other = api.load(folder / "tables.yaml"), api.load(folder / "back.yaml")
    assert_allclose(api.local(one, theta).M, api.local(other, theta).M, rtol=0.0, atol=1e-13)
    refused = supple("convert", "stewart", "--to", "tables")
    assert refused.status == 1
    assert "universal" in refused.err
