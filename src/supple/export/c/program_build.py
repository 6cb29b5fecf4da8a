"""Files that build exported sources and run their tests with make or CMake."""

from __future__ import annotations

from collections.abc import Sequence

from supple.export.template import Words, fill_template, template_parts

PARTS = template_parts("supple.export.c", "program_build.txt")


def program_build_files(prefix: str, sources: Sequence[str], tests: Sequence[str]) -> dict[str, str]:
    """Return `Makefile` and `CMakeLists.txt`.

    sources : names of the C sources
    tests   : names of the test programs, each of one source of the same name
    """
    words: Words = {
        "prefix": prefix, "sources": " ".join(sources), "tests": " ".join(tests),
        "objects": " ".join(f"{name[:-2]}.o" for name in sources), "runs": "\n\t".join(f"./{name}" for name in tests),
    }  # fmt: skip
    return {
        "Makefile": fill_template(PARTS["make"], words),
        "CMakeLists.txt": fill_template(PARTS["cmake"], words),
    }
