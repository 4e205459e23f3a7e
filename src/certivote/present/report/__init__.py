"""The report: a certificate as one web page that needs nothing else, for those who must rely on it."""

from certivote.present.report._page import write_report
from certivote.present.report._test_rows import TestRows

__all__ = ["TestRows", "write_report"]
