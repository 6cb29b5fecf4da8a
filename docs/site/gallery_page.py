"""Build the gallery: every example with its picture, its first sentence and the time of its study."""

from __future__ import annotations

import json
import re
from pathlib import Path

from places import ROOT

TIMES = Path(__file__).parent / "run_times.json"  # written by measure_examples.py


def examples() -> list[str]:
    """Return the names of all examples."""
    return sorted(file.parent.name for file in (ROOT / "examples").glob("*/README.md"))


def run_times() -> dict[str, float]:
    """Return the measured processor time of each study, s."""
    return json.loads(TIMES.read_text("utf-8"))["seconds"] if TIMES.is_file() else {}


def gallery_page() -> str:
    """Return the cards of all examples as Markdown."""
    cards = "\n\n".join(_card(name) for name in examples())
    listed = "\n".join(f"/gallery/{name}" for name in examples())
    return f"`````{{container}} gallery\n{cards}\n`````\n\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"


def machine() -> str:
    """Return the machine on which the times were measured."""
    return json.loads(TIMES.read_text("utf-8"))["machine"] if TIMES.is_file() else "not measured"


def _card(name: str) -> str:
    title, first = _title_and_summary(name)
    seconds = run_times().get(name)
    took = f"study: {seconds:.1f} s of processor time" if seconds is not None else "study: not measured"
    page = f"../examples/{name}/README.md"
    return (
        f"````{{container}} card-of-example\n[![{title}](../examples/{name}/picture.png)]({page})\n\n"
        f"**[{title}]({page})**\n\n{first}\n\n```{{container}} run-time\n`{name}`, {took}\n```\n````"
    )


def _title_and_summary(name: str) -> tuple[str, str]:
    """Return the title and the first sentence of an example's page."""
    text = (ROOT / "examples" / name / "README.md").read_text("utf-8")
    title = text.splitlines()[0].removeprefix("# ").strip()
    paragraph = " ".join(re.split(r"\n\s*\n", text.strip())[1].split())
    paragraph = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)
    return title, re.split(r"(?<=[.:?])\s", paragraph)[0].rstrip(":")


def example_page(name: str, text: str) -> str:
    """Return an example's page, followed by its mechanism file and links to its scripts."""
    folder = ROOT / "examples" / name
    described = (folder / "mechanism.yaml").read_text("utf-8").rstrip()
    studies = ", ".join(f"[{file.name}]({file.name})" for file in sorted(folder.glob("*.py")))
    seconds = run_times().get(name)
    took = f" Its study takes {seconds:.1f} s of processor time on {machine()}." if seconds is not None else ""
    return (
        f"{text.rstrip()}\n\n## Files\n\nScripts: {studies}. `supple examples {name} --copy DIR` copies the folder, "
        f"`supple examples {name} --run` runs the study.{took}\n\nThe mechanism file, "
        f"[mechanism.yaml](mechanism.yaml):\n\n```yaml\n{described}\n```\n"
    )
