"""Faster compilation: kernels that only other kernels call stay intermediate code until their caller is compiled.

numba translates every function to optimised machine code before it compiles the caller, and repeats the work in each
caller. Only kernels that Python calls need machine code. The kernels that they call are linked into them, and optimised
and translated there once.

This module replaces one step inside numba, for kernels with PIECE in their name and only while a kernel of supple is
compiled. If a version of numba lacks this step, nothing is replaced and compiling takes longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

PIECE = "__piece"  # end of the qualified name of a kernel that only kernels call
INLINED = "__inlined" + PIECE  # end of the name of a kernel that is inlined wherever it is called
_ENVIRONMENT = "_ZN08NumbaEnv"  # prefix of numba's names of function environments


@contextmanager
def in_pieces() -> Iterator[None]:
    """Keep kernels that only kernels call as intermediate code inside this context."""
    library = _library()
    if library is None:
        yield
        return
    from numba.core.registry import cpu_target

    codegen = cpu_target.target_context.codegen()
    before, set_env = codegen._library_class, codegen.set_env

    def set_if_present(name: str, environment: Any) -> None:
        if codegen._engine.get_global_value_address(name):
            set_env(name, environment)

    codegen._library_class, codegen.set_env = library, set_if_present
    try:
        yield
    finally:
        codegen._library_class = before
        del codegen.set_env


def available() -> bool:
    """Return whether this version of numba has the step that is replaced."""
    return _library() is not None


@cache
def _library() -> Any:
    """Return a subclass of numba's code library with the step replaced; None if this version of numba lacks it."""
    try:
        from numba.core.codegen import JITCodeLibrary
        from numba.core.compiler import lookup_environment
    except ImportError:
        return None
    steps = (
        "_get_module_for_linking",
        "_finalize_dynamic_globals",
        "_verify_declare_only_symbols",
        "_ensure_finalized",
    )
    if not all(hasattr(JITCodeLibrary, step) for step in steps):
        return None

    class Pieces(JITCodeLibrary):
        """A code library that creates machine code only for kernels that Python calls."""

        _piece = False

        def add_ir_module(self, ir_module: Any) -> None:
            # Inlining by numba itself would double the time to compile. All that is compiled first for such a kernel
            # inherits numba's option `forceinline`, so that code would depend on the order of compilation.
            if self.name.endswith(INLINED):
                for function in ir_module.functions:
                    if not function.is_declaration:
                        function.attributes.add("alwaysinline")
            super().add_ir_module(ir_module)

        def finalize(self) -> None:
            self._piece = self.name.endswith(PIECE)
            if not self._piece:
                super().finalize()
                for item in self._final_module.global_variables:
                    environment = lookup_environment(item.name) if item.name.startswith(_ENVIRONMENT) else None
                    if environment is not None:  # environment of a piece, deferred until now
                        self._codegen.set_env(item.name, environment)
                return
            self._raise_if_finalized()
            for library in dict.fromkeys(self._linking_libraries):
                if hasattr(library, "_reload_init"):  # since numba 0.62
                    self._reload_init.update(library._reload_init)
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
            self._finalize_dynamic_globals()
            self._verify_declare_only_symbols()
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()
            return 0 if self._piece else super().get_pointer_to_function(name)

    return Pieces
