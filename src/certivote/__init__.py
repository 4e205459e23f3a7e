"""A weighted majority vote with a certificate of its own error.

Learns an ensemble by minimising a PAC-Bayesian bound and returns one deterministic classifier together with an upper
bound on its error that holds with probability at least ``1 - delta``.
"""

from typing import TYPE_CHECKING

from certivote._late import late_names
from certivote._version import __version__
from certivote.certificate import Certificate
from certivote.verify import verify  # at once: this is the function, whoever imports the room of that name later

if TYPE_CHECKING:
    from certivote import voters
    from certivote.estimator import CertifiedVoteClassifier, load
    from certivote.monitor import Monitor
    from certivote.pipeline import certify, certify_predictions, compare
    from certivote.present import plot_certificate, plot_comparison, plot_decisions, plot_weights
else:
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "estimator": ["CertifiedVoteClassifier", "load"],
            "io": [],
            "monitor": ["Monitor"],
            "pipeline": ["certify", "certify_predictions", "compare"],
            "present": ["plot_certificate", "plot_comparison", "plot_decisions", "plot_weights"],
            "promises": [],
            "voters": [],
        },
    )

__all__ = [
    "Certificate",
    "CertifiedVoteClassifier",
    "Monitor",
    "__version__",
    "certify",
    "certify_predictions",
    "compare",
    "load",
    "plot_certificate",
    "plot_comparison",
    "plot_decisions",
    "plot_weights",
    "verify",
    "voters",
]
