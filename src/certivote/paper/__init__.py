"""The paper's data and experiments: its datasets, its protocol, its tables and figures beside the published ones.

Each dataset has an entry (files, source, licence, size, checksums, declared ranges of the features), its
reader, and functions that find its files, download and check them; there are no data files here. Of the experiments
there are the paper's voters, settings and published figures, each written once; runs are kept on disk and never
repeated. The methods themselves, and everything else that a user of the estimator needs, live elsewhere. Nothing that
reads the data knows of voters or bounds. To add a dataset, add an entry to the list in ``_catalogue.py``.
"""

from typing import TYPE_CHECKING

from certivote._late import late_names
from certivote.paper._catalogue import DATASETS
from certivote.paper._entry import Entry
from certivote.paper._fetch import Dataset, DatasetUnavailable, ProgressBar, data_directory, fetch, load, locate

if TYPE_CHECKING:
    from certivote.paper._protocol import PAPER_METHODS, PAPER_SETTING, PROTOCOLS, Unit, paper_method, paper_voters
    from certivote.paper._reproduce import plan_units, reproduce, write_results
    from certivote.paper._runs import Run, RunStore
    from certivote.paper._tables import published
else:
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "_protocol": ["PAPER_METHODS", "PAPER_SETTING", "PROTOCOLS", "Unit", "paper_method", "paper_voters"],
            "_reproduce": ["plan_units", "reproduce", "write_results"],
            "_runs": ["Run", "RunStore"],
            "_tables": ["published"],
        },
    )

__all__ = [
    "DATASETS",
    "PAPER_METHODS",
    "PAPER_SETTING",
    "PROTOCOLS",
    "Dataset",
    "DatasetUnavailable",
    "Entry",
    "ProgressBar",
    "Run",
    "RunStore",
    "Unit",
    "data_directory",
    "fetch",
    "load",
    "locate",
    "paper_method",
    "paper_voters",
    "plan_units",
    "published",
    "reproduce",
    "write_results",
]
