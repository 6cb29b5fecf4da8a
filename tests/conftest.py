"""Tests run native kernels, as long runs do; those of the interpreted ones ask for them."""

import os

os.environ.setdefault("SUPPLE_KERNELS", "compiled")
