"""Records under their names, supple's own and those that others add.

A kind (of joint, section, sensor, drive, force law, body source, fit, damping, export, analysis) is one frozen
record. Its registry knows it by its name; code that handles kinds looks records up and loops over them, and never
names one.

An installed package adds a record by an entry point of the group `supple`, which names the record; a script calls
`supple.register(record)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any, Generic, Protocol, TypeVar

from supple.diagnostics import InputError, nearest

GROUP = "supple"
"""Of entry points; each names one record."""


class NamedRecord(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str: ...


R = TypeVar("R", bound=NamedRecord)
_registries: dict[type, Registry] = {}
_waiting: list[Any] = []  # records whose registry is not imported yet
_asked = False
_added = False  # whether `register` was called
KINDS = (
    "JointKind", "SensorKind", "DriveKind", "SectionShape", "ForceLaw", "BodySource", "Fit", "DampingKind",
    "ShaperKind", "ExportTarget", "Analysis",
)  # fmt: skip
"""Types of records that can be registered."""


class Registry(Mapping[str, R], Generic[R]):
    """The records of one type by name, in the order in which they came."""

    def __init__(self, what: str, record: type[R], *records: R):
        """what : how a message calls it, such as "joint kind"."""
        self.what = what
        self._known: dict[str, R] = {}
        _registries[record] = self
        for item in [*records, *(item for item in _waiting if isinstance(item, record))]:
            self.add(item)

    def add(self, record: R) -> None:
        """Take a record in; a name that is taken is refused."""
        if record.name in self._known:
            raise InputError(
                f'{self.what} "{record.name}" exists already', part=self.what, hint="give the new one another name"
            )
        self._known[record.name] = record

    def __getitem__(self, name: str) -> R:
        if name not in self:
            raise InputError(f'there is no {self.what} "{name}"', part=self.what, hint=nearest(name, self._known))
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        if name not in self._known:  # packages are asked only for what is not at hand: it takes a tenth of a second
            _ask()
        return name in self._known

    def at_hand(self, name: str) -> R | None:
        """The record if it is known without asking installed packages."""
        return self._known.get(name)

    def __iter__(self) -> Iterator[str]:
        _ask()
        return iter(self._known)

    def __len__(self) -> int:
        _ask()
        return len(self._known)


def register(record: Any) -> None:
    """Add a kind to supple: a joint, a sensor, an export, an analysis and so on.

    Call it before the kind is first used. An installed package names the record in an entry point of the group
    ``supple`` instead, which the command line knows as well.

    Parameters
    ----------
    record : JointKind, SensorKind, DriveKind, SectionShape, ForceLaw, BodySource, Fit, DampingKind, ShaperKind, \
ExportTarget or Analysis
        The kind. A name that another record of its type has raises an `InputError`.
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
        f"{type(record).__name__} is no record of a kind",
        part="register",
        hint=f"give a {', '.join(KINDS[:-1])} or {KINDS[-1]}",
    )


def registrations() -> bool:
    """Whether a script or an installed package may have added a record; nothing of it is imported."""
    return _added or bool(entry_points(group=GROUP))


def _ask() -> None:
    """Records of installed packages, once."""
    global _asked
    if _asked:
        return
    _asked = True
    for point in entry_points(group=GROUP):
        try:
            record = point.load()
        except (ImportError, AttributeError) as error:
            raise InputError(
                f"{point.value}, a kind that an installed package adds, cannot be loaded: {error}",
                part="register",
                hint="update that package, or uninstall it",
            ) from error
        register(record)
