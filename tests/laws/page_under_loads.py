"""Modes of the page in the browser under loads at rest, against those of Python, on random machines.

Loops and spatial linkages with beams, frames and rigid bodies, elastic hinges, gearboxes that yield, weights, forces
and moments that follow their body or not, springs under tension, and actuators that do not push along the coordinates.
The page's constants of loads are in single precision: frequencies may differ by TOLERANCE.

    python tests/laws/page_under_loads.py --machines 30 --seed 0
"""

from __future__ import annotations

import argparse
import copy
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from elastic_mechanisms import loop, spatial
from random_parts import listed

import supple
from supple.formulations.elastic_rest.constrained_modes import constrained_modes
from supple.formulations.elastic_rest.loaded_modes import constrained_loaded_modes
from supple.kinematics.rest import rest
from supple.view.page.page_data import page_mechanism, sampled_postures
from supple.view.page.single_file import page_html
from supple.view.page.whole_page import whole_page

TOLERANCE = 1e-6  # of a frequency
POSTURES = 3
ARGUMENTS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run")


def loaded_machine(seed: int) -> supple.Mechanism:
    """A random machine under random loads, up to those that buckle it."""
    rng = np.random.default_rng(1000 + seed)
    made: dict[str, Any] = copy.deepcopy((loop if seed % 3 else spatial)(seed % 50))
    places = [f"b{i}.P{i + 1}" for i in range(len(made["bodies"]))]
    size = 10.0 ** rng.uniform(1.0, 2.7)
    made["gravity"] = listed(10.0 ** rng.uniform(0.0, 1.5) * rng.standard_normal(3))
    made["forces"] = {
        "F": {
            "at": str(rng.choice(places[:-1])),
            "force": listed(size * rng.standard_normal(3)),
            "moment": listed(0.2 * size * rng.standard_normal(3)),
            "follower": bool(rng.random() < 0.5),
        }
    }
    made["points"] |= {"S": listed(rng.standard_normal(3)), "T": listed(rng.normal((0.0, 0.0, 2.0)))}
    if rng.random() < 0.7:
        stiffness, length = 10.0 ** rng.uniform(2.0, 4.0), rng.uniform(0.3, 1.5)
        spring = {"between": ["ground.S", places[0]], "stiffness": float(stiffness), "length": float(length)}
        made["springs"] = {"spring": spring}
    driven = [item["joint"] for item in made["actuators"].values()]
    if rng.random() < 0.4:  # a cylinder in the place of the first motor, whose angle stays the coordinate
        made["coordinates"] = driven
        others = dict(list(made["actuators"].items())[1:])
        made["actuators"] = {"rod": {"between": ["ground.T", places[0]]}, **others}
    elif "elastic" not in made["joints"][driven[0]]:
        made["joints"][driven[0]]["drive"] = {"stiffness": float(10.0 ** rng.uniform(3.0, 5.0))}
    return supple.Mechanism(**made)


def postures(mechanism: supple.Mechanism) -> np.ndarray:
    """(k, s) at rest and elsewhere."""
    return sampled_postures(rest(mechanism), 4 * POSTURES).theta[:POSTURES]


def frequencies_on_page(page: Any, mechanism: supple.Mechanism, thetas: np.ndarray) -> np.ndarray:
    """(N, k) Hz as an open page has them."""
    found = []
    names = list(supple.assemble(mechanism).coordinates)
    for theta in thetas:
        given = dict(zip(names, theta.tolist(), strict=True))
        found.append(page.evaluate("async (given) => { await supple.set(given); return supple.frequencies(); }", given))
        assert page.evaluate("supple.search().converged")
    return np.array(found)


def difference(found: np.ndarray, mechanism: supple.Mechanism, thetas: np.ndarray) -> float:
    """The largest difference of a frequency (N, k), as a share of what it is, or is without loads if that is more.

    Bodies are condensed as those of the page: for machines far above their buckling load the band matters more.
    """
    rest_, held, *_ = page_mechanism(rest(mechanism), preload=True)
    places, count = supple.assemble(mechanism, thetas), found.shape[1]
    exact = constrained_loaded_modes(rest_, held, places, count)[0] / (2.0 * np.pi) ** 2
    bare = constrained_modes(rest_, held, places.X, count)[0] / (2.0 * np.pi) ** 2
    gap = np.abs(np.sign(found) * np.square(found) - exact)
    return float((0.5 * gap / np.maximum(np.abs(exact), bare)).max())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--machines", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        for number in range(given.machines):
            mechanism = loaded_machine(given.machines * given.seed + number)
            file = Path(folder) / "page.html"
            file.write_text(page_html(whole_page(mechanism, preload=True)), encoding="utf-8")
            page = browser.new_page()
            page.goto(file.as_uri())
            page.evaluate("async () => { await supple.ready; }")
            thetas = postures(mechanism)
            found = frequencies_on_page(page, mechanism, thetas)
            page.close()
            off = difference(found, mechanism, thetas)
            worst = max(worst, off)
            print(f"{number:3d}  {off:.1e}  lowest {found.min():8.3f} Hz  {'' if off <= TOLERANCE else 'too much'}")
        browser.close()
    print(f"{given.machines} machines: largest difference {worst:.1e} (limit {TOLERANCE:g})")
    return int(worst > TOLERANCE)


if __name__ == "__main__":
    sys.exit(main())
