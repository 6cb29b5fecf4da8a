"""One browser for all tests of the page; results of every kind to draw."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

for folder in ("results", "control"):  # results of every kind, and the flexible mechanism they are of
    sys.path.insert(0, str(Path(__file__).parents[1] / folder))

ARGUMENTS = (
    "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="session")
def bundle():
    """The page must have been built."""
    from supple.view.page.single_file import bundle_file

    if bundle_file() is None:
        pytest.skip("the page is not built: `make viewer` builds it, with npm")


@pytest.fixture(scope="session")
def browser(bundle):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("chromium was not found; on Debian: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield found
        found.close()
