"""Registries of kinds: supple's own records and those of extensions, by name.

A kind (of joint, section, sensor, drive, force model, body source, fit, damping, export, analysis) is one frozen
record. Code that handles kinds looks records up in their registry and loops over them; it never names one.

An installed package adds a record by an entry point of the group `supple`. A script calls `supple.register(record)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any, Generic, Protocol, TypeVar

from supple.diagnostics import InputError, unknown_name

GROUP = "supple"
"""Group of entry points; each entry point names one record."""


class NamedRecord(Protocol):
    """A record with a name."""

    @property
    def name(self) -> str: ...


R = TypeVar("R", bound=NamedRecord)
_registries: dict[type, Registry] = {}
_waiting: list[Any] = []  # records whose registry is not imported yet
_loaded = False  # whether the entry points were loaded
_added = False  # whether `register` was called
KINDS = (
    "JointKind", "SensorKind", "DriveKind", "SectionShape", "ForceLaw", "BodySource", "Fit", "DampingKind",
    "ShaperKind", "ExportTarget", "Analysis",
)  # fmt: skip
"""Types of records that can be registered."""


class Registry(Mapping[str, R], Generic[R]):
    """The records of one type by name, in the order of registration."""

    def __init__(self, what: str, record: type[R], *records: R):
        """Create a registry; `what` is its name in messages, such as "joint kind"."""
        self.what = what
        self._known: dict[str, R] = {}
        _registries[record] = self
        for item in [*records, *(item for item in _waiting if isinstance(item, record))]:
            self.add(item)

    def add(self, record: R) -> None:
        """Add a record; a name that exists already is refused."""
        if record.name in self._known:
            raise InputError(f'{self.what} "{record.name}" already exists', part=self.what, hint="choose another name")
        self._known[record.name] = record

    def __getitem__(self, name: str) -> R:
        if name not in self:
            raise unknown_name(self.what, name, self._known)
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        if name not in self._known:  # entry points are loaded only if needed: this takes a tenth of a second
            _load_entry_points()
        return name in self._known

    def at_hand(self, name: str) -> R | None:
        """Return a record if it is known without loading entry points."""
        return self._known.get(name)

    def __iter__(self) -> Iterator[str]:
        _load_entry_points()
        return iter(self._known)

    def __len__(self) -> int:
        _load_entry_points()
        return len(self._known)


def register(record: Any) -> None:
    """Add a kind to supple: a joint, a sensor, an export, an analysis and so on.

    Call it before the kind is first used. An installed package names the record in an entry point of the group
    ``supple`` instead, which the command line knows as well.

    Parameters
    ----------
    record : JointKind, SensorKind, DriveKind, SectionShape, ForceLaw, BodySource, Fit, DampingKind, ShaperKind, \
ExportTarget or Analysis
        Kind to add.

    Raises
    ------
    InputError
        If another record of its type has the same name, or `record` is not a kind.

    Examples
    --------
    >>> import supple
    >>> supple.register(supple.Analysis("total-mass", "Total mass.", lambda mechanism, at: supple.modes(mechanism, at)))
    """
    global _added
    for kind, registry in _registries.items():
        if isinstance(record, kind):
            registry.add(record)
            _added = True
            return
    if any(base.__module__.startswith("supple.") for base in type(record).__mro__):
        _waiting.append(record)
        return
    raise InputError(
        f"must be a {', '.join(KINDS[:-1])} or {KINDS[-1]} (got {type(record).__name__})",
        part="record",
    )


def registrations() -> bool:
    """Return whether a script or an installed package may have added a record, without importing it."""
    return _added or bool(entry_points(group=GROUP))


def _load_entry_points() -> None:
    """Register the records of installed packages, once."""
    global _loaded
    if _loaded:
        return
    _loaded = True
    for point in entry_points(group=GROUP):
        try:
            record = point.load()
        except (ImportError, AttributeError) as error:
            raise InputError(
                f"the kind {point.value} of an installed package cannot be loaded: {error}",
                part="register",
                hint="update or uninstall this package",
            ) from error
        register(record)
