"""Links of the pages as they stand in the repository, where nothing is built."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*/README.md"), *ROOT.glob("*.md")],
)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def text_of(page: Path) -> str:
    """Without code: blocks, and what stands between backquotes."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^    .*$", "", text, flags=re.MULTILINE))


def anchors(page: Path) -> set[str]:
    """Headings as forges name them."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.strip().lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page):
    for link in LINK.findall(text_of(page)):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        there = (page.parent / target).resolve() if target else page
        assert there.exists(), link
        if anchor:
            assert anchor in anchors(there), link


def test_the_map_names_every_page():
    """docs/README.md: a page that it does not name would be found by nobody."""
    index = ROOT / "docs/README.md"
    named = {(index.parent / link.partition("#")[0]).resolve() for link in LINK.findall(text_of(index))}
    assert not {page for page in (ROOT / "docs").rglob("*.md") if page != index} - named


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_source_files_that_pages_name_exist(page):
    for name in re.findall(r"`([a-z_]+(?:/[a-z_0-9]+)+\.py)`", page.read_text("utf-8")):
        made = name.startswith("build/")
        assert made or any((base / name).exists() for base in (ROOT, ROOT / "src", ROOT / "src" / "supple")), name
