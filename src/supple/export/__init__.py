"""Export of reduced models, controllers and linear models to other programs; one folder per target.

The folder and the public function share a name. Whichever of the two Python binds to `supple.export` (importing a part
of the folder binds the folder), calling it exports, and its help is that of the function.
"""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        from supple.export.export import export

        return export.__doc__

    @property
    def __signature__(self) -> inspect.Signature:
        from supple.export.export import export

        return inspect.signature(export)

    def __call__(self, *given: Any, **options: Any) -> Any:
        from supple.export.export import export

        return export(*given, **options)


sys.modules[__name__].__class__ = _Callable
