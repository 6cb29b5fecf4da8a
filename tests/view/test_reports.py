"""Pages: one file each that asks for nothing, shows every text as text, and says what was computed."""

from __future__ import annotations

import json
import re
from functools import cache
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
from every_result import arm, judged, result
from flexible_arm import five_bar, model

import supple
from supple.cli.main import run
from supple.view.house_style import new_figure
from supple.view.report.mechanism_sections import stance
from supple.view.report.page import Html, Report, bullets, commands, html_table, mark_text, report_section
from supple.view.report.report import reduce_command, report
from supple.view.report.report_picture import Drawings

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>&amp;'
VOID = {"meta", "img", "br", "hr", "link", "input"}


class Reader(HTMLParser):
    """What a browser makes of a page: elements with their attributes, and text."""

    def __init__(self, text: str):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@cache
def page(kind: str) -> Report:
    things = {
        "mechanism": lambda: report(five_bar(), region={"A": (2.0, 2.2), "E": (0.95, 1.2)}, progress=False),
        "rigid": lambda: report(arm()),
        "model": lambda: report(model(), points=40, progress=False),
        "comparison": lambda: report(supple.compare(five_bar(), model(), points=30), file="arm.yaml arm.rom"),
        "run": lambda: report(judged()),
    }
    return things[kind]()


@pytest.mark.parametrize("kind", ["mechanism", "rigid", "model", "comparison", "run"])
def test_a_page_is_one_file_that_asks_for_nothing(kind):
    text = page(kind).html()
    read = Reader(text)
    tags = {tag for tag, _ in read.elements}
    assert not tags & {"script", "link", "iframe", "object", "embed", "form"}
    named = [given["id"] for _, given in read.elements if "id" in given]
    assert len(named) == len(set(named)), "parts of one picture would be taken for those of another"
    for tag, given in read.elements:
        for name, value in given.items():
            assert not name.startswith("on"), (tag, name)
            if name in ("src", "href", "xlink:href"):
                assert value.startswith(("#", "data:image/png;base64,")), (tag, value[:80])
                assert not value.startswith("#") or value[1:] in named, value
    assert not re.search(r"@import|url\((?!#)", text)
    assert "default-src 'none'" in text
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert "var(--ink)" in text  # pictures take the colours of the page
    assert "Provenance and commands" in [one.title for one in page(kind).sections]


def test_every_text_is_shown_as_it_is(tmp_path):
    four = supple.Mechanism.model_validate(arm().model_dump(exclude_none=True, exclude_unset=True))
    hostile = four.replace(name=HOSTILE, description=HOSTILE)
    read = Reader(report(hostile, tmp_path / "page.html", file=f"{HOSTILE}.yaml").html())
    assert not {tag for tag, _ in read.elements} & {"script", "img"}
    assert sum(HOSTILE in words for words in read.words) >= 3  # title, heading, description
    parts = (html_table([HOSTILE], [[HOSTILE]]), bullets([HOSTILE]), commands([HOSTILE]), mark_text(HOSTILE, "bad"))
    picture = Drawings().picture(new_figure(1.0, 1.0), HOSTILE)
    small = Reader(
        Report(HOSTILE, HOSTILE, {HOSTILE: HOSTILE}, (report_section(HOSTILE, *parts, picture),), HOSTILE).html()
    )
    assert not {tag for tag, _ in small.elements} & {"script", "img"}
    assert sum(HOSTILE in words for words in small.words) >= 11


def test_a_page_of_a_mechanism_says_what_it_is_and_how_it_vibrates():
    found, modes = page("mechanism"), supple.modes(five_bar(), "home", count=6)
    words = " ".join(Reader(found.html()).words)
    seen = supple.check(five_bar())
    assert found.cards["mobility"] == str(seen.mobility)
    assert found.data["frequencies_hz"] == pytest.approx(modes.frequencies_hz)
    for name in (*seen.bodies, *seen.joints, *seen.actuated, *modes.descriptions, " – ".join(seen.loops[0])):
        assert name in words
    low, high = np.array(found.data["bands_hz"])[0]
    assert low <= modes.frequencies_hz[0] <= high
    assert "supple modes" in words
    assert "has no elastic parts" in " ".join(Reader(page("rigid").html()).words)


