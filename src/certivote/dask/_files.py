"""Files that are larger than memory: read in pieces by a cluster that is given, or by the cores of this machine."""

import hashlib
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from certivote.dask._cluster import dask_package
from certivote.io import TableFile, TablePieces
from certivote.pipeline import PredictionCounts, count_predictions

_PATIENCE = "5s"
"""How long a scheduler may take to answer."""


@contextmanager
def connected(scheduler: str | None) -> Iterator[Any]:
    """A client of a scheduler that is given, or of a cluster on the cores of this machine, which ends with the block.

    Raises
    ------
    ValueError
        If nothing answers at that address.
    """
    distributed = dask_package("distributed")
    if scheduler is not None:
        try:
            client = distributed.Client(scheduler, timeout=_PATIENCE)
        except (OSError, ValueError) as error:
            raise ValueError(
                f"no Dask scheduler answers at {scheduler} ({error}); give an address such as tcp://10.0.0.1:8786."
            ) from error
        with client:
            yield client
        return
    with (
        distributed.LocalCluster(
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # any free port: None would stand for one that may be taken
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def run_on(client: Any) -> Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]:
    """What applies a function to many things, as ``map`` does, on a cluster."""

    def run(function: Callable[[Any], Any], things: Sequence[Any]) -> list[Any]:
        futures = client.map(function, list(things), pure=False)
        try:
            return list(client.gather(futures))
        finally:
            client.cancel(futures)

    return run


def frame_of(table: TablePieces) -> Any:
    """A dask data frame with one partition for each piece."""
    dataframe = dask_package("dask.dataframe")
    return dataframe.from_map(table.frame, range(len(table.rows)), meta=table.empty)


def frames(client: Any, table: TablePieces) -> Iterator[Any]:
    """The rows of all pieces in their order; a few pieces are read ahead."""
    numbers = iter(range(len(table.rows)))
    ahead: deque[Any] = deque()
    try:
        for number in numbers:
            ahead.append(client.submit(table.frame, number, pure=False))
            if len(ahead) > max(len(client.nthreads()), 1):
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    finally:
        client.cancel(list(ahead))


def count_pieces(client: Any, table: TablePieces, truth: str, predicted: str) -> list[PredictionCounts]:
    """Counts of the answers in every piece."""
    return run_on(client)(partial(_count, table, truth, predicted), range(len(table.rows)))


def _count(table: TablePieces, truth: str, predicted: str, number: int) -> PredictionCounts:
    rows = table.frame(number)
    return count_predictions(rows[truth], rows[predicted], first=table.starts[number])


def source_of(
    pattern: str, files: Sequence[TableFile], run: Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]
) -> tuple[str, str]:
    """What a certificate records of the files: the name and SHA-256 of one, or a pattern and one digest of all.

    The digest of several files is the SHA-256 of theirs in hexadecimal digits, in the order of the rows, each followed
    by a line end.
    """
    digests = list(run(TableFile.digest, files))
    if len(files) == 1:
        return files[0].name, digests[0]
    together = hashlib.sha256("".join(f"{digest}\n" for digest in digests).encode()).hexdigest()
    short = pattern.replace("\\", "/").rsplit("/", 1)[-1]
    return f"{short} ({len(files):,} files)", together
