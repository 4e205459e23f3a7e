"""The option ``--engine``: tables that are read whole, or in pieces by a cluster or all cores of this machine."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from certivote.certificate import Certificate
from certivote.cli._inputs import as_classes, table_file, warnings_as_lines
from certivote.cli._outputs import check_files
from certivote.cli._shared import fail, reason
from certivote.io import TableError, TableFile, TablePieces, divided, files_of, lay_out

__all__ = ["Engine", "Pieces", "Scheduler", "check_engine", "in_pieces"]

Engine = Annotated[
    Literal["memory", "dask"],
    typer.Option(
        help="memory: read the table whole. dask: read it in pieces, on a cluster or by all cores of this machine; the "
        "table may be larger than memory, and several files, by a pattern in quotation marks such as 'rows/*.parquet'."
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="With --engine dask: the scheduler of a cluster whose workers see the files, such as "
        "tcp://10.0.0.1:8786.  [default: workers on the cores of this machine, which end with the command]",
        show_default=False,
    ),
]


def check_engine(engine: str, scheduler: str | None, others: Mapping[str, Any]) -> bool:
    """Whether the table is read in pieces; end if options do not go with that.

    Parameters
    ----------
    engine : {"memory", "dask"}
    scheduler : str or None
    others : mapping of str to value
        What was given by options that need the table whole.
    """
    if engine == "memory":
        if scheduler is not None:
            fail("--scheduler: give --engine dask with it, which reads the table in pieces.")
        return False
    option = next((option for option, value in others.items() if value), None)
    if option is not None:
        fail(
            f"{option}: this needs all rows at once, and --engine dask reads them in pieces; leave out one of the two."
        )
    return True


@dataclass(frozen=True)
class Pieces:
    """Files that are read in pieces.

    Attributes
    ----------
    pattern : str
        As the line names them.
    files : list of TableFile
    client : distributed.Client
    run : function
        Does something with each of many things, on the cluster.
    """

    pattern: str
    files: list[TableFile]
    client: Any
    run: Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]

    def table(self, target: str, **columns: Any) -> TablePieces:
        """The whole table, looked through once."""
        return lay_out(divided(self.files), target, **columns, run=self.run)

    def source(self) -> tuple[str, str]:
        """What a certificate records of the files: a name, and a digest."""
        from certivote.dask import source_of

        return source_of(self.pattern, self.files, self.run)

    def audited(self, record: Certificate, classifier: Any, target: str) -> list[Any]:
        """The checks of a certificate against its model and these rows."""
        from certivote.dask import frames
        from certivote.verify import verify

        names = classifier.feature_names_in_.tolist()
        table, (_, digest) = self.table(target, features=names), self.source()
        blocks = ((rows[names], as_classes(classifier, rows[target])) for rows in frames(self.client, table))
        return verify(record, classifier, blocks=blocks, source_digest=digest)


@contextmanager
def in_pieces(
    data: Path,
    written: tuple[str | None, str | None, str | None],
    outputs: Mapping[str, Path | None],
    scheduler: str | None,
    quiet: bool,
) -> Iterator[Pieces]:
    """Files and a cluster for the block; what is wrong with either ends in one line.

    Parameters
    ----------
    data : Path
        A file, or a pattern.
    written : (sep, decimal, encoding)
        As the options say.
    outputs : mapping of str to path
        Results, which must not replace what is read.
    scheduler : str or None
    quiet : bool
    """
    try:
        if str(data) == "-":
            raise TableError("DATA: standard input can be read only once, and so not in pieces; give a file.")
        files = [table_file(path, *written) for path in files_of(str(data))]
        check_files({f"DATA ({file})": file.path for file in files}, outputs)
        from certivote.dask import connected, run_on

        with warnings_as_lines(quiet), connected(scheduler) as client:
            yield Pieces(str(data), files, client, run_on(client))
    except (OSError, ValueError, ImportError) as error:
        fail(reason(error))
    except Exception as error:
        told = str(error).splitlines()[0] if str(error) else type(error).__name__
        if not (type(error).__module__.startswith("distributed.") or told.startswith("Partition ")):
            raise
        fail(f"--engine dask: {told:.400}")
