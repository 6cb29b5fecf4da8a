"""A reduced model as plain data: numbers under names, for programs that supple does not know."""
