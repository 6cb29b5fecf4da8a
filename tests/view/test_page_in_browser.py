"""The page in a real browser, live and as a file: what it shows is what Python computes, and nothing leaves it.

One page is open at a time: each computes on, and the tests share the machine with others.
"""

from __future__ import annotations

import base64
import hashlib
import io
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image

import supple
from supple.view.page.played_motion import read_run
from supple.view.page.single_file import PageServer, page_html
from supple.view.page.whole_page import whole_page

EXAMPLES = Path(__file__).parents[2] / "examples"
MACHINES = ("ralf", "flexible-four-bar", "orthoglide", "stewart", "surgiscope")
LIVE = "flexible-four-bar"  # opened from a server too
ANSWER = 100.0  # ms, in which a posture is to be answered
LOADED = 20.0  # times slower that a machine may be on which everything else runs at the same time
LARGEST = 3e6  # bytes of a file
SEEN = 24  # of 255: a difference of colours that an eye would see

HOSTILE = '<img src=x onerror="window.hurt=1">'

# Where a place (its name or its coordinates) is drawn, in pixels: camera and frame as they are at the moment; matrices
# of three.js stand by columns.
PROJECTED = """(() => {
    const { stage } = supple.page, camera = stage.camera, p = given.map ? given : supple.frame(given).position;
    camera.updateMatrixWorld();
    const times = (m, v) => [0, 1, 2, 3].map((i) => [0, 1, 2, 3].reduce((sum, j) => sum + m[i + 4 * j] * v[j], 0));
    const c = times(camera.projectionMatrix.elements, times(camera.matrixWorldInverse.elements, [...p, 1]));
    return [(c[0] / c[3] + 1) / 2 * stage.canvas.width, (1 - c[1] / c[3]) / 2 * stage.canvas.height];
})()"""


class Opened:
    """A page in the browser, what it asked for and what it said."""

    def __init__(self, browser, address: str):
        self.requests: list[str] = []
        self.said: list[str] = []
        self.page = browser.new_page(viewport={"width": 900, "height": 620})
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.goto(address)
        self.ask("await supple.ready")

    def ask(self, expression: str, given=None):
        return self.page.evaluate(f"async (given) => ({expression})", given)

    def pixels(self):
        """(height, width, 3) of what is drawn, as it is now."""
        content = base64.b64decode(self.ask("supple.pixels()").partition(",")[2])
        with Image.open(io.BytesIO(content)) as image:
            return np.asarray(image.convert("RGB")).astype(int)

    def place(self, given: str | list[float]):
        """Where a frame, or a point of the world, is drawn, in pixels (x, y) of the picture."""
        return np.array(self.ask(PROJECTED, given))

    def slide(self) -> dict[str, float]:
        """Move the first slider by a good part of its way; the coordinates afterwards."""
        slider = self.page.locator("input[type=range][data-coordinate]").first
        before, low, high = float(slider.input_value()), *(float(slider.get_attribute(end)) for end in ("min", "max"))
        slider.fill(str(before + 0.2 * ((high if high - before > before - low else low) - before)))
        found = self.ask("supple.coordinates()")
        assert abs(found[slider.get_attribute("data-coordinate")] - before) > 0.05 * (high - low)
        return found

    def require_quiet(self):
        """It asked for itself alone, and had nothing to complain of."""
        asked = [url for url in self.requests if not url.startswith("blob:")]  # its own worker
        assert len(asked) == 1, asked
        assert not self.said, self.said


class Machine:
    """An example, its page as html, and its page as a file in the browser."""

    def __init__(self, name: str, browser, folder: Path):
        self.name = name
        self.mechanism = supple.load(EXAMPLES / name / "mechanism.yaml")
        self.html = page_html(whole_page(self.mechanism))
        file = folder / f"{name}.html"
        file.write_text(self.html, encoding="utf-8")
        self.shown = Opened(browser, file.as_uri())


@pytest.fixture(scope="module", params=MACHINES)
def machine(request, browser, tmp_path_factory):
    found = Machine(request.param, browser, tmp_path_factory.mktemp("pages"))
    yield found
    found.shown.page.close()


def require_frames(one: Opened, mechanism, theta: dict[str, float]) -> None:
    """Every frame of the page is where `assemble` says."""
    names = list(mechanism_frames := supple.assemble(mechanism, theta).frames)
    shown = one.ask("given.map((name) => supple.frame(name))", names)
    for found, (name, pose) in zip(shown, mechanism_frames.items(), strict=True):
        # Both close the loops to 1e-10 or better, in the same precision.
        assert_allclose(found["position"], pose.position, atol=1e-8, err_msg=name)
        assert_allclose(np.reshape(found["rotation"], (3, 3)), pose.rotation, atol=1e-8, err_msg=name)


