"""Tests run native kernels, as long runs do; those of the interpreted ones ask for them."""

import os
from pathlib import Path

import hypothesis

os.environ.setdefault("SUPPLE_KERNELS", "compiled")
if not os.access(Path(__file__).parents[1], os.W_OK):  # the tree is somebody else's: failing cases are kept in memory
    hypothesis.settings.register_profile("read-only tree", database=None)
    hypothesis.settings.load_profile("read-only tree")
