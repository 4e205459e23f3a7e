"""A weighted majority vote with a certificate of its own error.

Learns an ensemble by minimising a PAC-Bayesian bound and returns one deterministic classifier together with an upper
bound on its error that holds with probability at least ``1 - delta``.
"""

from certivote import voters
from certivote._version import __version__
from certivote.certificate import Certificate
from certivote.estimator import CertifiedVoteClassifier, load
from certivote.pipeline import certify, certify_predictions, compare
from certivote.present import plot_certificate, plot_comparison, plot_decisions, plot_weights
from certivote.verify import verify

__all__ = [
    "Certificate",
    "CertifiedVoteClassifier",
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
