"""Reports: one page of HTML each, with its style and pictures in it, that asks for nothing from outside."""