def test_a_page_of_a_model_states_its_errors_where_they_are_and_what_it_costs():
    found, made = page("model"), model()
    words = " ".join(Reader(found.html()).words)
    for name, worst in made.error.items():
        assert name in words
        assert f"{worst:.2g}" in words
    assert found.data["points"] == 40
    assert set(found.data["fresh"]) == set(made.error)
    for text in ("Validated", "Modal truncation", "operations for M", "speed-up"):
        assert text in words
    assert reduce_command("five-bar.yaml", made, "five-bar.rom") in words
    assert made.provenance["versions"]["numpy"] in words


def test_what_has_no_page_is_said():
    with pytest.raises(supple.InputError, match=r"thing: must be a Mechanism or .*\(got a SimpleNamespace\)"):
        report(SimpleNamespace())


def test_a_picture_of_too_many_lines_goes_in_as_dots():
    figure = new_figure(3.0, 2.0)
    figure.subplots().plot(*np.random.default_rng(0).normal(size=(2, 40_000)), linewidth=0.1)
    assert "data:image/png" in Drawings().picture(figure)
    assert isinstance(Drawings().picture(figure), Html)


def test_the_command_writes_the_page_and_tells_what_is_in_it(tmp_path, capsys):
    target = tmp_path / "arm.html"
    with pytest.raises(SystemExit) as ended:
        run(["report", "two-link", "-o", str(target), "--region", "elbow=-40deg:40deg", "--at", "near", "--json"])
    assert ended.value.code == 0
    told = json.loads(capsys.readouterr().out)
    assert told["bytes"] == target.stat().st_size
    assert told["region"]["elbow"] == pytest.approx(np.radians([-40.0, 40.0]))
    assert told["sections"][0] == "Mechanism"
    assert "supple report two-link --at near --region elbow=-0.698" in target.read_text()
    for wrong, said in (
        (["two-link", "-o", str(tmp_path / "x.pdf")], "must end in .html"),
        (["two-link", "-o", str(tmp_path / "none" / "x.html")], "folder does not exist"),
        (["two-link", "-o", str(target), "--region", "path:swing"], "not a path"),
    ):
        with pytest.raises(SystemExit) as ended:
            run(["report", *wrong])
        assert ended.value.code == 1
        assert said in capsys.readouterr().err


def test_updated_numbers_have_a_page_of_the_same_kind(tmp_path):
    found = result("Updated")
    text = found.report(tmp_path / "page.html").read_text()
    words = " ".join(Reader(text).words)
    assert all(name in words for name in found.names)
    assert "Identifiability" in words
    assert "var(--ink)" in text


def test_a_report_follows_few_of_many_coordinates():
    """Twelve, those that are asked for first; a chain without loops has no dead points to look for."""
    names = [f"q{i}" for i in range(20)]
    arm = supple.Mechanism(
        plane="xz",
        points={f"P{i}": [0.1 * i, 0.0] for i in range(21)},
        bodies={f"b{i}": {"rod": [f"P{i}", f"P{i + 1}"], "mass": 1.0} for i in range(20)},
        joints={f"P{i}": {"revolute": ["ground" if i == 0 else f"b{i - 1}", f"b{i}"]} for i in range(20)},
        actuators={name: {"joint": f"P{i}", "limits": [-0.5, 0.5]} for i, name in enumerate(names)},
    )
    found = stance(arm, None, {"q18": (-0.1, 0.1)})
    assert list(found.ranges) == [*names[:11], "q18"]
    assert found.left == (*names[11:18], "q19")
    assert not found.closed
    assert stance(five_bar()).closed