def test_a_slider_moves_every_frame_to_where_assemble_says(machine):
    require_frames(machine.shown, machine.mechanism, machine.shown.slide())


def test_numbers_beside_the_sliders_are_those_of_the_posture(machine):
    shown = machine.shown.ask(
        "[...document.querySelectorAll('.coordinate input[type=number]')].map((one) => one.value)"
    )
    factors = {"rad": 180.0 / np.pi}
    items = machine.shown.ask("supple.page.data.coordinates")
    theta = machine.shown.ask("supple.coordinates()")
    for text, item in zip(shown, items, strict=True):
        assert len(text) <= 9  # the field has room for no more
        value = theta[item["name"]] * factors.get(item["unit"], 1.0)
        assert any(float(text) == pytest.approx(scale * value, rel=1e-5, abs=1e-9) for scale in (1.0, 1e3))  # m or mm


def test_frequencies_follow_the_slider(machine):
    found, theta = machine.shown.ask("supple.frequencies()"), machine.shown.ask("supple.coordinates()")
    if not machine.mechanism.elastic:
        assert found == []
        return
    # Condensed bodies are good to some 1e-6 within their band; the search for modes ends at 1e-9.
    assert_allclose(found[:4], supple.modes(machine.mechanism, theta, count=4).frequencies_hz, rtol=1e-5)


def test_something_is_drawn(machine):
    image = machine.shown.pixels()
    drawn = differing(image, background(image))
    assert 0.01 < drawn.mean() < 0.9
    assert len(np.unique(image[drawn], axis=0)) > 50


def test_a_mode_moves_what_it_moves_and_nothing_else(machine):
    one = machine.shown
    still = one.pixels()
    if not machine.mechanism.elastic:
        assert one.page.locator("[data-mode]").count() == 0
        return
    pictures = []
    one.ask("supple.mode(0)")
    for phase in (90, 90, 270):
        one.ask("supple.animate({ paused: true, phase: given })", phase)
        pictures.append(one.pixels())
    one.ask("supple.mode(null)")
    assert (pictures[0] == pictures[1]).all()
    assert (one.pixels() == still).all()
    moved = differing(pictures[0], pictures[2])
    assert moved.mean() > 0.001
    empty = ~(differing(pictures[0], background(still)) | differing(pictures[2], background(still)))
    assert not moved[empty].any()
    fixed = [joint.at for joint in machine.mechanism.joints.values() if "ground" in joint.bodies]
    for name in fixed:  # what stands on the ground is drawn in the same pixels
        if isinstance(name, str):
            x, y = one.place(name).round().astype(int)
            assert moved[y - 2 : y + 3, x - 2 : x + 3].mean() < moved_most(moved)


