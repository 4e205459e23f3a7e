"""The same classifier on rows that lie on a Dask cluster, or in files that are larger than memory.

Here live the estimator (:class:`DaskCertifiedVoteClassifier`), what it asks of a table in partitions, what workers
do with one partition, and how a cluster reads files in pieces. A worker returns counts, some rows or some votes;
everything that decides a certificate is in :mod:`certivote.pipeline` and takes place on the client. Needs the packages
dask and distributed.
"""

from certivote.dask._classifier import DaskCertifiedVoteClassifier
from certivote.dask._files import connected, count_pieces, frame_of, frames, run_on, source_of

__all__ = [
    "DaskCertifiedVoteClassifier",
    "connected",
    "count_pieces",
    "frame_of",
    "frames",
    "run_on",
    "source_of",
]
