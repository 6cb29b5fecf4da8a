"""The page in the browser: size and load time of each single file, cost of a frame, and of a posture.

A frame has 16.7 ms at 60 a second. `script` is what the page itself spends on one (the machine's shape in a mode, and
what it hands to the graphics); `drawn` is until the last pixel, by Chromium's software renderer on one core, for want
of a graphics card: that is not what a user has. A posture is closing the loops and finding its modes
under loads.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from pathlib import Path

import supple
from supple.view.page.single_file import bundle_file, save_page
from supple.view.page.whole_page import whole_page

EXAMPLES = Path(__file__).parents[1] / "examples"
MACHINES = ("ralf", "flexible-four-bar", "orthoglide", "stewart", "surgiscope")
ARGUMENTS = (
    "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
LOADS, FRAME, ANSWER, LARGEST = 3, 1e3 / 60.0, 100.0, 3e6

FRAMES = """async () => {
    const { stage, shape } = supple.page, gl = stage.renderer.getContext(), pixel = new Uint8Array(4);
    if (supple.frequencies().length) supple.mode(0);
    const script = [], drawn = [];
    for (let k = 0; k < 60; k++) {
        const begun = performance.now();
        stage.tick(1 / 60);
        stage.draw();
        script.push(performance.now() - begun);
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
        drawn.push(performance.now() - begun);
    }
    supple.mode(null);
    return [script, drawn];
}"""
POSTURES = """async () => {
    const here = supple.coordinates(), name = Object.keys(here)[0], spent = [];
    for (let k = 1; k <= 15; k++) {
        await supple.set({ ...here, [name]: here[name] * (1 + 0.001 * k) + 1e-4 * k });
        const { closure, modes } = supple.cost();
        spent.push(closure + modes);
    }
    return spent;
}"""


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if bundle_file() is None or chromium is None:
        print("left out: it needs the page (make viewer) and chromium (make tools)")
        return
    from playwright.sync_api import sync_playwright

    print(f"{'':18} {'made in':>9} {'file':>9} {'loads in':>9} {'script':>9} {'drawn':>9} {'posture':>9}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        print(f"{'wanted':18} {'':>9} {LARGEST / 1e6:>6.2f} MB {'':>9} {FRAME:>6.1f} ms {'':>9} {ANSWER:>6.1f} ms")
        for name in MACHINES:
            begun = time.perf_counter()
            mechanism = supple.load(EXAMPLES / name / "mechanism.yaml")
            file = save_page(Path(folder) / f"{name}.html", whole_page(mechanism, preload=True))
            made = time.perf_counter() - begun
            loads = []
            for _ in range(LOADS):
                page = browser.new_page(viewport={"width": 1400, "height": 900})
                begun = time.perf_counter()
                page.goto(file.as_uri())
                page.evaluate("async () => { await supple.ready; }")
                loads.append(time.perf_counter() - begun)
                if len(loads) < LOADS:
                    page.close()
            script, drawn = (statistics.median(values) for values in page.evaluate(FRAMES))
            posture = statistics.median(page.evaluate(POSTURES))
            page.close()
            print(
                f"{name:18} {made:>7.2f} s {file.stat().st_size / 1e6:>6.2f} MB {statistics.median(loads):>7.2f} s "
                f"{script:>6.2f} ms {drawn:>6.1f} ms {posture:>6.1f} ms"
            )
        browser.close()


if __name__ == "__main__":
    main()
