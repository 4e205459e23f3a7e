"""The whole experiment: units of work over processes, and the results of what has finished."""

import os
import signal
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import joblib

from certivote.io import write_atomically
from certivote.paper._catalogue import DATASETS
from certivote.paper._figures import write_figures
from certivote.paper._protocol import Unit, run_unit
from certivote.paper._runs import Key, RunStore
from certivote.paper._tables import beside_text, table_text, write_tables


def plan_units(protocols: Sequence[str], datasets: Sequence[str], repeats: int, seed: int = 0) -> list[Unit]:
    """Units of work, whole repetitions first, and in each the datasets with the most rows first.

    Parameters
    ----------
    protocols : sequence of str
        Keys of ``PROTOCOLS``.
    datasets : sequence of str
        Keys of ``DATASETS``.
    repeats : int
        Random splits of each dataset.
    seed : int
        Of the first split; the others have the seeds after it.

    Returns
    -------
    list of Unit

    Examples
    --------
    >>> from certivote.paper import plan_units
    >>> [unit.name for unit in plan_units(["fast"], ["haberman", "tictactoe"], 1)]
    ['fast-tictactoe-0', 'fast-haberman-0']
    """
    by_size = sorted(datasets, key=lambda name: -DATASETS[name].shape[0])
    return [
        Unit(protocol, dataset, seed + repeat)
        for repeat in range(repeats)
        for protocol in dict.fromkeys(protocols)
        for dataset in dict.fromkeys(by_size)
    ]


def reproduce(
    units: Sequence[Unit],
    methods: Sequence[str],
    out: str | os.PathLike[str],
    *,
    data_dir: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    certificates: bool = False,
    done: Callable[[Unit, int], None] = lambda unit, runs: None,
) -> int:
    """Do the runs that are missing in a folder.

    Each run is written to ``runs.csv`` as it finishes. What is there is not done again, so an interrupted call goes on
    where it stopped, and several processes may work on one folder.

    Parameters
    ----------
    units : sequence of Unit
        What to do; see :func:`plan_units`.
    methods : sequence of str
        Of ``PAPER_METHODS``.
    out : path
        The folder.
    data_dir : path, optional
        See :func:`certivote.paper.data_directory`.
    jobs : int
        Units that are worked on at a time, in processes of their own.
    certificates : bool
        Whether to keep each run's certificate, as JSON in the folder ``certificates``.
    done : callable
        Called with each unit that is over, and how many of its runs were done now.

    Returns
    -------
    int
        How many runs are still missing: another process has them.
    """
    store = RunStore(out)
    methods = tuple(dict.fromkeys(methods))
    threads = max(1, joblib.cpu_count() // jobs)
    finished = {run.key for run in store.read()}
    todo = [unit for unit in units if _missing(unit, methods, finished)]
    for unit in units:
        if unit not in todo:
            done(unit, 0)
    if jobs > 1 and todo:
        _start_workers(jobs)
    do = joblib.delayed(_do_missing)
    workers = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch=jobs)
    for unit, runs in workers(do(unit, methods, store.folder, data_dir, threads, certificates) for unit in todo):
        done(unit, runs)
    finished = {run.key for run in store.read()}
    return sum(len(_missing(unit, methods, finished)) for unit in units)


def write_results(out: str | os.PathLike[str]) -> list[Path]:
    """Write tables and figures of all finished runs.

    Parameters
    ----------
    out : path
        The folder of ``runs.csv``; each protocol gets a folder in it.

    Returns
    -------
    list of Path
        The files; none if there are no finished runs.

    Examples
    --------
    >>> from certivote.paper import write_results
    >>> write_results("no such folder")
    []
    """
    store = RunStore(out)
    if not store.read():
        return []
    written = []
    with store.alone("results"):
        # Read here, so that of two processes the last to write has all the runs of both.
        runs = store.read()
        for protocol in sorted({run.protocol for run in runs}):
            folder = store.folder / protocol
            folder.mkdir(exist_ok=True)
            written += write_tables(runs, protocol, folder)
            written += write_figures(runs, protocol, folder)
    return written


def results_text(out: str | os.PathLike[str]) -> str:
    """Bounds and test errors of all finished runs beside the published ones, as text.

    Datasets with runs of the paper's setting and of this library's own (``own``) have a table of both besides.

    Parameters
    ----------
    out : path
        The folder of ``runs.csv``.

    Returns
    -------
    str

    Examples
    --------
    >>> from certivote.paper import results_text
    >>> results_text("no such folder")
    ''
    """
    runs = RunStore(out).read()
    tables = [table_text(runs, protocol) for protocol in sorted({run.protocol for run in runs})]
    return "\n".join([*tables, *filter(None, [beside_text(runs)])])


def _missing(unit: Unit, methods: Iterable[str], finished: set[Key]) -> list[str]:
    return [name for name in methods if (unit.protocol, unit.dataset, name, unit.seed) not in finished]


def _start_workers(jobs: int) -> None:
    """Start processes that leave an interrupt to the caller, which ends them: a terminal interrupts them too."""
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread can say what becomes of signals
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        joblib.Parallel(n_jobs=jobs)(joblib.delayed(os.getpid)() for _ in range(jobs))
    finally:
        signal.signal(signal.SIGINT, usual)


def _do_missing(
    unit: Unit,
    methods: Sequence[str],
    folder: Path,
    data_dir: str | os.PathLike[str] | None,
    threads: int,
    certificates: bool,
) -> tuple[Unit, int]:
    """Do the runs of a unit that are missing, unless another process is at it; the unit, and how many were done."""
    store = RunStore(folder)
    with store.claim(unit.name) as mine:
        # Another process may have done it since the caller looked.
        missing = _missing(unit, methods, {run.key for run in store.read()}) if mine else []
        for run, certificate in run_unit(unit, missing, data_dir, threads) if missing else ():
            if certificates:
                target = folder / "certificates" / f"{unit.name}-{run.method}.json"
                target.parent.mkdir(exist_ok=True)
                write_atomically(target, f"{certificate.to_json()}\n".encode())
            store.append(run)
    return unit, len(missing)
