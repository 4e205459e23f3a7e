"""What a monitor has seen, as one web page that needs nothing else, and as text that operators scrape."""

from certivote.present.monitor._curves import exponents
from certivote.present.monitor._evidence import moments
from certivote.present.monitor._metrics import metrics_text
from certivote.present.monitor._page import write_monitor

__all__ = ["exponents", "metrics_text", "moments", "write_monitor"]
