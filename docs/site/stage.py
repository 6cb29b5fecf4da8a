"""Write the sources of the site: pages of the repository with rewritten links, and generated pages."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import api_page
import blocks
from commands_page import commands_page
from gallery_page import example_page, gallery_page
from places import ROOT, pages, place, rewritten
from schema_page import schema_page
from tutorials import tutorial

SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
PAGE_LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+\.md)\)")


def stage(folder: Path, cache: Path) -> None:
    """Write all sources into a folder; unchanged files are not rewritten, so that sphinx skips them."""
    known = pages()
    written: dict[str, str] = {}
    files: set[str] = set()
    for path, text in _texts(known, folder, cache).items():
        there, (text, linked) = known[path], rewritten(blocks.label_blocks(text), path, known)
        written[there] = text
        files |= linked
    index, sections = with_sections(written["index.md"])
    written |= sections | {"index.md": index}
    for there, text in written.items():
        _put(folder / there, text)
    kept = {folder / there for there in written}
    for path in sorted(files):
        copy = folder / str(place(path, known))
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.is_file() or copy.stat().st_mtime < (ROOT / path).stat().st_mtime:
            shutil.copy2(ROOT / path, copy)
    for old in set(folder.rglob("*.md")) - kept:
        old.unlink()


def _texts(known: dict[str, str], folder: Path, cache: Path) -> dict[str, str]:
    """Return each page with generated parts and outputs of tutorials; links are still those of the repository."""
    texts = {path: (ROOT / path).read_text("utf-8") for path in known}
    texts |= api_page.filled({path: text for path, text in texts.items() if path.startswith("docs/reference/")})
    for path, name, made in (
        ("docs/reference/command-line.md", "commands", commands_page),
        ("docs/reference/schema.md", "schema", schema_page),
        ("docs/gallery.md", "gallery", gallery_page),
    ):
        assert f"<!-- {name} -->" in texts[path], path
        texts[path] = texts[path].replace(f"<!-- {name} -->", made())
    for path in known:
        if path.startswith("docs/tutorials/"):
            texts[path] = tutorial(ROOT / path, folder / "tutorials", cache)
        elif path == "docs/README.md":
            texts[path] = tutorial(ROOT / path, folder, cache, takeaway=False)
        elif path.startswith("examples/"):
            texts[path] = example_page(path.split("/")[1], texts[path])
    return texts


def with_sections(index: str) -> tuple[str, dict[str, str]]:
    """Return the first page with its hidden table of contents, and a page for each of its sections."""
    heads = [*SECTION.finditer(index)]
    found: dict[str, str] = {}
    titles = {link: name for name, link in PAGE_LINK.findall(index[: heads[0].start()])}  # pages above the sections
    for number, head in enumerate(heads):
        title = head.group(1).strip()
        end = heads[number + 1].start() if number + 1 < len(heads) else len(index)
        text = index[head.end() : end].strip()
        listed = {link: name for name, link in PAGE_LINK.findall(text)}
        if len(listed) == 1:
            found |= dict.fromkeys(listed, "")
            titles |= dict.fromkeys(listed, title)
        elif listed:
            here = f"{re.sub('[^a-z]+', '-', title.lower()).strip('-')}/index.md"
            inside = PAGE_LINK.sub(lambda link: f"[{link.group(1)}](../{link.group(2)})", text)
            found[here] = f"# {title}\n\n{inside}\n\n{_contents(listed)}"
            titles[here] = title
    return f"{index}\n{_contents(titles)}", {page: text for page, text in found.items() if text}


def _contents(listed: dict[str, str]) -> str:
    """Return a hidden table of contents: pages with their titles."""
    entries = "\n".join(f"{title} </{link.removesuffix('.md')}>" for link, title in listed.items())
    return f"```{{toctree}}\n:hidden:\n\n{entries}\n```\n"


def _put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.is_file() or file.read_text("utf-8") != text:
        file.write_text(text, "utf-8")
