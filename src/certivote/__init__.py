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
    from certivote import methods, splits, voters
    from certivote.estimator import CertifiedVoteClassifier, load
    from certivote.monitor import DriftMonitor, LabelPlan, Monitor, carry, recertify
    from certivote.pipeline import (
        LearnedVote,
        PredictionCounts,
        certify,
        certify_counts,
        certify_difference,
        certify_predictions,
        compare,
        count_predictions,
        learn,
        merge_counts,
    )
    from certivote.present import (
        plot_certificate,
        plot_comparison,
        plot_decisions,
        plot_learning,
        plot_monitor,
        plot_weights,
    )
else:
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "estimator": ["CertifiedVoteClassifier", "load"],
            "io": [],
            "methods": [],
            "monitor": ["DriftMonitor", "LabelPlan", "Monitor", "carry", "recertify"],
            "pipeline": [
                "LearnedVote",
                "PredictionCounts",
                "certify",
                "certify_counts",
                "certify_difference",
                "certify_predictions",
                "compare",
                "count_predictions",
                "learn",
                "merge_counts",
            ],
            "present": [
                "plot_certificate",
                "plot_comparison",
                "plot_decisions",
                "plot_learning",
                "plot_monitor",
                "plot_weights",
            ],
            "promises": [],
            "splits": [],
            "voters": [],
        },
    )

__all__ = [
    "Certificate",
    "CertifiedVoteClassifier",
    "DriftMonitor",
    "LabelPlan",
    "LearnedVote",
    "Monitor",
    "PredictionCounts",
    "__version__",
    "carry",
    "certify",
    "certify_counts",
    "certify_difference",
    "certify_predictions",
    "compare",
    "count_predictions",
    "learn",
    "load",
    "merge_counts",
    "methods",
    "plot_certificate",
    "plot_comparison",
    "plot_decisions",
    "plot_learning",
    "plot_monitor",
    "plot_weights",
    "recertify",
    "splits",
    "verify",
    "voters",
]
