"""The documentation site: ``make docs``."""

import sys
from importlib.util import find_spec
from pathlib import Path

from certivote import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "certivote"
author = "the certivote developers"
copyright = "the certivote developers; BSD 3-Clause"  # noqa: A001  # Sphinx's name
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "mathml", "verbs"]
exclude_patterns = ["_build", "_generated", "_ext"]
templates_path: list[str] = []

html_theme = "furo"
html_title = f"certivote {version}"
# The second folder holds a font with which every browser sets formulas alike.
html_static_path = ["_static", str(Path(find_spec("ziamath").origin).parent / "fonts")]
html_css_files = ["certivote.css"]
html_extra_path = ["llms.txt"]
html_math_renderer = "mathml"
html_copy_source = False
smartquotes = False  # --option stays as it is typed
strip_signature_backslash = True  # names such as classes_ keep their last letter
html_theme_options = {"top_of_page_buttons": []}

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
myst_dmath_double_inline = False

autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False  # an override says what its interface says
autodoc_typehints = "none"
autodoc_preserve_defaults = True
# One entry may be about several names, such as "X, y".
napoleon_use_param = False
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_rtype = False
napoleon_google_docstring = False
# The pages name functions of other libraries in plain code, so that a build needs no network.
nitpicky = False
