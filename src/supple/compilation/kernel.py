"""One source for every kernel.

A kernel is a plain function of arrays and numbers, marked with `@kernel`. Called as it is, it runs
interpreted, and nothing is imported; `compiled(function)` gives its native version. The compiled code is
cached on disk under a digest of the function and of every kernel it calls, so that a change anywhere in
the chain compiles anew, and nothing stale is ever run.

Compiling takes seconds, a single configuration interpreted takes milliseconds. Where a call says how much it is
going to compute (`compiled(function, count=1)`) and the process was told to be patient, as the command line is, it
runs interpreted as long as that is sooner done, and native from then on, or at once if native code is in the cache.
"""

from __future__ import annotations

import contextlib
import dis
import hashlib
import os
import pickle
import platform
import sys
import types
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from supple.compilation import announcement, patience
from supple.compilation.intermediate_code import PIECE
from supple.diagnostics import SuppleNote
from supple.files.whole import write_whole

_marked: dict[types.FunctionType, str] = {}
_inlined: set[types.FunctionType] = set()
_compiled: dict[tuple[types.FunctionType, bool, bool], Any] = {}
_found: dict[tuple[types.FunctionType, bool], bool] = {}


def kernel(function: Callable | None = None, *, purpose: str = "", inline: bool = False) -> Callable:
    """Mark a function as a kernel. It stays the plain function it is.

    purpose : what it is for, in a few words for somebody who waits while it compiles
    inline  : written out wherever it is called, so that a small function of vectors costs nothing
    """
    if function is None:
        return lambda wanted: kernel(wanted, purpose=purpose, inline=inline)
    assert isinstance(function, types.FunctionType)
    if inline:
        _inlined.add(function)
    _marked[function] = purpose or function.__name__.replace("_", " ")
    return function


def inlined(function: Callable) -> Callable:
    """The same kernel, written out where it is called: for a caller that takes one state and would feel the call."""
    assert isinstance(function, types.FunctionType)
    twin = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    twin.__qualname__ = function.__qualname__ + "_inlined"
    return kernel(twin, inline=True)


@kernel
def unsigned(place):
    """A place in an array that is never counted from the end; native code then needs no choice between the two.

    Where a kernel takes several states in one instruction, that choice would make it take one at a time.
    """
    return place


@kernel
def borrowed(array):
    """An array that outlives the kernel: native code then does not count who refers to it.

    Counting takes longer than the work where many small kernels are handed tuples of arrays. Not for what is returned.
    """
    return array


def compiled(function: Callable, *, count: int | None = None, fused: bool = False) -> Callable:
    """The native version of a kernel, compiled (or read from the cache) at its first call.

    count : how many states, configurations or steps the next call computes. Where native code is not at hand and
            few are asked for, a patient process gets the kernel as it is, interpreted. 0: so little, and so rarely,
            that it always is. Left out: always native.
    fused : a product and a sum may be taken in one instruction with one rounding (faster, and no less accurate, but not
            bit for bit what the interpreted kernel gives)
    """
    assert isinstance(function, types.FunctionType)
    if count == 0 or (count is not None and patience.bears(function, count, lambda: at_hand(function, fused))):
        return patience.interpreted(function, count)
    return _native(function, fused, within=False)


def at_hand(function: Callable, fused: bool = False) -> bool:
    """Whether native code of a kernel is loaded, or lay in the cache when it was first asked for."""
    assert isinstance(function, types.FunctionType)
    if (function, fused, False) in _compiled:
        return True
    if (function, fused) not in _found:
        _found[function, fused] = any(".part" not in file.name for file in _folder(function, fused).glob("*" + ENDING))
    return _found[function, fused]


def forget(function: Callable) -> None:
    """Drop the native code of all kernels that call a kernel, however far down: what it calls itself is changing."""

    def reaches(item: types.FunctionType) -> bool:
        return item is function or any(reaches(callee) for callee in callees(item).values())

    known: tuple[dict[Any, Any], ...] = (_compiled, _found)
    for where in known:
        for key in [key for key in where if reaches(key[0])]:
            del where[key]


def cache_folder() -> Path:
    """Where compiled kernels are kept: SUPPLE_CACHE_DIR, or supple in the user's cache folder."""
    chosen = os.environ.get("SUPPLE_CACHE_DIR")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "supple" / "kernels"