def moved_most(moved) -> float:
    """The largest share of a small window that differs."""
    tall, wide = (5 * (size // 5) for size in moved.shape)
    return float(moved[:tall, :wide].reshape(tall // 5, 5, wide // 5, 5).mean(axis=(1, 3)).max())


def test_a_click_on_the_map_goes_to_that_posture(machine):
    one = machine.shown
    target = one.page.locator("#map")
    target.scroll_into_view_if_needed()
    box = target.bounding_box()
    found = []
    for share in (0.4, 0.7):
        target.click(position={"x": share * box["width"], "y": 0.4 * box["height"]})
        found.append(one.ask("supple.coordinates()"))
    item = one.ask("supple.page.data.coordinates[0]")
    way = item["high"] - item["low"]
    # The axes take some of the width; the rest of the canvas is the interval that the slider has.
    assert 0.28 * way < found[1][item["name"]] - found[0][item["name"]] < 0.5 * way
    require_frames(one, machine.mechanism, found[1])


def test_a_posture_is_answered_at_once(machine):
    spent = machine.shown.ask(
        """await (async () => {
            const here = supple.coordinates(), name = Object.keys(here)[0], spent = [];
            for (let k = 1; k < 8; k++) {
                await supple.set({ ...here, [name]: here[name] * (1 + 0.001 * k) });
                const { closure, modes } = supple.cost();
                spent.push(closure + modes);
            }
            await supple.set(here);
            return spent.sort((a, b) => a - b);
        })()"""
    )
    print(f"{machine.name}: a posture with its modes in {spent[3]:.1f} ms (wanted: {ANSWER:g} ms)")
    assert spent[3] < LOADED * ANSWER


def test_the_file_is_small_and_was_quiet(machine):
    assert len(machine.html.encode()) < LARGEST
    machine.shown.require_quiet()


def test_live_it_is_the_same(machine, browser):
    """Byte for byte, so that one of them in the browser is enough."""
    server = PageServer(machine.html).start()
    try:
        with urlopen(server.address) as answer:
            assert answer.read().decode() == machine.html
        if machine.name != LIVE:
            return
        one = Opened(browser, server.address)
        require_frames(one, machine.mechanism, one.slide())
        assert one.ask("supple.frequencies()") == pytest.approx(machine.shown.ask("supple.frequencies()"), rel=0.5)
        one.require_quiet()
        one.page.close()
    finally:
        server.close()


def differing(one, other):
    """(height, width) where pictures, or a picture and a colour, differ to the eye."""
    return (np.abs(one - other) > SEEN).any(axis=2)


def background(image):
    """The colour that most of the picture has."""
    colors, counts = np.unique(image.reshape(-1, 3), axis=0, return_counts=True)
    return colors[counts.argmax()]


FOUR_BAR = f"""
supple: 1
name: '{HOSTILE}'
description: '</script>{HOSTILE}'
points: {{A: [0, 0, 0], B: [0.3, 0, 0.4], C: [1, 0, 0.6], D: [1, 0, 0]}}
bodies: {{crank: {{rod: [A, B], mass: 1}}, coupler: {{rod: [B, C], mass: 1}}, follower: {{rod: [D, C], mass: 1}}}}
joints:
  A: {{revolute: [ground, crank], at: A, axis: -y}}
  B: {{revolute: [crank, coupler], at: B, axis: -y}}
  C: {{revolute: [coupler, follower], at: C, axis: -y}}
  D: {{revolute: [ground, follower], at: D, axis: -y}}
actuators: {{crank: {{joint: A}}}}
"""


@pytest.mark.parametrize("how", ["file", "live"])
def test_hostile_names_are_text(browser, tmp_path, how):
    """Names of parts are letters and digits; a title, a description, a table and its columns may be anything."""
    mechanism = supple.loads(FOUR_BAR)
    run = tmp_path / f"{HOSTILE}.csv"
    column = HOSTILE.replace('"', '""')
    run.write_text(f'time,crank,"signal{column}"\n0,0.9,1\n0.5,0.95,2\n1,1.0,3\n', encoding="utf-8")
    html = page_html(whole_page(mechanism, runs=[read_run(run)]))
    server = PageServer(html).start()
    try:
        file = tmp_path / "page.html"
        file.write_text(html, encoding="utf-8")
        one = Opened(browser, server.address if how == "live" else file.as_uri())
        text = one.ask("document.body.textContent")
        for name in (HOSTILE, f"</script>{HOSTILE}", f"signal{HOSTILE}", f"{HOSTILE}.csv"):
            assert name in text
        assert HOSTILE in one.ask("document.title")
        assert one.ask("window.hurt") is None
        assert one.ask("document.querySelectorAll('img').length") == 0
        one.require_quiet()
        one.page.close()
    finally:
        server.close()


def test_what_cannot_be_reached_says_which_actuator_locks(browser, tmp_path):
    """Also: two runs are played back where their bodies were."""
    mechanism = supple.loads(FOUR_BAR)
    runs = []
    for number, end in enumerate((1.0, 1.1)):
        runs.append(tmp_path / f"run{number}.csv")
        runs[-1].write_text(f"time,crank\n0,0.9\n1,{end}\n", encoding="utf-8")
    file = tmp_path / "page.html"
    file.write_text(page_html(whole_page(mechanism, runs=[read_run(run) for run in runs])), encoding="utf-8")
    one = Opened(browser, file.as_uri())
    assert one.ask("supple.runs()") == ["run0.csv", "run1.csv"]
    one.ask("supple.time(1)")
    require_frames(one, mechanism, {"crank": 1.0})
    told = one.ask("await supple.set({ crank: 3.1 })")
    assert not told["reached"]
    assert "crank" in told["message"]
    assert told["message"] in one.page.locator("#message").inner_text()
    one.require_quiet()
    one.page.close()


@pytest.fixture
def four_bar(browser, tmp_path):
    """A page of the four-bar, as a file."""
    file = tmp_path / "page.html"
    file.write_text(page_html(whole_page(supple.loads(FOUR_BAR))), encoding="utf-8")
    one = Opened(browser, file.as_uri())
    yield one
    one.page.close()


LABELS = """(() => {
    const stage = document.getElementById("stage").getBoundingClientRect();
    const shown = [...document.querySelectorAll("#labels span")].filter((one) => one.checkVisibility());
    return Object.fromEntries(shown.map((one) => {
        const { left, right, top, bottom } = one.getBoundingClientRect();
        return [one.textContent, [left - stage.left, right - stage.left, top - stage.top, bottom - stage.top]];
    }));
})()"""
NEXT_FRAME = "await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def test_names_stand_at_the_middle_of_bodies_and_beside_joints(four_bar):
    assert four_bar.ask(LABELS) == {}
    four_bar.page.get_by_role("button", name="names").click()
    mechanism = supple.loads(FOUR_BAR)
    for crank in (0.95, 0.6):
        four_bar.ask("await supple.set({ crank: given })", crank)
        four_bar.ask(NEXT_FRAME)
        shown = four_bar.ask(LABELS)
        assert {"crank", "coupler", "follower", "A", "B", "C", "D"} <= set(shown)
        width, height = four_bar.ask("[supple.page.stage.canvas.clientWidth, supple.page.stage.canvas.clientHeight]")
        at = {name: supple.assemble(mechanism, {"crank": crank}).frames[name].position for name in "ABCD"}
        ends = {"crank": "AB", "coupler": "BC", "follower": "DC", **{name: name * 2 for name in "ABCD"}}
        for name, (first, last) in ends.items():
            x, y = four_bar.place((0.5 * (at[first] + at[last])).tolist())  # one pixel of the canvas is one of the page
            left, right, top, bottom = shown[name]
            assert 0 < left - x < 10, name
            assert abs((top + bottom) / 2 - y) < 2, name
            assert 0 <= left < right <= width, name
            assert 0 <= top < bottom <= height, name
        boxes = list(shown.values())
        for k, (left, right, top, bottom) in enumerate(boxes):
            assert all(a >= right or b <= left or c >= bottom or d <= top for a, b, c, d in boxes[:k])


# Contrast of text and background by WCAG 2.1, 1.4.3, of what is drawn: colours that are partly transparent stand on the
# stage's. A canvas gives the sRGB values of any notation.
CONTRAST = """(() => {
    const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
    const stage = getComputedStyle(document.body).backgroundColor;
    const luminance = (...colors) => {
        for (const color of [stage, ...colors]) { context.fillStyle = color; context.fillRect(0, 0, 1, 1); }
        const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map((v) => v / 255)
            .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    return [...document.querySelectorAll("button")].map((one) => {
        const { color, backgroundColor } = getComputedStyle(one);
        const [dark, light] = [luminance(backgroundColor), luminance(backgroundColor, color)].sort((a, b) => a - b);
        return [one.textContent, one.getAttribute("aria-pressed"), (light + 0.05) / (dark + 0.05)];
    });
})()"""


def test_what_is_written_on_buttons_can_be_read(four_bar):
    """4.5, the least contrast that WCAG 2.1 asks for, pressed or not, dark or light."""
    for _ in range(2):
        found = four_bar.ask(CONTRAST)
        assert {pressed for _, pressed, _ in found} >= {"false", None}
        four_bar.page.get_by_role("button", name="names").click()
        four_bar.page.get_by_role("button", name="frames").click()
        found += four_bar.ask(CONTRAST)
        assert sum(pressed == "true" for _, pressed, _ in found) == 2
        assert min(found, key=lambda one: one[2])[2] > 4.5, found
        four_bar.page.get_by_role("button", name="names").click()
        four_bar.page.get_by_role("button", name="frames").click()
        four_bar.page.get_by_role("button", name="dark or light").click()


def test_no_script_but_its_own_may_run(four_bar):
    """The policy names the page's script by its digest; another one that got into the page is refused."""
    policy = four_bar.ask("document.querySelector('meta[http-equiv=Content-Security-Policy]').content")
    script = four_bar.ask("document.getElementById('supple-page').textContent")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy
    assert "script-src 'unsafe-inline'" not in policy
    four_bar.require_quiet()
    four_bar.ask(
        "void document.body.append(Object.assign(document.createElement('script'), { textContent: 'hurt = 1' }))"
    )
    four_bar.ask("void (document.body.insertAdjacentHTML('beforeend', given))", HOSTILE)
    four_bar.ask(NEXT_FRAME)
    assert four_bar.ask("window.hurt") is None
    assert any("script-src" in said for said in four_bar.said)
