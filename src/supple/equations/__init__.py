"""The equations of motion M η̈ + Γ[η̇, η̇] + D_d η̇ + K η + friction = p + B u, of a local or of a reduced model, once."""
