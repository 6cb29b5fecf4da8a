"""Kernels: one source for interpreted and compiled code.

A kernel is a plain function of arrays and numbers, marked with `@kernel`. Called directly, it runs interpreted and
numba is not imported; `compile_kernel(function)` returns its native version. Compiled code is cached on disk under a
digest of the function and of every kernel it calls. A change anywhere in the chain compiles again, so stale code never
runs.

Compiling takes seconds; interpreting one configuration takes milliseconds. A call may state the size of its task
(`compile_kernel(function, count=1)`). In a patient process, such as the command line, the kernel then runs interpreted
while this is faster than compiling, and native afterwards, or at once if native code is in the cache.
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

from supple.compilation import announcement, intermediate_code, patience, precompiled
from supple.compilation.intermediate_code import INLINED, PIECE
from supple.diagnostics import SuppleNote
from supple.files.whole import write_whole

_METHOD = 2  # to be raised where the same kernels shall be compiled in another way
_marked: dict[types.FunctionType, str] = {}
_inlined: set[types.FunctionType] = set()
_compiled: dict[tuple[types.FunctionType, bool, bool], Any] = {}
_found: dict[tuple[types.FunctionType, bool], bool] = {}


def kernel(function: Callable | None = None, *, purpose: str = "", inline: bool = False) -> Callable:
    """Mark a function as a kernel; the function itself is unchanged.

    purpose : purpose of the kernel in a few words, shown while it compiles
    inline  : inline the kernel wherever it is called, so that small vector functions cost nothing
    """
    if function is None:
        return lambda wanted: kernel(wanted, purpose=purpose, inline=inline)
    assert isinstance(function, types.FunctionType)
    if inline:
        _inlined.add(function)
    _marked[function] = purpose or function.__name__.replace("_", " ")
    return function


def inline_kernel(function: Callable) -> Callable:
    """Return the same kernel, inlined where it is called, for callers where the cost of a call matters."""
    assert isinstance(function, types.FunctionType)
    twin = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    twin.__qualname__ = function.__qualname__ + "_inlined"
    return kernel(twin, inline=True)


@kernel
def mark_unsigned(place):
    """Mark an array index as nonnegative, so that native code need not test for indices from the end.

    This test would prevent the vectorization of loops over states.
    """
    return place


@kernel
def mark_borrowed(array):
    """Mark an array that outlives the kernel, so that native code need not count references to it.

    Reference counting can take longer than the work of small kernels with tuples of arrays. Do not use it for arrays
    that are returned.
    """
    return array


def compile_kernel(function: Callable, *, count: int | None = None, fused: bool = False) -> Callable:
    """Return the native version of a kernel, compiled or read from the cache at its first call.

    count : number of states, configurations or steps of the next call. If the count is small and no native code is
            available, a patient process gets the interpreted kernel. 0: always interpreted. None: always native.
    fused : allow fused multiply-add (faster and not less accurate, but not equal bit by bit to the interpreted kernel)
    """
    assert isinstance(function, types.FunctionType)
    if count == 0 or (count is not None and patience.bears(function, count, lambda: at_hand(function, fused))):
        return patience.interpret_kernel(function, count)
    return _native(function, fused, within=False)


def at_hand(function: Callable, fused: bool = False) -> bool:
    """Return whether native code of a kernel is loaded, or was in the cache at the first request."""
    assert isinstance(function, types.FunctionType)
    if (function, fused, False) in _compiled:
        return True
    if (function, fused) not in _found:
        folder = _folder(function, fused)
        _found[function, fused] = precompiled.at_hand(folder.name) or any(
            ".part" not in file.name for file in folder.glob("*" + ENDING)
        )
    return _found[function, fused]


def forget(function: Callable) -> None:
    """Drop the native code of all kernels that call a kernel directly or indirectly, since the kernel changes."""

    def reaches(item: types.FunctionType) -> bool:
        return item is function or any(reaches(callee) for callee in callees(item).values())

    known: tuple[dict[Any, Any], ...] = (_compiled, _found)
    for where in known:
        for key in [key for key in where if reaches(key[0])]:
            del where[key]


def cache_folder() -> Path:
    """Return the folder of compiled kernels: SUPPLE_CACHE_DIR, or `supple` in the user's cache folder."""
    chosen = os.environ.get("SUPPLE_CACHE_DIR")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "supple" / "kernels"


def callees(function: types.FunctionType) -> dict[str, types.FunctionType]:
    """Return the kernels that a kernel calls, by their names in its code."""
    found = {}
    for name in _global_names(function.__code__):
        value = function.__globals__.get(name)
        if isinstance(value, types.FunctionType) and value in _marked:
            found[name] = value
    return found


