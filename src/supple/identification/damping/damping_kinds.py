"""All kinds of damping that are found from responses, by name: supple's own, and those that are registered."""

from __future__ import annotations

from supple.identification.damping.damping_kind import DampingKind
from supple.identification.damping.damping_models import MODAL, RAYLEIGH, STRUCTURAL
from supple.identification.damping.loss_factors import JOINTS, MATERIALS
from supple.kinds import Registry

DAMPING_KINDS = Registry("damping", DampingKind, STRUCTURAL, RAYLEIGH, MODAL, JOINTS, MATERIALS)
