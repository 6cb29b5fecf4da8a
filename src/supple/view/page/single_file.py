"""The page with its data: one html file that needs nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from supple.results.file import save_text
from supple.view.page.page_data import encoded
from supple.view.page.page_html import PLACEHOLDER, bundle


def page_html(data: dict[str, Any]) -> str:
    """The text of the page. The data are base64, in which nothing can be taken for html or a script."""
    return bundle().replace(PLACEHOLDER, encoded(data))


def save_page(path: str | Path, data: dict[str, Any]) -> Path:
    """Write it beside its target, then rename."""
    return save_text(path, page_html(data))