@cache
def _global_names(code: types.CodeType) -> tuple[str, ...]:
    """Return the names that code looks up as globals, without attributes of the same name."""
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
        known = sorted(
            (name, _compiled_value(item.__globals__[name])) for name in code.co_names if name in item.__globals__
        )
        inlined = item in _inlined
        constants = code.co_consts
        if item.__doc__ is not None and constants[:1] == (item.__doc__,):  # the first constant is the docstring
            constants = constants[1:]
        sha.update(repr((item.__qualname__, code.co_code, constants, code.co_names, known, inlined)).encode())
        for callee in callees(item).values():
            add(callee)

    add(function)
    sha.update(repr((_METHOD, sys.implementation.cache_tag, platform.machine())).encode())
    return f"{function.__name__}-{sha.hexdigest()[:16]}"


def _compiled_value(value: Any) -> str:
    """Return what compiled code contains of a global value: numbers, or the fields of a NamedTuple."""
    if isinstance(value, bool | int | float | complex | str):
        return repr(value)
    if isinstance(value, tuple):
        return repr((getattr(value, "_fields", ""), [_compiled_value(item) for item in value]))
    if type(value).__module__ == "numpy" and hasattr(value, "tobytes"):  # a number with a type, or an array
        return repr((value.dtype.str, value.shape, value.tobytes()))
    return repr(getattr(value, "_fields", ""))


def _folder(function: types.FunctionType, fused: bool) -> Path:
    return cache_folder() / (digest(function) + ("-fused" if fused else ""))


def _native(function: types.FunctionType, fused: bool, within: bool) -> Any:
    """Return native code of a kernel; with `within`, only other kernels call it, and it is not cached separately."""
    if function is mark_unsigned:
        import numpy

        return numpy.uint64
    if function is mark_borrowed:
        from supple.compilation.borrowing import without_owner

        return without_owner
    if (function, fused, within) not in _compiled:
        _compiled[function, fused, within] = _jit(function, fused, within)
    return _compiled[function, fused, within]


def _jit(function: types.FunctionType, fused: bool, within: bool) -> Any:
    import numba

    native = {name: _native(callee, fused, within=True) for name, callee in callees(function).items()}
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    ending = ""
    if within:
        ending = INLINED if function in _inlined else PIECE
        if not intermediate_code.available():
            options["forceinline"] = function in _inlined
    if fused:
        options["fastmath"] = {"contract"}
    folder = _folder(function, fused)
    code = function.__code__
    if within:
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    else:  # named by its digest, so that compiled code does not depend on the location of the source
        code = code.replace(co_filename=f"{folder.name}.py", co_firstlineno=1)
    twin = types.FunctionType(code, {**function.__globals__, **native}, function.__name__, function.__defaults__)
    twin.__module__, twin.__qualname__ = function.__module__, function.__qualname__ + ending
    native_kernel = numba.njit(twin, **options)
    if within:
        return native_kernel
    native_kernel._cache = KeptCode(folder)
    announcement.watch(native_kernel, function.__name__, _marked[function], folder)
    return native_kernel


# Compiled code on disk: one file for each kernel and signature, used only if its digest is right.
#
# numba runs a damaged file of machine code with any outcome, and two processes that write at once can corrupt the index
# of its cache. Here every file is written as a whole, under a name that identifies it, and its digest is checked.
# Damaged code is compiled again. Code that cannot be cached is compiled for this process only. Both are reported once.


ENDING = ".code"
_MARK = b"supple code, sha-256, what it is of:"
_HEAD = len(_MARK) + 32
_notes_given: set[str] = set()

PRECOMPILED, COMPILED_HERE = "precompiled", "compiled here"
loaded: dict[tuple[str, str], str] = {}
"""Origin of the native code that this process has used, by kernel and signature."""


