"""A reduced model as files that make a system of python-control, with nothing of supple on the other side."""
