"""Superelements: elastic bodies by mass and stiffness matrices that another program wrote.

The description holds the paths of the files and a digest of their contents, so that a mechanism whose files have
changed is a different mechanism.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from supple.description.quantities.quantity import Part, PositiveLength
from supple.diagnostics import InputError
from supple.diagnostics.arguments import value_text
from supple.diagnostics.errors import quote

_folder: ContextVar[Path | None] = ContextVar("folder of the mechanism file", default=None)


@contextmanager
def use_folder(folder: Path | None) -> Iterator[None]:
    """Resolve relative paths of a description against this folder (the current one if None) inside the context."""
    token = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(token)


def _find_file(written: str) -> str:
    """Return the absolute path of an existing file, so that it stays valid when the current folder changes."""
    if "\0" in written or not written:
        raise ValueError(f"{quote(written)} is not a file name")
    path = (_folder.get() or Path()) / written
    try:
        exists = path.is_file()
    except OSError:  # a name longer than the system allows
        exists = False
    if not exists:
        where = f" in {quote(path.parent)}" if path.parent.is_dir() else ""
        raise ValueError(
            f"there is no file {quote(path.name)}{where}; paths are relative to the folder of the mechanism file"
        )
    return os.path.abspath(path)


FileName = Annotated[str, AfterValidator(_find_file)]
Node = Annotated[int, Field(ge=0)]


class Interface(Part):
    """Nodes of the mesh that carry a point of the body: a single node, or a patch tied to the point."""

    node: Node | None = None
    """Node with six degrees of freedom, by its number in the node table; the point is at the node."""
    nodes: Annotated[tuple[Node, ...], Field(min_length=3)] | None = None
    """Patch of nodes, by their numbers."""
    within: PositiveLength | None = None
    """Radius of a patch, which consists of all nodes within this distance of the point, m."""
    tie: Literal["rigid", "average"] | None = None
    """Connection of a patch to the point: `rigid` (default; the patch moves as a rigid body) or `average` (the point
    has the mean motion of the patch, which may deform)."""

    @model_validator(mode="after")
    def _one_choice(self) -> Self:
        if len(self.chosen("node", "nodes", "within")) != 1:
            raise ValueError("an interface needs exactly one of node, nodes and within")
        if self.tie is not None and self.node is not None:
            raise ValueError("tie is only allowed for a patch (nodes or within)")
        if self.nodes is not None and len(set(self.nodes)) < len(self.nodes):
            raise ValueError("a node of the patch is listed twice; list each node once")
        return self


class Superelement(Part):
    """Elastic body by mass and stiffness matrices and a node table, in the body's axes and SI units."""

    mass: FileName | None = None
    """Mass matrix, Matrix Market file (.mtx)."""
    stiffness: FileName | None = None
    """Stiffness matrix, Matrix Market file (.mtx)."""
    nodes: FileName | None = None
    """Node table, CSV file: number, x, y, z (m), one node per line, in the order of the matrices. A fifth column gives
    the degrees of freedom of each node, 3 or 6, if they differ."""
    file: FileName | None = None
    """Single file instead of these three: an .npz with the arrays K, M and nodes; a sparse K as K_row, K_col, K_data.
    For a body by its modes the arrays are K, M, nodes, shapes, rigid, coupling, widening, turning and turned (integrals
    of the mode shapes). Files of other formats need a registered body source for their extension."""
    interfaces: dict[str, Interface] = {}
    """Points of the body (points, frames) and the nodes that carry them. Not needed where a node with six degrees of
    freedom lies at the point."""
    digest: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = None
    """SHA-256 digest of the files' contents, computed when the files are found; a given digest must match."""

    @model_validator(mode="after")
    def _read_once(self) -> Self:
        separate = self.chosen("mass", "stiffness", "nodes")
        if self.file is not None and separate:
            raise ValueError(f"file contains all three arrays; remove {separate[0]}")
        if self.file is None and len(separate) < 3:
            missing = [name for name in ("mass", "stiffness", "nodes") if name not in separate]
            raise ValueError(f"a superelement needs mass, stiffness and nodes, or file; {missing[0]} is missing")
        found = self._contents()
        if self.digest is not None and self.digest != found:
            raise ValueError("the files have changed since the digest was computed; remove digest to accept them")
        object.__setattr__(self, "digest", found)
        return self

    def files(self) -> tuple[str, ...]:
        """Return the paths of its files."""
        return tuple(path for path in (self.mass, self.stiffness, self.nodes, self.file) if path is not None)

    @property
    def file_ending(self) -> str:
        """Extension of its file, or of its mass matrix, in lower case, which selects the reader."""
        return Path(self.files()[0]).suffix.lower()

    def _contents(self) -> str:
        total = hashlib.sha256()
        for path in self.files():
            try:
                with Path(path).open("rb") as stream:
                    total.update(hashlib.file_digest(stream, "sha256").digest())
            except OSError as error:
                raise ValueError(f"{quote(Path(path).name)} cannot be read ({error.strerror})") from error
        return total.hexdigest()

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, Superelement):
            return NotImplemented
        return (self.digest, self.file_ending, self.interfaces) == (other.digest, other.file_ending, other.interfaces)


ONE_FILE, THREE_FILES = ("file",), ("mass", "stiffness", "nodes")
"""Keys of a superelement that name its files."""


@dataclass(frozen=True)
class BodySource:
    """Reader of files that contain an elastic body: its mass matrix, its stiffness matrix and its nodes.

    A superelement is read by the source whose name is the extension of its file, in upper or lower case. The results of
    every source pass the same checks: sizes, finite numbers, symmetry, rigid-body motions, mass.

    Parameters
    ----------
    name : str
        Extension of the file with its dot, in lower case: ``".lmp"``.
    description : str
        The file format that the source reads, in one line.
    read : callable
        ``read(path) -> (mass, stiffness, nodes)``, in SI units and the axes of the body.

        `mass` and `stiffness` are square matrices, numpy arrays or sparse matrices of scipy. Their rows go node by
        node, three translations and, for nodes with six degrees of freedom, three rotations. `nodes` has a row for each
        node: x, y, z (m); or number, x, y, z; or number, x, y, z and 3 or 6 degrees of freedom. For a file that cannot
        be read, the function raises a `ValueError` with the reason. It never executes anything that the file contains.
    keys : tuple of str, optional
        Keys of the superelement that name its files, ``("file",)`` or ``("mass", "stiffness", "nodes")``.

        With the latter, the extension is that of the mass matrix, and `read` is called with the three paths in this
        order. Default: ``("file",)``.

    Raises
    ------
    InputError
        If the name is not a file extension, or if the keys are others.

    Examples
    --------
    >>> import supple
    >>> def read(path):
    ...     raise ValueError("only an example")
    >>> supple.BodySource(".lmp", "Lumped masses and springs as text.", read).name
    '.lmp'
    """

    name: str
    description: str
    read: Callable[..., tuple[Any, Any, Any]]
    keys: tuple[str, ...] = ONE_FILE

    def __post_init__(self) -> None:
        part = f"body source {quote(self.name)}"
        if not self.name or Path(f"body{self.name}").suffix != self.name or self.name != self.name.lower():
            hint = 'give one extension with its dot, in lower case: ".lmp"'
            raise InputError("its name is not a file extension", part=part, hint=hint)
        if self.keys not in (ONE_FILE, THREE_FILES):
            raise InputError(
                f"unknown keys {value_text(self.keys)}", part=part, hint=f"use {ONE_FILE} or {THREE_FILES}"
            )
