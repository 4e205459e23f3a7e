"""The paper's experiments: its protocol, its tables and its figures, with the published figures beside the measured.

Here live the paper's voters, settings and published figures, written once; runs are kept on disk and never repeated.
The methods themselves, and anything that a user of the estimator needs, live elsewhere.
"""

from certivote.experiments._protocol import PAPER_METHODS, PAPER_SETTING, PROTOCOLS, Unit, paper_method, paper_voters
from certivote.experiments._reproduce import plan_units, reproduce, write_results
from certivote.experiments._runs import Run, RunStore
from certivote.experiments._tables import published

__all__ = [
    "PAPER_METHODS",
    "PAPER_SETTING",
    "PROTOCOLS",
    "Run",
    "RunStore",
    "Unit",
    "paper_method",
    "paper_voters",
    "plan_units",
    "published",
    "reproduce",
    "write_results",
]
