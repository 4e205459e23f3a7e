"""The cluster as the client sees it: partitions of a table, and passes over them that can be repeated."""

import pickle
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NoReturn

from certivote.dask._partition import Target
from certivote.pipeline import Stage

_QUIET = {"distributed.admin.large-graph-warning-threshold": "4GB"}
"""Voters are sent with the work: a worker that is lost takes nothing with it that cannot be made again."""


def dask_package(name: str = "dask") -> Any:
    """The package, or the other one; imported when it is asked for."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError("Clusters need the packages dask and distributed: install certivote[dask].") from error


def current_client(client: Any) -> Any:
    """The client that was given, or else the current one."""
    distributed = dask_package("distributed")
    if client is not None:
        if not isinstance(client, distributed.Client):
            raise TypeError(f"client must be a distributed.Client or None; got {client!r:.200}.")
        return client
    try:
        return distributed.default_client()
    except ValueError as error:
        raise ValueError(
            "There is no Dask client: make one, for instance distributed.Client() for the cores of this machine, or "
            "give client=."
        ) from error


class Table:
    """The partitions of rows and labels, as pairs that a worker can be asked for.

    Parameters
    ----------
    X : dask data frame or array
    y : dask series or array
    """

    def __init__(self, X: Any, y: Any):
        both = _one_table(X, y)
        if both is not None:
            rows = _partitions(both, "X")
            labels = [Target(y.name)] * len(rows)
        else:
            rows, labels = _partitions(X, "X"), _partitions(y, "y")
        if len(rows) != len(labels):
            raise ValueError(
                f"X has {len(rows)} partitions and y has {len(labels)}: take both from one table, or repartition them."
            )
        if not rows:
            raise ValueError("X has no partitions.")
        self.pairs = list(zip(rows, labels, strict=True))
        self.target = "" if getattr(y, "name", None) is None or hasattr(y, "chunks") else str(y.name)


def _one_table(X: Any, y: Any) -> Any:
    """The table that rows and labels are columns of, so that every pass reads it once; None if they are not."""
    if not (is_lazy(X) and is_lazy(y)) or (X.ndim, y.ndim) != (2, 1):
        return None
    own, other = getattr(X, "expr", None), getattr(y, "expr", None)
    if not all(type(chosen).__name__ == "Projection" for chosen in (own, other)) or own is None or other is None:
        return None
    columns = [*X.columns, y.name]
    same = own.frame._name == other.frame._name and len(set(columns)) == len(columns)
    return type(X)(own.frame)[columns] if same else None


def _partitions(given: Any, name: str) -> list[Any]:
    """One thing for each partition that becomes its rows."""
    if is_lazy(given):
        if hasattr(given, "chunks"):
            given = given.rechunk({1: -1}) if given.ndim == 2 else given
        elif given.ndim == 2 and name == "y":
            raise ValueError("y must be a column such as ddf['outcome'], and not a table.")
        found = given.to_delayed()
        return list(found.ravel()) if hasattr(found, "ravel") else list(found)
    raise TypeError(
        f"{name} must be a dask data frame, series or array; got {type(given).__name__}. Rows that are in memory go to "
        "CertifiedVoteClassifier."
    )


def sent(thing: Any) -> Any:
    """Something that tasks will have, wherever they run, however often."""
    blob = pickle.dumps(thing, protocol=pickle.HIGHEST_PROTOCOL)
    return dask_package().delayed(unpacked, pure=True)(blob)


def unpacked(blob: bytes) -> Any:
    """What :func:`sent` has packed."""
    return pickle.loads(blob)


def is_lazy(given: Any) -> bool:
    """Whether rows are those of a dask frame or array."""
    return hasattr(given, "to_delayed") and hasattr(given, "npartitions")


def by_partition(X: Any, function: Callable[..., Any], model: Any, meta: Any) -> Any:
    """What a function of rows and of a model makes of each partition, when it is asked for; ``meta`` is like it."""
    dask, shared = dask_package(), sent(model)
    each = [dask.delayed(function)(part, shared) for part in _partitions(X, "X")]
    if hasattr(meta, "iloc"):
        return dask_package("dask.dataframe").from_delayed(each, meta=meta, divisions=X.divisions, verify_meta=False)
    array, shapes = dask_package("dask.array"), [(n_rows, *meta.shape[1:]) for n_rows in X.chunks[0]]
    pieces = [array.from_delayed(part, shape, meta=meta) for part, shape in zip(each, shapes, strict=True)]
    return array.concatenate(pieces, allow_unknown_chunksizes=True)


class Passes:
    """Runs a function on every partition, and waits.

    Parameters
    ----------
    client : distributed.Client
    table : Table
    stage : Stage
        Shows progress.
    """

    def __init__(self, client: Any, table: Table, stage: Stage):
        self.client, self.table, self.stage = client, table, stage

    def run(
        self,
        what: str,
        function: Callable[..., Any],
        first: Sequence[Any],
        *more: Sequence[Any],
        common: Sequence[Any] = (),
    ) -> list[Any]:
        """What the function returns for each partition, in their order.

        It is called with an item of ``first``, with rows and labels, with ``common`` things (see :func:`sent`), and
        with an item of each of ``more``. Where a worker is lost, the others do its work, or the one that takes its
        place. If one call fails, the others are stopped.
        """
        call = dask_package().delayed(function, pure=False)
        tasks = [
            call(own, *pair, *common, *(items[place] for items in more))
            for place, (own, pair) in enumerate(zip(first, self.table.pairs, strict=True))
        ]
        futures = self._finished(what, tasks, [f"Partition {place}" for place in range(len(tasks))])
        try:
            return list(self.client.gather(futures))
        finally:
            self.client.cancel(futures)

    def hold(self, what: str, tasks: Sequence[Any]) -> list[Any]:
        """Tasks that are done, whose results stay on the workers."""
        return self._finished(what, tasks, ["A partition"] * len(tasks))

    def _finished(self, what: str, tasks: Sequence[Any], names: Sequence[str]) -> list[Any]:
        tick = self.stage.begin(what)
        with dask_package().config.set(_QUIET):
            futures = self.client.compute(list(tasks))
        try:
            for future in dask_package("distributed").as_completed(futures):
                if future.status != "finished":
                    _fail(names[futures.index(future)], future.exception())
                tick()
        except BaseException:
            self.client.cancel(futures)
            raise
        return list(futures)


def _fail(name: str, error: Any) -> NoReturn:
    if isinstance(error, ValueError | TypeError) and str(error).startswith("Partition "):
        raise type(error)(str(error)) from None
    raise RuntimeError(
        f"{name} cannot be read, and nothing is certified on the others alone: {type(error).__name__}: {error!s:.300}"
    ) from error