class KeptCode:
    """Cache of the native code of one kernel, with the interface that numba expects.

    folder : folder of the kernel, named by a digest of its byte code and that of all kernels it calls
    """

    def __init__(self, folder: Path):
        self.folder = folder

    @property
    def cache_path(self) -> str:
        return str(self.folder)

    def enable(self) -> None:
        """Do nothing: the cache is always enabled."""

    def disable(self) -> None:
        raise NotImplementedError("a kernel without a cache is compiled without this object")

    def flush(self) -> None:
        """Delete the cached code."""
        for file in self.folder.glob("*" + ENDING):
            with contextlib.suppress(OSError):
                file.unlink()

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the compiled kernel for a signature, or None if the cache has no usable one."""
        from numba.core.compiler import CompileResult

        context.refresh()
        reason = precompiled.choice().reason
        if reason:
            note_once(f"the precompiled kernels are not used: {reason}; kernels are compiled on this machine, once")
        key = self.folder.name, signature_digest(signature)
        found = precompiled.find(*key)
        origin = PRECOMPILED if found is not None else COMPILED_HERE
        if found is None:
            found = self._read(self._file(signature, context.codegen()))
        if found is None:
            return None
        try:
            result = CompileResult._rebuild(context, *pickle.loads(found))  # noqa: S301 - by us, as its digest says
            loaded[key] = origin
            return result
        except (ImportError, AttributeError):
            # The kernel, or a NamedTuple argument, has moved to another module. The digest does not contain modules,
            # but cached code names them.
            self.flush()
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Write a compiled kernel to the cache, if there is room."""
        from numba.core.serialize import dumps

        if any(not item.can_cache for item in result.lifted) or result.library.has_dynamic_globals:
            return
        library, *others = result._reduce()
        content = dumps((_without_bitcode(library), *others))
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = self._file(signature, result.codegen)
            write_whole(file, _MARK + hashlib.sha256(content).digest() + content)
            loaded[self.folder.name, signature_digest(signature)] = COMPILED_HERE
        except OSError as error:
            reason = error.strerror or str(error)
            note_once(
                f"the kernel cache {self.folder.parent} cannot be written ({reason}), so kernels are compiled in every "
                "run; free some space, or choose another folder with SUPPLE_CACHE_DIR"
            )

    def _read(self, file: Path) -> bytes | None:
        try:
            content = file.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            note_once(f"the kernel cache {self.folder.parent} cannot be read ({error.strerror}); compiling again")
            return None
        if content[: len(_MARK)] == _MARK and content[len(_MARK) : _HEAD] == hashlib.sha256(content[_HEAD:]).digest():
            return content[_HEAD:]
        note_once(f"the kernel cache {self.folder.parent} contains damaged code; compiling it again")
        with contextlib.suppress(OSError):
            file.unlink()
        return None

    def _file(self, signature: Any, codegen: Any) -> Path:
        """Return the file for a signature and a processor."""
        import numba

        host = hashlib.sha256(repr((numba.__version__, codegen.magic_tuple())).encode()).hexdigest()[:12]
        return self.folder / f"{signature_digest(signature)}-{host}{ENDING}"


def signature_digest(signature: Any) -> str:
    """Name the types of the arguments of a kernel, independent of the processor."""
    known = (signature, tuple(_fields(kind) for kind in signature))
    return hashlib.sha256(repr(known).encode()).hexdigest()[:24]


def code_in(file: Path) -> bytes:
    """Return the code in a file of the cache; an error if it is damaged."""
    content = file.read_bytes()
    if content[: len(_MARK)] != _MARK or content[len(_MARK) : _HEAD] != hashlib.sha256(content[_HEAD:]).digest():
        raise ValueError(f"{file} is damaged")
    return content[_HEAD:]


def _without_bitcode(library: tuple) -> tuple:
    """Replace the intermediate code that accompanies machine code with a stub that defines the same names.

    numba reads from it which names the machine code defines, and nothing else. It is two thirds of the size.
    """
    from llvmlite import binding

    name, kind, (machine_code, bitcode) = library
    with binding.parse_bitcode(bitcode) as whole:
        functions = [item.name for item in whole.functions if not item.is_declaration]
        variables = [item.name for item in whole.global_variables if not item.is_declaration]
    lines = [f'define void @"{item}"() {{ ret void }}' for item in functions]
    lines += [f'@"{item}" = constant i8 0' for item in variables]
    with binding.parse_assembly("\n".join(lines)) as stub:
        return name, kind, (machine_code, stub.as_bitcode())


def _fields(kind: Any) -> tuple:
    """Return the classes and fields of the NamedTuples in a type.

    numba identifies a NamedTuple by its class, and compiled code uses positions of fields, so that code for another
    order must not run.
    """
    from numba import types as kinds

    inner = tuple(_fields(item) for item in kind.types) if isinstance(kind, kinds.BaseTuple) else ()
    if not isinstance(kind, kinds.BaseNamedTuple):
        return inner
    made = getattr(kind, "instance_class", None)
    return (getattr(made, "__module__", ""), *getattr(kind, "fields", ()), *inner)


def note_once(text: str) -> None:
    """Issue a note, once in this process."""
    if text not in _notes_given:
        _notes_given.add(text)
        warnings.warn(text, SuppleNote, stacklevel=2)
