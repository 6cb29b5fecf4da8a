"""Resource limits, checked before a computation starts or memory is allocated.

`SUPPLE_LIMITS=steps=1e9,memory=16GB` changes them for the command line and Python, `supple --limit steps=1e9 COMMAND`
for one command.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from supple.diagnostics.errors import InputError, quote, require_known

VARIABLE = "SUPPLE_LIMITS"
_SHARE = 0.5  # fraction of the free memory
_UNKNOWN = 4 * 2**30  # bytes, if the free memory is unknown
_SIZES = ("memory", "store")  # limits in bytes
_PREFIXES = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4}


class Limit(NamedTuple):
    """A resource limit.

    most  : default value; None: depends on the machine
    items : limited items, in the plural
    """

    name: str
    most: float | None
    items: str


LIMITS = {
    limit.name: limit
    for limit in (
        Limit("steps", 1e8, "steps of a simulation"),
        Limit("results", 1e7, "result times of a simulation"),
        Limit("boxes", 1e6, "boxes of a grid"),
        Limit("postures", 1e6, "postures of a map"),
        Limit("modes", 1e4, "modes of vibration"),
        Limit("runs", 1e5, "runs of a sweep or a study"),
        Limit("lines", 1e6, "frequency lines"),
        Limit("points", 1e7, "validation points of a model"),
        Limit("starts", 1e5, "starting points of a search"),
        Limit("workers", 1024, "processes"),
        Limit("rows", 6e6, "rows of a matrix in a file"),
        Limit("store", 4e9, "bytes of a store of samples"),
        Limit("memory", None, "bytes for one array, file or result"),
    )
}  # fmt: skip


def most(name: str) -> float:
    """Return the current limit; the default for memory is half of the free memory, in bytes."""
    chosen = _chosen_limits().get(name)
    if chosen is not None:
        return chosen
    default = LIMITS[name].most
    return _SHARE * free_memory() if default is None else default


def require_within(name: str, requested: float, *, part: str | None = None, hint: str = "request fewer") -> None:
    """Refuse a number above the limit; the message states how to raise the limit."""
    if requested <= (allowed := most(name)):
        return
    raise InputError(
        f"{_number(requested)} {LIMITS[name].items} exceed the limit of {_number(allowed)}",
        part=part, hint=f"{hint}, or {_suggest_raise(name, _above(requested))}",
    )  # fmt: skip


def require_memory(needed: float, what: str, *, part: str | None = None, hint: str = "reduce the size") -> None:
    """Refuse a computation that needs more memory than the limit; `what` is a clause such as "its arrays need"."""
    if needed <= (allowed := most("memory")):
        return
    raise InputError(
        f"{what} {in_bytes(needed)}, more than the limit of {in_bytes(allowed)}"
        + ("" if "memory" in _chosen_limits() else " (half of the free memory)"),
        part=part,
        hint=f"{hint}, or {_suggest_raise('memory', f'{needed / 1e9 + 1:.0f}GB' if needed < 1e18 else 'MORE')}",
    )  # fmt: skip


def set_limits(text: str) -> None:
    """Change limits for this process and the processes that it starts: `steps=1e9,memory=16GB`."""
    before = os.environ.get(VARIABLE, "")
    os.environ[VARIABLE] = f"{before},{text}" if before else text
    try:
        _chosen_limits()
    except InputError:
        os.environ[VARIABLE] = before
        raise


def in_bytes(count: float) -> str:
    """Format a number of bytes, such as 3.2 GB."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"


def free_memory() -> float:
    """Return the memory in bytes that this process may still use: of the machine, its control group, its own limit."""
    return min(_allowances(), default=_UNKNOWN)


def _allowances() -> Iterator[float]:
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                yield 1024.0 * int(line.split()[1])
    with suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        yield max(0.0, float((group / "memory.max").read_text()) - float((group / "memory.current").read_text()))
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft = resource.getrlimit(resource.RLIMIT_AS)[0]
        if soft != resource.RLIM_INFINITY:
            yield float(soft)
    with suppress(AttributeError, OSError, ValueError):
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
        if pages > 0 and size > 0:
            yield float(pages) * size


def _chosen_limits() -> dict[str, float]:
    """Parse the environment variable; a wrong name or number is refused, not ignored."""
    found: dict[str, float] = {}
    for piece in os.environ.get(VARIABLE, "").split(","):
        name, _, value = (item.strip() for item in piece.partition("="))
        if not name and not value:
            continue
        require_known("limit", name, LIMITS, part=VARIABLE)
        number = bytes_of(value) if name in _SIZES else _count(value)
        if not number > 0.0:
            raise InputError(
                f"invalid limit {quote(piece.strip())}", part=VARIABLE,
                hint=f"write for example {name}={'16GB' if name in _SIZES else '1e9'}",
            )  # fmt: skip
        found[name] = number
    return found


def _count(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def bytes_of(text: str) -> float:
    """Parse a size, `16GB`, `512 MiB` or `2e9`, into bytes; 0 for other texts."""
    bare = text.strip().removesuffix("B")
    base = 1024.0 if bare.endswith("i") else 1000.0
    bare = bare.removesuffix("i")
    prefix = bare[-1:] if bare[-1:] in _PREFIXES else ""
    return _count(bare.removesuffix(prefix)) * base ** _PREFIXES[prefix]


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) < 1e7 else f"{value:.3g}"


def _above(value: float) -> str:
    """Return a round number that is not smaller."""
    return f"{value * 1.0005:.3g}" if value < 1e300 else "inf"


def _suggest_raise(name: str, value: str) -> str:
    return f"raise the limit: {VARIABLE}={name}={value}, or supple --limit {name}={value}"
