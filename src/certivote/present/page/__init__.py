"""What all pages are made of: the frame, the style, bars, curves and axes; and how a page is poured and written.

A page needs nothing else and asks nobody. Everything that comes from data is escaped by the templates, after whatever
cannot be printed was written as an escape.
"""

from certivote.present.page._axes import Bar, Curve, axis, power, small
from certivote.present.page._pour import write_page

__all__ = ["Bar", "Curve", "axis", "power", "small", "write_page"]
