"""Views of a finished certificate: words, a notebook card, plots, and the report.

Here live the sentences that users read (``certificate_text``, ``comparison_text``; ``cautions``, which stand beside
every bound that hides a failure; ``plain_text``, which all text from files passes), the card that notebooks show
(``certificate_card``), the pictures (``plot_certificate``, ``plot_comparison``, ``plot_decisions``,
``plot_learning``, ``plot_monitor``, ``plot_weights``, and the style that all figures share), the report as one web
page (``write_report``), the page of a monitor (``write_monitor``) and its numbers as text (``metrics_text``), the
text and the page of other records (``record_text``, ``write_record``), the model card (``model_card``) and what MLflow
is told (``log_certificate``). Nothing here is promised or recorded: a view reads a certificate, and may work out what
its bound is made of or what it would be with other numbers, but whatever enters the record is computed before. What
methods differ in comes from the table of methods, never from their names. The packages that draw, render and log,
matplotlib, jinja2 and mlflow, are imported only when they are used.
"""

from typing import TYPE_CHECKING

from certivote._late import late_names
from certivote.present._cautions import cautions
from certivote.present._differences import difference_line, difference_text
from certivote.present._figure_style import PALE, STYLE, mixed
from certivote.present._plain import plain_text
from certivote.present._promises import promise_text
from certivote.present._sentences import assumptions, choices, hyper_prior, remarks, since
from certivote.present._terminal import certificate_text, comparison_text, details_text, text_table
from certivote.present._wording import bound_text

if TYPE_CHECKING:
    from certivote.present._mlflow import log_certificate
    from certivote.present._model_card import model_card
    from certivote.present._notebook import CertificateCard, certificate_card
    from certivote.present._plots import (
        plot_certificate,
        plot_comparison,
        plot_decisions,
        plot_learning,
        plot_monitor,
        plot_weights,
    )
    from certivote.present._records import record_facts, record_text, write_record
    from certivote.present.monitor import metrics_text, write_monitor
    from certivote.present.report import TestRows, write_report
else:
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "_mlflow": ["log_certificate"],
            "_model_card": ["model_card"],
            "_notebook": ["CertificateCard", "certificate_card"],
            "_plots": [
                "plot_certificate",
                "plot_comparison",
                "plot_decisions",
                "plot_learning",
                "plot_monitor",
                "plot_weights",
            ],
            "_records": ["record_facts", "record_text", "write_record"],
            "monitor": ["metrics_text", "write_monitor"],
            "report": ["TestRows", "write_report"],
        },
    )

__all__ = [
    "PALE",
    "STYLE",
    "CertificateCard",
    "TestRows",
    "assumptions",
    "bound_text",
    "cautions",
    "certificate_card",
    "certificate_text",
    "choices",
    "comparison_text",
    "details_text",
    "difference_line",
    "difference_text",
    "hyper_prior",
    "log_certificate",
    "metrics_text",
    "mixed",
    "model_card",
    "plain_text",
    "plot_certificate",
    "plot_comparison",
    "plot_decisions",
    "plot_learning",
    "plot_monitor",
    "plot_weights",
    "promise_text",
    "record_facts",
    "record_text",
    "remarks",
    "since",
    "text_table",
    "write_monitor",
    "write_record",
    "write_report",
]
