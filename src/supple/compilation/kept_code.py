"""Compiled code on disk: one file for each kernel and signature, believed only if its digest fits.

A damaged file of machine code is run as it is, with any outcome; and an index beside the files, as numba's own cache
has one, is mixed up by two processes that write at once. Here a file is written whole under a name that says what it
is, and read if it is what was written. What is damaged is compiled again; what cannot be kept is compiled for this
process alone. Both are told once.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import warnings
from pathlib import Path
from typing import Any

from supple.diagnostics import SuppleNote
from supple.files.whole import write_whole

ENDING = ".code"
_MARK = b"supple code, sha-256, what it is of:"
_HEAD = len(_MARK) + 32
_told: set[str] = set()


class KeptCode:
    """What numba asks for the native code of one kernel, and hands it over to.

    folder : of this kernel, named by a digest of its byte code and that of all it calls
    """

    def __init__(self, folder: Path):
        self.folder = folder

    @property
    def cache_path(self) -> str:
        return str(self.folder)

    def enable(self) -> None:
        """It always is."""

    def disable(self) -> None:
        raise NotImplementedError("a kernel that shall not be kept is compiled without this")

    def flush(self) -> None:
        """Forget what is kept."""
        for file in self.folder.glob("*" + ENDING):
            with contextlib.suppress(OSError):
                file.unlink()

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled kernel for a signature; None: there is none that can be used."""
        from numba.core.compiler import CompileResult

        context.refresh()
        found = self._read(self._file(signature, context.codegen()))
        if found is None:
            return None
        try:
            return CompileResult._rebuild(context, *pickle.loads(found))  # noqa: S301 - by us, as its digest says
        except (ImportError, AttributeError):
            # Kept when the kernel, or a NamedTuple that it takes, stood in another module. The digest does not know
            # modules; what is kept names them.
            self.flush()
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a kernel that was compiled, where there is room."""
        from numba.core.serialize import dumps

        if any(not item.can_cache for item in result.lifted) or result.library.has_dynamic_globals:
            return
        content = dumps(result._reduce())
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = self._file(signature, result.codegen)
            write_whole(file, _MARK + hashlib.sha256(content).digest() + content)
        except OSError as error:
            reason = error.strerror or str(error)
            _tell(f"the kernel cache {self.folder.parent} cannot be written ({reason}): kernels are compiled anew in "
                  "every run; make room, or name another with SUPPLE_CACHE_DIR")  # fmt: skip

    def _read(self, file: Path) -> bytes | None:
        try:
            content = file.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            _tell(f"the kernel cache {self.folder.parent} cannot be read ({error.strerror}): compiling again")
            return None
        if content[: len(_MARK)] == _MARK and content[len(_MARK) : _HEAD] == hashlib.sha256(content[_HEAD:]).digest():
            return content[_HEAD:]
        _tell(f"compiled code in the kernel cache {self.folder.parent} is damaged: compiling it again")
        with contextlib.suppress(OSError):
            file.unlink()
        return None

    def _file(self, signature: Any, codegen: Any) -> Path:
        """One for what is compiled, and for which processor."""
        import numba

        known = (numba.__version__, codegen.magic_tuple(), signature, tuple(_fields(kind) for kind in signature))
        return self.folder / (hashlib.sha256(repr(known).encode()).hexdigest()[:24] + ENDING)


def _fields(kind: Any) -> tuple:
    """The classes and fields of the NamedTuples in a type: numba knows one by its class alone, and compiled code knows
    its fields by their places, so that code for another order must not be run."""
    from numba import types as kinds

    inner = tuple(_fields(item) for item in kind.types) if isinstance(kind, kinds.BaseTuple) else ()
    if not isinstance(kind, kinds.BaseNamedTuple):
        return inner
    made = getattr(kind, "instance_class", None)
    return (getattr(made, "__module__", ""), *getattr(kind, "fields", ()), *inner)


def _tell(text: str) -> None:
    if text not in _told:
        _told.add(text)
        warnings.warn(text, SuppleNote, stacklevel=2)
