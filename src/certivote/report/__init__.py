"""The report: a certificate as one web page that needs nothing else, for those who must rely on it."""

from certivote.report._contents import FreshRows
from certivote.report._page import render

__all__ = ["FreshRows", "render"]
