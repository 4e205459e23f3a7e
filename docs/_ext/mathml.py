"""Formulas as MathML, written when the site is built: browsers draw it themselves, so no script or font is fetched."""

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

# What the converter does not know, in words that it does.
_SAME = {
    r"\Bigl": r"\left",
    r"\Bigr": r"\right",
    r"\bigl": r"\left",
    r"\bigr": r"\right",
    r"\Big\|": r"\,\|\,",
    r"\tfrac": r"\frac",
}

_NAME = re.compile(r"(<mi>ln</mi>)(?!<mo[^>]*>&#x00028;)")


def _mathml(latex: str, display: str) -> str:
    for unknown, known in _SAME.items():
        latex = latex.replace(unknown, known)
    # Browsers leave no room after the name of a function that has no parentheses.
    return _NAME.sub(r'\1<mspace width="0.167em" />', convert(latex, display=display))


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(_mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    latex = node.astext()
    translator.body.append(f'<div class="formula">{_mathml(latex, "block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Make it the renderer of formulas."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
