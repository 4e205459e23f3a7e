"""``certivote reproduce``: the paper's experiments, tables and figures."""

import importlib.util
from collections.abc import Iterable, Sequence
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import Annotated

import typer

from certivote import paper
from certivote.certificate import counted
from certivote.cli._datasets import check_dataset, download
from certivote.cli._messages import complain, fail, say
from certivote.cli._options import DataFolder, suggestion, verb
from certivote.cli._outputs import Quiet, check_folder
from certivote.paper import DATASETS, DatasetUnavailable, locate


@verb
def reproduce(
    protocol: Annotated[list[str] | None, typer.Option(metavar="PROTOCOL")] = None,
    dataset: Annotated[list[str] | None, typer.Option(metavar="DATASET")] = None,
    method: Annotated[list[str] | None, typer.Option(metavar="METHOD")] = None,
    repeats: Annotated[int, typer.Option(min=1)] = 10,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    jobs: Annotated[int, typer.Option(min=1)] = 1,
    data: DataFolder = None,
    out: Annotated[Path, typer.Option(file_okay=False)] = Path("results"),
    tables: bool = False,
    certificates: bool = False,
    quiet: Quiet = False,
) -> None:
    """Run the paper's experiments, and compare the published figures with the measured ones.

    Finished runs are kept in runs.csv and never repeated: interrupt the command as you like and start it again, or let
    several processes work on one folder.

    Parameters
    ----------
    protocol
        paper: Algorithm 1 (Adam), as published. fast: the same voters, priors and loss, by L-BFGS. own: the same
        voters, with the loss, priors and constant of this library. Repeat for several. [default: fast, and own for
        datasets that are named]
    dataset
        Only this dataset; repeat for several. [default: all that are available]
    method
        Only this one of the paper's seven methods; repeat for several. [default: all]
    repeats
        Random splits of each dataset.
    seed
        Seed of the first split; the others have the seeds after it.
    jobs
        Splits to work on at a time, each in a process of its own.
    out
        Folder of runs.csv, the tables and the figures.
    tables
        Run nothing, and only write tables and figures of the finished runs.
    certificates
        Keep the certificate of every run that is done now, as JSON.
    """
    for package in ("filelock", "matplotlib"):  # the second is needed at the end, which is too late to say so
        if importlib.util.find_spec(package) is None:
            fail(f"reproduce needs the package {package}: install certivote[reproduce].")
    from certivote.cli._progress import run_bar

    _check("--protocol", protocol, paper.PROTOCOLS)
    _check("--method", method, paper.PAPER_METHODS)
    check_folder("--out", out)
    if data is not None and out.exists() and out.samefile(data):
        fail(f"--out: {out} is the folder of the data files; give results one of their own.")
    try:
        if not tables:
            names = _available(dataset, data, quiet)
            units = paper.plan_units(protocol or (["fast", "own"] if dataset else ["fast"]), names, repeats, seed)
            with run_bar(units, quiet) as done:
                missing = paper.reproduce(
                    units,
                    method or paper.PAPER_METHODS,
                    out,
                    data_dir=data,
                    jobs=jobs,
                    certificates=certificates,
                    done=done,
                )
            if missing and not quiet:
                complain(f"{missing} runs are left to another process that works on {out}.")
        written = paper.write_results(out)
    except OSError as error:
        fail(f"{error.filename or out}: {error.strerror or error}.")
    except ValueError as error:
        fail(" ".join(str(error).split()))
    except BrokenExecutor:
        fail(
            f"a process was killed, perhaps because memory ran out; finished runs are in {out / 'runs.csv'}, and the "
            "same command, with fewer --jobs, goes on from there."
        )
    except KeyboardInterrupt:
        fail(f"interrupted; finished runs are in {out / 'runs.csv'}, and the same command goes on from there.")
    if not written:
        fail(f"--tables: there are no finished runs in {out}.")
    if not quiet:
        typer.echo(paper.results_text(out))
        for folder in dict.fromkeys(path.parent for path in written):
            files = sum(path.parent == folder for path in written)
            say(f"{counted(files, 'file')} of tables and figures written to {folder}.")


def _check(option: str, given: Iterable[str] | None, allowed: Iterable[str]) -> None:
    for name in given or ():
        if name not in allowed:
            fail(f"{option}: there is no {name!r}; there are {', '.join(allowed)}.{suggestion(name, allowed)}")


def _available(chosen: Sequence[str] | None, data: Path | None, quiet: bool) -> list[str]:
    """The datasets to run; one that was asked for must be there, others are left out with a line."""
    for name in chosen or ():
        check_dataset(name, "--dataset")
    found = []
    for name in dict.fromkeys(chosen or DATASETS):
        try:
            if locate(name, data) is None:
                download(name, data, quiet)
            found.append(name)
        except DatasetUnavailable as error:
            if chosen:
                fail(str(error))
            if not quiet:
                complain(str(error))
    if not found:
        fail("none of the datasets is available.")
    return found
