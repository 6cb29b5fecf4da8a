"""Tests run native kernels, as long runs do; those of the interpreted ones ask for them."""

import os
import re
from functools import cache
from pathlib import Path

import hypothesis
import pytest

os.environ.setdefault("SUPPLE_KERNELS", "compiled")
for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "MYPY_FORCE_COLOR", "COLUMNS", "PYTHONWARNINGS"):
    os.environ.pop(name, None)  # commands that tests start write plain text to pipes, whatever the terminal is
if not os.access(Path(__file__).parents[1], os.W_OK):  # the tree is somebody else's: failing cases are kept in memory
    hypothesis.settings.register_profile("read-only tree", database=None)
    hypothesis.settings.load_profile("read-only tree")


# Left out by `--quick`: folders whose tests start compilers, browsers, Octave, clusters or the command line.
NOT_QUICK = {"cli", "compilation", "distribution", "docs", "export", "extension", "gallery", "torture", "view"}
QUICK_OF_THEM = {  # the files in them that start none
    "test_links.py", "test_native_arrays.py", "test_plain_maths.py", "test_sketch.py",
}  # fmt: skip


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick", action="store_true", help="one case of every test that is not slow, outside of some folders"
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import what `--quick` leaves out."""
    if not config.getoption("--quick") or collection_path.suffix != ".py":
        return None
    folder = collection_path.relative_to(Path(__file__).parent).parts[0]
    return True if folder in NOT_QUICK and collection_path.name not in QUICK_OF_THEM else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--quick"):
        return
    tested, kept, left_out = set(), [], []
    for item in items:
        name = item.nodeid.partition("[")[0]
        if name in tested or item.get_closest_marker("slow"):
            left_out.append(item)
        else:
            kept.append(item)
            tested.add(name)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


# `make test` calls `supple warmup` first. The summary names the other kernels of supple that the tests compile.
COMPLETE = "SUPPLE_TEST_KERNELS"


def pytest_sessionstart(session: pytest.Session) -> None:
    if os.environ.get(COMPLETE) and not hasattr(session.config, "workerinput"):
        session.config.stash[_KNOWN] = set(_kernels())


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    known = config.stash.get(_KNOWN, None)
    if known is None:
        return
    missing = sorted({_kernels()[file] for file in set(_kernels()) - known} - {""})
    terminalreporter.write_line(
        f"kernels that the tests compiled although warmup had run: {', '.join(missing) or 'none'}"
    )


_KNOWN = pytest.StashKey[set]()


def _kernels() -> dict[Path, str]:
    """Files of compiled kernels in the cache, with the names of those that belong to supple, "" for others."""
    from supple.compilation.kernel import cache_folder

    found = {}
    for file in cache_folder().glob("*/*.code"):
        name = file.parent.name.removesuffix("-fused").rpartition("-")[0]
        found[file] = name if name in _source_kernels() else ""
    return found


@cache
def _source_kernels() -> frozenset[str]:
    """Names of the functions that the source marks as kernels."""
    source = Path(__file__).parents[1] / "src" / "supple"
    marked = re.compile(r"^@kernel\b[^\n]*\ndef (\w+)", re.MULTILINE)
    return frozenset(name for file in source.rglob("*.py") for name in marked.findall(file.read_text("utf-8")))


@pytest.fixture(scope="session")
def shared_data():
    """A function that finds data which is not in the repository; without it, the test is skipped."""

    def found(name: str) -> Path:
        folder = os.environ.get("SUPPLE_SHARED_DATA", "")
        place = Path(folder) / name
        if not folder or not place.exists():
            pytest.skip(f"set SUPPLE_SHARED_DATA to the folder that holds {name}")
        return place

    return found


@pytest.fixture(scope="session")
def example():
    """An example's mechanism by name."""
    import supple

    return lambda name: supple.load(Path(__file__).parents[1] / "examples" / name / "mechanism.yaml")


@pytest.fixture(scope="session")
def four_bar(example):
    return example("four-bar-redundant")
