"""Blocks of the pages run as they stand: files, commands and Python, in order, in a folder of their own."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*(ROOT / "docs/howto").glob("*.md"), *(ROOT / "docs/coming-from").glob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_runs(page, tmp_path, monkeypatch):
    from session import cells, run_page

    monkeypatch.setattr(sys, "path", [*sys.path])  # a page may add its folder
    text = page.read_text("utf-8")
    assert cells(text), "a page that shows how, and nothing that runs"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # notes that are said beside the answers
        run_page(text, tmp_path, page.name)
