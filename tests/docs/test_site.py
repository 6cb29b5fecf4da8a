"""The documentation site: built without a warning, its links lead somewhere, nothing of it comes from outside."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from lxml import html

import supple
from supple import control
from supple.cli.main import app

ROOT = Path(__file__).parents[2]
CARD = "//div[contains(@class, 'card-of-example')]"


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, html.HtmlElement]:
    return {file: html.fromstring(file.read_bytes()) for file in sorted(site.rglob("*.html"))}


@pytest.mark.slow
def test_every_page_of_the_repository_is_in_it(site):
    for page in (ROOT / "docs").rglob("*.md"):
        name = "index.md" if page == ROOT / "docs/README.md" else page.relative_to(ROOT / "docs")
        assert (site / name).with_suffix(".html").is_file(), name


def test_links_and_anchors_lead_somewhere(site, pages):
    """Of the built pages: those that were written, and those that were generated."""
    names = {file: {*tree.xpath("//@id"), *tree.xpath("//a/@name")} for file, tree in pages.items()}
    for file, tree in pages.items():
        for link in tree.xpath("//a/@href | //img/@src"):
            if re.match(r"[a-z]+:", link) or link in ("#", ""):
                continue
            target, _, anchor = unquote(link).partition("#")
            there = (file.parent / target).resolve() if target else file
            assert there.exists(), f"{file.relative_to(site)}: {link}"
            if anchor and there in names:
                assert anchor in names[there], f"{file.relative_to(site)}: {link}"


def test_nothing_is_loaded_from_outside(site, pages):
    for file, tree in pages.items():
        loaded = tree.xpath("//script/@src | //link[@rel='stylesheet' or @rel='preload']/@href | //img/@src")
        assert not [one for one in loaded if re.match(r"(https?:)?//", one)], file
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//|@import ['\"]?http", sheet.read_text("utf-8")), sheet


def test_equations_are_set(site, pages):
    """As many numbered ones as the theory pages have, and none left as plain text."""
    written = sum(
        len(re.findall(r"^ {4}.*\s\(\d+[a-z]?\)$", page.read_text("utf-8"), re.MULTILINE))
        for page in (ROOT / "docs/theory").glob("*.md")
    )
    theory = [tree for file, tree in pages.items() if file.parent == site / "theory"]
    assert sum(len(tree.xpath("//div[@class='equation']//a[@class='number']")) for tree in theory) == written
    assert not [
        text for tree in theory for text in tree.xpath("//pre//text()") if re.search(r"\s\(\d+[a-z]?\)\n", text)
    ]


def test_references_tell_every_name_and_command(site):
    api = "".join(file.read_text("utf-8") for file in (site / "reference").glob("api-*.html"))
    for module, names in (("supple", supple.__all__), ("supple.control", control.__all__)):
        missing = [name for name in names if f'id="{module}.{name}"' not in api]
        assert not missing
    commands = (site / "reference/command-line.html").read_text("utf-8")
    for command in app.registered_commands:
        assert f'id="supple-{command.name}"' in commands
    assert "–" not in commands  # two dashes stay two
    keys = (site / "reference/schema.html").read_text("utf-8")
    schema = json.loads((ROOT / "src/supple/mechanism.schema.json").read_text("utf-8"))
    assert not [name for name in schema["properties"] if f">{name}</span>" not in keys]


def test_the_gallery_shows_every_example_with_its_time(site, pages):
    cards = {card.xpath(".//code")[-1].text_content(): card for card in pages[site / "gallery.html"].xpath(CARD)}
    assert set(cards) == {file.parent.name for file in (ROOT / "examples").glob("*/mechanism.yaml")}
    assert all(card.xpath(".//img/@src") for card in cards.values())
    for name, seconds in json.loads((ROOT / "docs/site/run_times.json").read_text("utf-8"))["seconds"].items():
        assert f"study: {seconds:.1f} s of processor time" in cards[name].text_content()


def test_tutorials_are_notebooks_with_what_they_print_and_draw(site):
    """They have run while the site was built: it fails where one does not."""
    tutorials = sorted((ROOT / "docs/tutorials").glob("*.md"))
    assert len(tutorials) >= 4
    for page in tutorials:
        (file,) = site.glob(f"_downloads/*/{page.stem}.ipynb")
        notebook = json.loads(file.read_text("utf-8"))
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        outputs = [output for cell in code for output in cell["outputs"]]
        assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
        assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
        assert any("image/png" in output.get("data", {}) for output in outputs), page
        assert any(output["output_type"] == "stream" for output in outputs), page
        assert any(cell["source"].startswith("!supple") for cell in code), page
