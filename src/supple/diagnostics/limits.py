"""How much may be asked for at once: one table, looked at before anything is computed or any memory is taken.

`SUPPLE_LIMITS=steps=1e9,memory=16GB` raises (or lowers) them, `supple --limit steps=1e9 COMMAND ...` does so for one
command; Python reads the same variable.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from supple.diagnostics.errors import InputError, nearest, quoted

VARIABLE = "SUPPLE_LIMITS"
_SHARE = 0.5  # of the memory that is free
_UNKNOWN = 4 * 2**30  # bytes, where a machine does not tell
_SIZES = ("memory", "store")  # limits in bytes
_PREFIXES = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4}


class Limit(NamedTuple):
    """most : how many, if nothing else is said; None: what the machine has. says : of what, in the plural."""

    name: str
    most: float | None
    says: str


LIMITS = {
    limit.name: limit
    for limit in (
        Limit("steps", 1e8, "steps of a run in time"),
        Limit("results", 1e7, "times at which a run keeps results"),
        Limit("boxes", 1e6, "boxes of a grid"),
        Limit("postures", 1e6, "postures of a map"),
        Limit("modes", 1e4, "modes of vibration"),
        Limit("runs", 1e5, "runs of a sweep or a study"),
        Limit("lines", 1e6, "frequency lines"),
        Limit("points", 1e7, "points at which a model is judged"),
        Limit("starts", 1e5, "starts of a search"),
        Limit("workers", 1024, "processes"),
        Limit("rows", 6e6, "rows of a matrix in a file"),
        Limit("store", 4e9, "bytes of a store of samples"),
        Limit("memory", None, "bytes for one array, file or result"),
    )
}  # fmt: skip


def most(name: str) -> float:
    """The limit as it stands now; of memory, in bytes, half of what is free unless said otherwise."""
    said = _said().get(name)
    if said is not None:
        return said
    default = LIMITS[name].most
    return _SHARE * free_memory() if default is None else default


def require_within(name: str, asked: float, *, part: str | None = None, hint: str = "ask for fewer") -> None:
    """Refuse more than the limit: with the number, the limit, and how to raise it."""
    if asked <= (allowed := most(name)):
        return
    raise InputError(
        f"{_number(asked)} {LIMITS[name].says} are asked for, and the limit is {_number(allowed)}",
        part=part, hint=f"{hint}, or {_raised(name, _above(asked))}",
    )  # fmt: skip


def require_memory(needed: float, what: str, *, part: str | None = None, hint: str = "ask for less") -> None:
    """Refuse what takes more memory than the limit; `what` is a clause such as "its arrays take"."""
    if needed <= (allowed := most("memory")):
        return
    raise InputError(
        f"{what} {in_bytes(needed)}, and the limit is {in_bytes(allowed)}"
        + ("" if "memory" in _said() else ", half of the memory that is free"),
        part=part, hint=f"{hint}, or {_raised('memory', f'{needed / 1e9 + 1:.0f}GB' if needed < 1e18 else 'MORE')}",
    )  # fmt: skip


def set_limits(text: str) -> None:
    """Change limits for this process and those it starts: `steps=1e9,memory=16GB`."""
    before = os.environ.get(VARIABLE, "")
    os.environ[VARIABLE] = f"{before},{text}" if before else text
    try:
        _said()
    except InputError:
        os.environ[VARIABLE] = before
        raise


def in_bytes(count: float) -> str:
    """`3.2 GB`"""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"


def free_memory() -> float:
    """Bytes that this process may still take: of the machine, of its control group, of its own limit."""
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


def _said() -> dict[str, float]:
    """What the variable says; a wrong name or number in it is refused, not passed over."""
    found: dict[str, float] = {}
    for piece in os.environ.get(VARIABLE, "").split(","):
        name, _, value = (item.strip() for item in piece.partition("="))
        if not name and not value:
            continue
        if name not in LIMITS:
            raise InputError(f"there is no limit {quoted(name)}", part=VARIABLE, hint=nearest(name, LIMITS))
        number = bytes_of(value) if name in _SIZES else _count(value)
        if not number > 0.0:
            raise InputError(
                f"{quoted(piece.strip())} is no limit", part=VARIABLE,
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
    """`16GB`, `512 MiB`, `2e9`; 0 where it is none."""
    bare = text.strip().removesuffix("B")
    base = 1024.0 if bare.endswith("i") else 1000.0
    bare = bare.removesuffix("i")
    prefix = bare[-1:] if bare[-1:] in _PREFIXES else ""
    return _count(bare.removesuffix(prefix)) * base ** _PREFIXES[prefix]


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) < 1e7 else f"{value:.3g}"


def _above(value: float) -> str:
    """A round number that is not less."""
    return f"{value * 1.0005:.3g}" if value < 1e300 else "inf"


def _raised(name: str, value: str) -> str:
    return f"raise the limit: {VARIABLE}={name}={value}, or supple --limit {name}={value}"
