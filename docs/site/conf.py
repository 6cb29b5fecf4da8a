"""Settings of Sphinx for the documentation site."""

import sys
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

# The font of formulas, bundled with ziamath: they look the same everywhere.
FONT = str(Path(find_spec("ziamath").origin).parent / "fonts" / "STIXTwoMath-Regular.ttf")

project = "supple"
author = "the supple developers"
copyright = "the supple developers, BSD-3-Clause"
extensions = ["myst_parser", "equations"]
root_doc = "index"
html_title = "supple"
smartquotes = False  # --at is no dash
html_theme = "pydata_sphinx_theme"
html_static_path = [str(HERE / "static"), FONT]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "logo": {"text": "supple"},
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "show_toc_level": 2,
    "collapse_navigation": True,
    "navigation_depth": 3,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
myst_heading_anchors = 5
myst_url_schemes = ["http", "https", "mailto"]
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
nitpicky = False  # MyST itself says which links and anchors lead nowhere