def callees(function: types.FunctionType) -> dict[str, types.FunctionType]:
    """The kernels a kernel calls, by the names it uses for them."""
    found = {}
    for name in _global_names(function.__code__):
        value = function.__globals__.get(name)
        if isinstance(value, types.FunctionType) and value in _marked:
            found[name] = value
    return found


@cache
def _global_names(code: types.CodeType) -> tuple[str, ...]:
    """Names that code looks up as globals; attributes of the same name are none of them."""
    return tuple(dict.fromkeys(item.argval for item in dis.get_instructions(code) if item.opname == "LOAD_GLOBAL"))


def digest(function: types.FunctionType) -> str:
    """Name the compiled code of a kernel by the byte code and constants of the kernel and its callees.

    Docstrings do not count: a change of wording compiles nothing.
    """
    sha = hashlib.sha256()
    seen: set[types.FunctionType] = set()

    def add(item: types.FunctionType) -> None:
        if item in seen:
            return
        seen.add(item)
        code = item.__code__
        known = sorted((name, _told(item.__globals__[name])) for name in code.co_names if name in item.__globals__)
        inlined = item in _inlined
        constants = code.co_consts
        if item.__doc__ is not None and constants[:1] == (item.__doc__,):  # the first constant is the docstring
            constants = constants[1:]
        sha.update(repr((item.__qualname__, code.co_code, constants, code.co_names, known, inlined)).encode())
        for callee in callees(item).values():
            add(callee)

    add(function)
    sha.update(repr((sys.version, platform.machine(), platform.processor())).encode())
    return f"{function.__name__}-{sha.hexdigest()[:16]}"


def _told(value: Any) -> str:
    """What compiled code keeps of a global value: a number, or the fields of a NamedTuple that the kernel makes."""
    if isinstance(value, int | float):
        return repr(value)
    return repr(getattr(value, "_fields", ""))


def _folder(function: types.FunctionType, fused: bool) -> Path:
    return cache_folder() / (digest(function) + ("-fused" if fused else ""))


def _native(function: types.FunctionType, fused: bool, within: bool) -> Any:
    """within : only other kernels call it, so that it needs no way in from Python and no place in the cache."""
    if function is unsigned:
        import numpy

        return numpy.uint64
    if function is borrowed:
        from supple.compilation.borrowing import without_owner

        return without_owner
    if (function, fused, within) not in _compiled:
        _compiled[function, fused, within] = _jit(function, fused, within)
    return _compiled[function, fused, within]


def _jit(function: types.FunctionType, fused: bool, within: bool) -> Any:
    import numba

    native = {name: _native(callee, fused, within=True) for name, callee in callees(function).items()}
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    if within and function in _inlined:
        options["forceinline"] = True  # by LLVM: numba's own inlining doubles the time to compile
    if fused:
        options["fastmath"] = {"contract"}
    folder = _folder(function, fused)
    code = function.__code__
    if within:
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    else:  # named by its digest, so that where its source stands makes no difference to what is compiled
        code = code.replace(co_filename=str(folder / "kernel.py"), co_firstlineno=1)
    twin = types.FunctionType(code, {**function.__globals__, **native}, function.__name__, function.__defaults__)
    twin.__module__, twin.__qualname__ = function.__module__, function.__qualname__ + (PIECE if within else "")
    native_kernel = numba.njit(twin, **options)
    if within:
        return native_kernel
    native_kernel._cache = KeptCode(folder)
    announcement.watch(native_kernel, function.__name__, _marked[function], folder)
    return native_kernel


# Compiled code on disk: one file for each kernel and signature, believed only if its digest fits.
#
# A damaged file of machine code is run as it is, with any outcome; and an index beside the files, as numba's own cache
# has one, is mixed up by two processes that write at once. Here a file is written whole under a name that says what it
# is, and read if it is what was written. What is damaged is compiled again; what cannot be kept is compiled for this
# process alone. Both are told once.


ENDING = ".code"
_MARK = b"supple code, sha-256, what it is of:"
_HEAD = len(_MARK) + 32
_notes_given: set[str] = set()


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
    if text not in _notes_given:
        _notes_given.add(text)
        warnings.warn(text, SuppleNote, stacklevel=2)
