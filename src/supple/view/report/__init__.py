"""Reports: self-contained HTML pages with style and figures, without external resources."""
