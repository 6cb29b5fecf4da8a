"""Machine code once: kernels that only other kernels call stay intermediate code until their caller is compiled.

numba turns every function into optimised machine code before it looks at the function that calls it, and does the same
work again for each caller. A kernel that is called from Python alone needs machine code; those within it are linked
into it, optimised and translated there, once.

It replaces one step inside numba, for kernels marked with PIECE in their name and only while one of ours is compiled.
Where a version of numba has no such step, nothing is replaced, and compiling only takes longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

PIECE = "__piece"  # at the end of the qualified name of a kernel that only kernels call
_ENVIRONMENT = "_ZN08NumbaEnv"  # how numba's names of what goes with a function begin


@contextmanager
def in_pieces() -> Iterator[None]:
    """Inside, kernels that only kernels call are not translated to machine code."""
    library = _library()
    if library is None:
        yield
        return
    from numba.core.registry import cpu_target

    codegen = cpu_target.target_context.codegen()
    before, set_env = codegen._library_class, codegen.set_env

    def set_where_it_is(name: str, environment: Any) -> None:
        if codegen._engine.get_global_value_address(name):
            set_env(name, environment)

    codegen._library_class, codegen.set_env = library, set_where_it_is
    try:
        yield
    finally:
        codegen._library_class = before
        del codegen.set_env


@cache
def _library() -> Any:
    """numba's library of compiled code, with the step replaced; None where numba is not built like that."""
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
        """Machine code only for what Python calls."""

        _piece = False

        def finalize(self) -> None:
            self._piece = self.name.endswith(PIECE)
            if not self._piece:
                super().finalize()
                for item in self._final_module.global_variables:
                    environment = lookup_environment(item.name) if item.name.startswith(_ENVIRONMENT) else None
                    if environment is not None:  # of a piece: it was waiting for this
                        self._codegen.set_env(item.name, environment)
                return
            self._raise_if_finalized()
            for library in dict.fromkeys(self._linking_libraries):
                self._reload_init.update(library._reload_init)
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
            self._finalize_dynamic_globals()
            self._verify_declare_only_symbols()
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()
            return 0 if self._piece else super().get_pointer_to_function(name)

    return Pieces
