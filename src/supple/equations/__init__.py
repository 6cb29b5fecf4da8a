"""Equations of motion M η̈ + Γ[η̇, η̇] + D_d η̇ + K η + friction = p + B u of local and reduced models."""
