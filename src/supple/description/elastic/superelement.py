"""Superelements: an elastic body by matrices of mass and stiffness that another program wrote.

The description holds where the files are and what they were: a digest of their contents, so that a mechanism whose
files have changed is another mechanism.
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
from supple.diagnostics.errors import quoted

_folder: ContextVar[Path | None] = ContextVar("folder of the mechanism file", default=None)


@contextmanager
def use_folder(folder: Path | None) -> Iterator[None]:
    """While this lasts, paths in a description start from this folder (the current one if None)."""
    token = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(token)


def _found(written: str) -> str:
    """The path of a file that exists, absolute, so that it keeps its meaning wherever the work goes on."""
    if "\0" in written or not written:
        raise ValueError(f"{quoted(written)} is not the name of a file")
    path = (_folder.get() or Path()) / written
    try:
        exists = path.is_file()
    except OSError:  # a name longer than the system bears
        exists = False
    if not exists:
        where = f" in {quoted(path.parent)}" if path.parent.is_dir() else ""
        raise ValueError(f"there is no file {quoted(path.name)}{where}; paths start from the mechanism file's folder")
    return os.path.abspath(path)


FileName = Annotated[str, AfterValidator(_found)]
Node = Annotated[int, Field(ge=0)]


class Interface(Part):
    """Which nodes of the mesh carry a place of the body: one, or a patch tied to it."""

    node: Node | None = None
    """One node with six degrees of freedom, by its number in the node table; the place is where it is."""
    nodes: Annotated[tuple[Node, ...], Field(min_length=3)] | None = None
    """A patch, by the numbers of its nodes."""
    within: PositiveLength | None = None
    """Or the patch of all nodes within this distance of the place, m."""
    tie: Literal["rigid", "average"] | None = None
    """How a patch is tied to the place: `rigid` (the patch moves as a rigid body) or `average` (the place takes the
    patch's mean motion; the patch may deform). `rigid` if left out."""

    @model_validator(mode="after")
    def _one_choice(self) -> Self:
        if len(self.chosen("node", "nodes", "within")) != 1:
            raise ValueError("an interface is one of node, nodes and within")
        if self.tie is not None and self.node is not None:
            raise ValueError("only a patch (nodes, within) is tied")
        if self.nodes is not None and len(set(self.nodes)) < len(self.nodes):
            raise ValueError("a node of the patch is listed twice")
        return self


class Superelement(Part):
    """Mass and stiffness matrices with a node table; positions and displacements in the body's axes, SI units."""

    mass: FileName | None = None
    """Mass matrix, Matrix Market (.mtx)."""
    stiffness: FileName | None = None
    """Stiffness matrix, Matrix Market (.mtx)."""
    nodes: FileName | None = None
    """Node table, CSV: number, x, y, z (m), one node a line, in the order of the matrices; a fifth column for the
    degrees of freedom of each node, 3 or 6, where they are not the same for all."""
    file: FileName | None = None
    """In place of these three: an .npz with the arrays K, M and nodes; a sparse K as K_row, K_col, K_data. Or a body
    by its modes: K, M, nodes, shapes, rigid, coupling, widening, turning and turned, the integrals of its shapes. Or a
    file with an ending that a registered body source reads."""
    interfaces: dict[str, Interface] = {}
    """Places of the body (points, frames) and the nodes that carry them; left out where a node with six degrees of
    freedom lies at the place."""
    digest: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = None
    """SHA-256 of the files' contents, filled in when they are found; one that is given must still be true."""

    @model_validator(mode="after")
    def _read_once(self) -> Self:
        separate = self.chosen("mass", "stiffness", "nodes")
        if self.file is not None and separate:
            raise ValueError(f"file holds all three arrays, so {separate[0]} is left out")
        if self.file is None and len(separate) < 3:
            missing = [name for name in ("mass", "stiffness", "nodes") if name not in separate]
            raise ValueError(f"a superelement needs mass, stiffness and nodes, or one file; {missing[0]} is missing")
        found = self._contents()
        if self.digest is not None and self.digest != found:
            raise ValueError("its files are not the ones this digest was taken of; leave digest out to accept them")
        object.__setattr__(self, "digest", found)
        return self

    def files(self) -> tuple[str, ...]:
        """The files it is made of."""
        return tuple(path for path in (self.mass, self.stiffness, self.nodes, self.file) if path is not None)

    @property
    def ending(self) -> str:
        """Ending of its file, or of its mass matrix, in lower case: it says which source reads the files."""
        return Path(self.files()[0]).suffix.lower()

    def _contents(self) -> str:
        total = hashlib.sha256()
        for path in self.files():
            try:
                with Path(path).open("rb") as stream:
                    total.update(hashlib.file_digest(stream, "sha256").digest())
            except OSError as error:
                raise ValueError(f"{quoted(Path(path).name)} cannot be read ({error.strerror})") from error
        return total.hexdigest()

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, Superelement):
            return NotImplemented
        return (self.digest, self.ending, self.interfaces) == (other.digest, other.ending, other.interfaces)


ONE_FILE, THREE_FILES = ("file",), ("mass", "stiffness", "nodes")
"""Keys of a superelement that name its files."""


@dataclass(frozen=True)
class BodySource:
    """A reader of files that hold an elastic body: its mass matrix, its stiffness matrix and its nodes.

    A superelement is read by the source whose name is the ending of its file, upper or lower case. The results of every
    source pass the same checks: sizes, finite numbers, symmetry, rigid-body motions, mass.

    Parameters
    ----------
    name : str
        Ending of the file with its dot, in lower case: ``".lmp"``.
    says : str
        What the source reads, in one line.
    read : callable
        ``read(path) -> (mass, stiffness, nodes)``, in SI units and the axes of the body. `mass` and `stiffness` are
        square matrices, numpy arrays or sparse ones of scipy. Their rows go node by node, three translations and, for
        nodes with six degrees of freedom, three rotations. `nodes` has a row for each node: x, y, z (m); or number, x,
        y, z; or number, x, y, z and 3 or 6 degrees of freedom. A file that cannot be read raises a `ValueError` that
        says why. The function never executes anything that the file contains.
    keys : tuple of str, optional
        Keys of the superelement that name its files, ``("file",)`` or ``("mass", "stiffness", "nodes")``. With the
        latter, the ending is that of the mass matrix, and `read` is called with the three paths in this order.

    Examples
    --------
    >>> import supple
    >>> def read(path):
    ...     raise ValueError("only an example")
    >>> supple.BodySource(".lmp", "Lumped masses and springs as text.", read).name
    '.lmp'
    """

    name: str
    says: str
    read: Callable[..., tuple[Any, Any, Any]]
    keys: tuple[str, ...] = ONE_FILE

    def __post_init__(self) -> None:
        part = f"body source {quoted(self.name)}"
        if not self.name or Path(f"body{self.name}").suffix != self.name or self.name != self.name.lower():
            hint = 'give one ending with its dot, in lower case: ".lmp"'
            raise InputError("its name is not the ending of a file", part=part, hint=hint)
        if self.keys not in (ONE_FILE, THREE_FILES):
            raise InputError(
                f"its keys are {value_text(self.keys)}", part=part, hint=f"give {ONE_FILE} or {THREE_FILES}"
            )
